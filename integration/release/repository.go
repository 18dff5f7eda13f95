package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const library = "github.com/gocurator/curator"

// A repository is a working tree.
type repository struct{ dir string }

func (r repository) git(ctx context.Context, args ...string) (string, error) {
	return command(ctx, r.dir, nil, "git", args...)
}

// command runs a program and returns what it printed.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // our own
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.Bytes())
	}
	return strings.TrimSpace(out.String()), nil
}

// zipLimit is how many bytes every user of the library may have to download.
const zipLimit = 1_800_000

// libraryZip makes the zip that the module proxy will make of a revision. It fails if the zip is larger than zipLimit, or
// if the revision has files that a module must not have.
func (r release) libraryZip(ctx context.Context, revision string) ([]byte, error) {
	if _, err := r.git(ctx, "rev-parse", "--verify", "--quiet", revision); err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	err := zip.CreateFromVCS(&archive, module.Version{Path: library, Version: r.version}, r.dir, revision, "")
	if err == nil && archive.Len() > zipLimit {
		err = fmt.Errorf("the zip of the library has %d bytes, want at most %d", archive.Len(), zipLimit)
	}
	return archive.Bytes(), err
}

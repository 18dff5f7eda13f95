package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
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

// checkZip makes the zip that the module proxy will make, which refuses files that modules must not have.
func (r release) checkZip(ctx context.Context, revision string) error {
	if _, err := r.git(ctx, "rev-parse", "--verify", "--quiet", revision); err != nil {
		return err
	}
	return zip.CreateFromVCS(io.Discard, module.Version{Path: library, Version: r.version}, r.dir, revision, "")
}

// nestedModules are the directories of modules that users can require: not those of integration.
func (r repository) nestedModules() (dirs []string, err error) {
	err = filepath.WalkDir(r.dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "integration" || entry.Name() == ".git"):
			return filepath.SkipDir
		case entry.Name() == "go.mod" && filepath.Dir(path) != filepath.Clean(r.dir):
			dir, err := filepath.Rel(r.dir, filepath.Dir(path))
			dirs = append(dirs, filepath.ToSlash(dir))
			return err
		}
		return nil
	})
	slices.Sort(dirs)
	return dirs, err
}

// tagModule tags a nested module in a working tree of its own.
func (r release) tagModule(ctx context.Context, dir string) (err error) {
	parent, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent) //nolint:errcheck // a temporary directory
	tree := repository{filepath.Join(parent, "tree")}
	if _, err := r.git(ctx, "worktree", "add", "--quiet", "--detach", tree.dir, r.version); err != nil {
		return err
	}
	defer func() {
		_, gone := r.git(ctx, "worktree", "remove", "--force", tree.dir)
		err = errors.Join(err, gone)
	}()
	below := filepath.Join(tree.dir, filepath.FromSlash(dir))
	if err := requireRelease(filepath.Join(below, "go.mod"), r.version); err != nil {
		return err
	}
	if _, err := command(ctx, below, append([]string{"GOFLAGS=-mod=mod", "GOWORK=off"}, r.env...), "go", "mod", "tidy"); err != nil {
		return err
	}
	if _, err := tree.git(ctx, "commit", "--quiet", "--all", "-m", dir+": requires "+r.version); err != nil {
		return err
	}
	_, err = tree.git(ctx, "tag", "-a", dir+"/"+r.version, "-m", dir+" "+r.version)
	return err
}

// requireRelease has a go.mod require the library's version, instead of the one beside it: a replacement is ignored
// where the module is a dependency, and refused by go install.
func requireRelease(name, version string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return err
	}
	for _, replaced := range slices.Clone(file.Replace) {
		if replaced.Old.Path != library {
			return fmt.Errorf("%s replaces %s as well: a published module must not", name, replaced.Old.Path)
		}
		if err := file.DropReplace(replaced.Old.Path, replaced.Old.Version); err != nil {
			return err
		}
	}
	if err := file.AddRequire(library, version); err != nil {
		return err
	}
	file.Cleanup()
	if text, err = file.Format(); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644) //nolint:gosec // to be read
}

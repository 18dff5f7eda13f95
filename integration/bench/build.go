//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// modulePath is where this program lies in its repository.
const modulePath = "integration/bench"

// build builds this program as it is in a commit, or in the working tree if there is none, and returns its file. Its
// worker is that version's, and so is the library in it.
//
// A commit's files are written to a directory of its own, by an index of its own: the repository, its index and its
// list of worktrees stay as they are, however the program ends.
func build(ctx context.Context, revision, dir string) (string, error) {
	top, err := tool("git", "rev-parse", "--show-toplevel").run(ctx)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	source := top
	if revision != "" {
		source = filepath.Join(dir, "source")
		if err := checkOut(ctx, top, revision, source); err != nil {
			return "", err
		}
	}
	source = filepath.Join(source, modulePath)
	if _, err := os.Stat(filepath.Join(source, "worker")); err != nil {
		return "", fmt.Errorf("%q has no worker in %s: %w", revision, modulePath, err)
	}
	program := filepath.Join(dir, "bench")
	_, err = tool("go", "build", "-buildvcs=false", "-o", program, ".").in(source).run(ctx)
	return program, err
}

// checkOut writes the files of a commit to a directory.
func checkOut(ctx context.Context, top, revision, dir string) error {
	hash, err := tool("git", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}").in(top).run(ctx)
	if err != nil {
		return fmt.Errorf("%q is no commit: %w", revision, err)
	}
	index := "GIT_INDEX_FILE=" + dir + ".index"
	if _, err := tool("git", "read-tree", hash).in(top).with(index).run(ctx); err != nil {
		return err
	}
	_, err = tool("git", "checkout-index", "--all", "--prefix="+dir+"/").in(top).with(index).run(ctx)
	return err
}

// A program is a command that is run for its output.
type program struct {
	dir  string
	env  []string
	name string
	args []string
}

func tool(name string, args ...string) program { return program{name: name, args: args} }

func (p program) in(dir string) program {
	p.dir = dir
	return p
}

func (p program) with(env string) program {
	p.env = append(os.Environ(), env)
	return p
}

func (p program) run(ctx context.Context) (string, error) {
	c := exec.CommandContext(ctx, p.name, p.args...)
	c.Dir, c.Env = p.dir, p.env
	out, err := c.Output()
	if err != nil {
		said := ""
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			said = ": " + strings.TrimSpace(string(exit.Stderr))
		}
		return "", fmt.Errorf("%s %s: %w%s", p.name, p.args[0], err, said)
	}
	return strings.TrimSpace(string(out)), nil
}

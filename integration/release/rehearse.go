package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
)

// A rehearsal releases a version to a repository and a module proxy that are directories.
type rehearsal struct {
	release

	work       string     // where everything is
	origin     repository // bare: what stands for the public one
	maintainer release    // the clone from which tags are pushed
	visitor    repository // a clone of what was pushed
	public     proxy
}

// rehearse does what RELEASING.md says, in a directory that is empty or not there: it tags in a clone, pushes to a bare
// one, makes the programs twice from a clone of that, and installs the modules as users do. The pages of the forge and
// the sum database are left out.
func (r release) rehearse(ctx context.Context, work string, chosen []target) (*rehearsal, error) {
	work, err := filepath.Abs(work)
	if err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(work); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty", work)
	}
	a := &rehearsal{
		release: r, work: work, origin: repository{filepath.Join(work, "origin.git")}, public: proxy{filepath.Join(work, "proxy")},
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"a bare clone, and a clone of that", a.cloneTwice},
		{"go run . " + r.version, func(ctx context.Context) error { return a.maintainer.dryRun(ctx) }},
		{"go run . -tag " + r.version, func(ctx context.Context) error { return a.maintainer.tagLibrary(ctx) }},
		{"git push origin HEAD " + r.version, func(ctx context.Context) error { return a.push(ctx, "HEAD", r.version) }},
		{"the programs, twice, and their checksums", func(ctx context.Context) error { return a.buildTwice(ctx, chosen) }},
		{"go get of the library, from a module proxy", a.publishLibrary},
		{"go run . -nested " + r.version + ", and go get of what it tags, until all is tagged", a.publishNested},
		{"go install and go run of programs, from the module proxy", a.install},
	} {
		r.say("rehearsal: %s", step.name)
		if err := step.do(ctx); err != nil {
			return nil, fmt.Errorf("rehearsal: %s: %w", step.name, err)
		}
	}
	r.say("rehearsal: all is well. See %s", work)
	return a, nil
}

// cloneTwice leaves this repository as it is. A tag of the version is forgotten, so that it can be made again.
func (a *rehearsal) cloneTwice(ctx context.Context) error {
	from, err := filepath.Abs(a.dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.work, 0o755); err != nil { //nolint:gosec // to be read
		return err
	}
	clone := repository{filepath.Join(a.work, "maintainer")}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", a.origin.dir},
		{"-C", a.origin.dir, "config", "receive.shallowUpdate", "true"}, // this repository may be a shallow one
		{"-C", from, "push", "--quiet", a.origin.dir, "HEAD:refs/heads/main"},
		{"-C", a.origin.dir, "symbolic-ref", "HEAD", "refs/heads/main"},
		{"clone", "--quiet", a.origin.dir, clone.dir},
		{"-C", clone.dir, "config", "user.name", "rehearsal"},
		{"-C", clone.dir, "config", "user.email", "rehearsal@example.com"},
	} {
		if _, err := command(ctx, "", nil, "git", args...); err != nil {
			return err
		}
	}
	a.maintainer = a.release
	a.maintainer.repository = clone
	a.maintainer.env, err = a.public.environment(ctx)
	return err
}

func (a *rehearsal) push(ctx context.Context, what ...string) error {
	_, err := a.maintainer.git(ctx, append([]string{"push", "--quiet", "origin"}, what...)...)
	return err
}

// buildTwice makes what the workflow publishes, from two clones of what was pushed.
func (a *rehearsal) buildTwice(ctx context.Context, chosen []target) error {
	for _, name := range []string{"files", "again"} {
		clone := a.release
		clone.dir = filepath.Join(a.work, "clone-for-"+name)
		a.visitor = clone.repository
		_, err := command(ctx, "", nil, "git", "clone", "--quiet", "--branch", a.version, "-c", "advice.detachedHead=false", a.origin.dir, clone.dir)
		if err != nil {
			return err
		}
		if err := clone.build(ctx, filepath.Join(a.work, name), chosen); err != nil {
			return err
		}
	}
	if _, err := command(ctx, filepath.Join(a.work, "files"), nil, "sha256sum", "--check", "--strict", "SHA256SUMS"); err != nil {
		return err
	}
	return sameFiles(filepath.Join(a.work, "files"), filepath.Join(a.work, "again"))
}

// sameFiles compares two directories of files, byte by byte.
func sameFiles(one, other string) error {
	entries, err := os.ReadDir(one)
	if err != nil {
		return err
	}
	others, err := os.ReadDir(other)
	if err != nil {
		return err
	}
	var problems []error
	if len(entries) != len(others) {
		problems = append(problems, fmt.Errorf("got %d files in %s and %d in %s", len(entries), one, len(others), other))
	}
	for _, e := range entries {
		a, err := os.ReadFile(filepath.Join(one, e.Name()))
		b, errB := os.ReadFile(filepath.Join(other, e.Name()))
		if err = errors.Join(err, errB); err != nil || !bytes.Equal(a, b) {
			problems = append(problems, fmt.Errorf("%s: got other bytes from the second build (%w)", e.Name(), err))
		}
	}
	return errors.Join(problems...)
}

// publish has the module proxy make a module of a tag that was pushed, and another module require it.
func (a *rehearsal) publish(ctx context.Context, dir, tag string) error {
	if _, err := a.visitor.git(ctx, "fetch", "--quiet", "--tags"); err != nil {
		return err
	}
	published := module.Version{Path: path.Join(library, dir), Version: a.version}
	if err := a.public.publish(ctx, a.visitor, published, tag, dir); err != nil {
		return err
	}
	user := filepath.Join(a.work, "user")
	if err := os.MkdirAll(user, 0o755); err != nil { //nolint:gosec // to be read
		return err
	}
	if err := os.WriteFile(filepath.Join(user, "go.mod"), []byte("module example.com/user\n\ngo 1.25.0\n"), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"get", published.String()}, {"list", "-deps", published.Path + "/..."}} {
		if _, err := command(ctx, user, a.maintainer.env, "go", args...); err != nil {
			return err
		}
	}
	return nil
}

func (a *rehearsal) publishLibrary(ctx context.Context) error { return a.publish(ctx, "", a.version) }

// publishNested tags round after round of nested modules, and publishes each before the next, whose modules require them.
func (a *rehearsal) publishNested(ctx context.Context) error {
	for {
		tags, left, err := a.maintainer.tagRound(ctx)
		if err != nil {
			return err
		}
		for _, tag := range tags {
			if err := a.push(ctx, tag); err != nil {
				return err
			}
			if err := a.publish(ctx, path.Dir(tag), tag); err != nil {
				return err
			}
		}
		a.say("rehearsal: %s; left: %d", strings.Join(tags, ", "), left)
		if left == 0 {
			return a.maintainer.tagNested(ctx)
		}
	}
}

// install has Go install and run programs. It would refuse a module with replacements.
func (a *rehearsal) install(ctx context.Context) error {
	bin := filepath.Join(a.work, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil { //nolint:gosec // to be run
		return err
	}
	env := append([]string{"GOBIN=" + bin}, a.maintainer.env...)
	for _, args := range [][]string{
		{"install", "/examples/zklock"},
		{"install", "/examples/contention"},
		{"install", "/examples/testserver"},
		{"run", "/integration/replay", "-h"},
	} {
		args[1] = library + args[1] + "@" + a.version
		if _, err := command(ctx, bin, env, "go", args...); err != nil {
			return err
		}
	}
	said, err := command(ctx, bin, nil, filepath.Join(bin, "zklock"), "version")
	if err == nil && !strings.HasPrefix(said, "zklock "+a.version+",") {
		err = fmt.Errorf("zklock version: got %q, want %s", said, a.version)
	}
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A nestedModule is a module in a directory of this repository that users can require.
type nestedModule struct {
	dir   string
	needs []string // the directories of the nested modules that it requires
}

// nestedModules lists the nested modules of a revision. Those below integration are for this repository only.
func (r repository) nestedModules(ctx context.Context, revision string) (modules []nestedModule, err error) {
	names, err := r.git(ctx, "ls-tree", "-r", "--name-only", "--full-tree", revision)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(names, "\n") {
		dir := path.Dir(name)
		if path.Base(name) != "go.mod" || dir == "." || strings.HasPrefix(dir, "integration/") {
			continue
		}
		text, err := r.git(ctx, "show", revision+":"+name)
		if err != nil {
			return nil, err
		}
		file, err := modfile.Parse(name, []byte(text), nil)
		if err != nil {
			return nil, err
		}
		m := nestedModule{dir: dir}
		for _, replaced := range file.Replace {
			if below, nested := strings.CutPrefix(replaced.Old.Path, library+"/"); nested {
				m.needs = append(m.needs, below)
			}
		}
		modules = append(modules, m)
	}
	return modules, nil
}

// nextRound returns the modules without a tag whose requirements all have one, and how many others have no tag.
func nextRound(modules []nestedModule, tagged map[string]bool) (ready []string, left int) {
	for _, m := range modules {
		missing := slices.ContainsFunc(m.needs, func(dir string) bool { return !tagged[dir] })
		switch {
		case tagged[m.dir]:
		case missing:
			left++
		default:
			ready = append(ready, m.dir)
		}
	}
	return ready, left
}

// rounds returns which modules each call of -nested tags.
func rounds(modules []nestedModule) (all [][]string, err error) {
	tagged := map[string]bool{}
	for {
		ready, left := nextRound(modules, tagged)
		if len(ready) == 0 {
			if left > 0 {
				err = fmt.Errorf("%d nested modules require one another in a circle, or a module that is not published: of %v, only %v can be tagged",
					left, modules, slices.Sorted(maps.Keys(tagged)))
			}
			return all, err
		}
		for _, dir := range ready {
			tagged[dir] = true
		}
		all = append(all, ready)
	}
}

// tagNested tags a round of nested modules, and says what to do next.
func (r release) tagNested(ctx context.Context) error {
	tags, left, err := r.tagRound(ctx)
	if len(tags) > 0 {
		r.say("tagged %s. Next:\n  git push origin %s", strings.Join(tags, ", "), strings.Join(tags, " "))
	}
	switch {
	case err != nil:
		return err
	case left > 0:
		r.say("  go run . -nested %s   # again, when these tags are public: modules that require them are left, %d of them", r.version, left)
	default:
		r.say("Every nested module has a tag of %s.", r.version)
	}
	return nil
}

// tagRound tags the nested modules whose requirements have tags already, and reports how many modules are left. Each tag
// is of a commit of its own, in which the module requires the version instead of the directories beside it. The branch
// keeps the directories.
func (r release) tagRound(ctx context.Context) (tags []string, left int, err error) {
	if !r.hasTag(ctx, r.version) {
		return nil, 0, fmt.Errorf("there is no tag %s yet: -tag makes it", r.version)
	}
	modules, err := r.nestedModules(ctx, r.version)
	if err != nil {
		return nil, 0, err
	}
	if _, err := rounds(modules); err != nil {
		return nil, 0, err
	}
	tagged := map[string]bool{}
	for _, m := range modules {
		tagged[m.dir] = r.hasTag(ctx, m.dir+"/"+r.version)
	}
	ready, left := nextRound(modules, tagged)
	for _, dir := range ready {
		if err := r.tagModule(ctx, dir); err != nil {
			return tags, left, fmt.Errorf("%s: %w\nAre the tags of the modules that it requires public?", dir, err)
		}
		tags = append(tags, dir+"/"+r.version)
	}
	return tags, left, nil
}

func (r repository) hasTag(ctx context.Context, tag string) bool {
	_, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "refs/tags/"+tag)
	return err == nil
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

// requireRelease makes a go.mod require a version of the library and of its nested modules where it replaces them by
// directories. Go ignores such a replacement in a dependency, and go install refuses it.
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
		old := replaced.Old // DropReplace clears it
		if !ofThisRepository(old.Path) {
			return fmt.Errorf("%s replaces %s, which a published module must not", name, old.Path)
		}
		if err := errors.Join(file.DropReplace(old.Path, old.Version), file.AddRequire(old.Path, version)); err != nil {
			return err
		}
	}
	file.Cleanup()
	if text, err = file.Format(); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644) //nolint:gosec // to be read
}

// ofThisRepository reports whether a module is the library, or nested.
func ofThisRepository(module string) bool {
	return module == library || strings.HasPrefix(module, library+"/")
}

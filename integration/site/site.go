package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// A site is what the pages of a repository become.
type site struct {
	dir    string // the repository's
	ref    string // the branch or tag of links to code
	python string // has MkDocs

	playground func(ctx context.Context, to string) error // makes the files that the playground's page shows; nil: none
}

const module = "github.com/gocurator/curator"

// build builds the site in a directory that is empty, not there, or has an earlier site. A site that is wrong is left
// beside it, for a look at it.
func (s site) build(ctx context.Context, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(to, "search", "search_index.json")); err != nil {
			return fmt.Errorf("%s has files, and is no site: choose another directory", to)
		}
	}
	work := to + ".part"
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	texts, err := s.readPages()
	if err != nil {
		return err
	}
	staged := filepath.Join(work, "docs")
	if err := s.stage(texts, staged); err != nil {
		return err
	}
	packages, err := s.packages()
	if err != nil {
		return err
	}
	for name, text := range packages {
		if err := write(filepath.Join(staged, name), text); err != nil {
			return err
		}
	}
	maps.Copy(texts, packages)
	room := filepath.Join(s.dir, "integration", "site")
	if err := copyFile(filepath.Join(room, "mkdocs.yml"), filepath.Join(work, "mkdocs.yml")); err != nil {
		return err
	}
	if err := os.CopyFS(staged, os.DirFS(filepath.Join(room, "assets"))); err != nil {
		return err
	}
	if s.playground != nil {
		if err := s.playground(ctx, filepath.Join(staged, "playground")); err != nil {
			return err
		}
	}
	env := []string{"NO_MKDOCS_2_WARNING=1", "PYTHONDONTWRITEBYTECODE=1"}
	if err := command(ctx, work, env, s.python, "-m", "mkdocs", "build", "--strict", "--site-dir", "site"); err != nil {
		return err
	}
	built := filepath.Join(work, "site")
	if err := errors.Join(checkLinks(os.DirFS(built)), checkSameAsGitHub(texts, os.DirFS(built))); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.Rename(built, to); err != nil {
		return err
	}
	return os.RemoveAll(work)
}

// copyFile copies a file, and makes the directory that it is to lie in.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from) //nolint:gosec // a file of the repository
	if err != nil {
		return err
	}
	return write(to, text)
}

func write(to string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // to be served
		return err
	}
	return os.WriteFile(to, text, 0o644) //nolint:gosec // to be served
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// A tree is the files of a checkout that Git tracks, as they are in the working tree.
type tree struct {
	files   fs.FS
	names   []string
	modules map[string]bool // directories with a go.mod; "." is the top level
}

// checkout returns the tree in a directory.
func checkout(dir string) (*tree, error) {
	tracked, err := git(dir, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	return newTree(os.DirFS(dir), strings.FieldsFunc(tracked, func(r rune) bool { return r == 0 }))
}

func newTree(files fs.FS, names []string) (*tree, error) {
	t := &tree{files: files, modules: make(map[string]bool)}
	for _, name := range names {
		info, err := fs.Lstat(files, name)
		if errors.Is(err, fs.ErrNotExist) { // deleted, and not yet committed
			continue
		}
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		t.names = append(t.names, name)
		if path.Base(name) == "go.mod" {
			t.modules[path.Dir(name)] = true
		}
	}
	if !t.modules["."] {
		return nil, errors.New("the top level of the checkout has no go.mod")
	}
	return t, nil
}

// module returns the directory of the module that a file belongs to, which has the nearest go.mod above the file.
func (t *tree) module(name string) string {
	dir := path.Dir(name)
	for !t.modules[dir] && dir != "." {
		dir = path.Dir(dir)
	}
	return dir
}

// each calls fn with the content of each file that is chosen.
func (t *tree) each(chosen func(name string) bool, fn func(name string, content []byte) error) error {
	for _, name := range t.names {
		if !chosen(name) {
			continue
		}
		content, err := fs.ReadFile(t.files, name)
		if err == nil {
			err = fn(name, content)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// below reports whether a file or directory is one of others, or lies below one of them.
func below(name string, others ...string) bool {
	return slices.ContainsFunc(others, func(other string) bool {
		return name == other || strings.HasPrefix(name, other+"/")
	})
}

// ignored reports whether the go command finds no package where a file is.
func ignored(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(element string) bool {
		return element == "testdata" || element == "vendor" || element[0] == '_' || element[0] == '.' && element != "."
	})
}

func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

package main

import (
	"errors"
	"fmt"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A module is the code of one checkout.
type module struct {
	path     string // the module's path
	fset     *token.FileSet
	packages []*packages.Package // those to measure, with syntax and types, sorted
	imports  []*packages.Package // all packages of the module, with nothing but their imports
	program  *packages.Package   // the program that uses them, not measured
}

// programDir is where the go command believes the program to be: within the module, so that it may import all of it.
const programDir = "figures-program"

func load(dir string, patterns []string, program string) (*module, error) {
	m := &module{fset: token.NewFileSet()}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	config := &packages.Config{
		Dir: dir, Fset: m.fset,
		Overlay: map[string][]byte{filepath.Join(absolute, programDir, "main.go"): []byte(program)},
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedModule |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedTypesSizes,
	}
	if m.packages, err = loadClean(config, append([]string{"./" + programDir}, patterns...)); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(m.packages, func(p *packages.Package) bool { return strings.HasSuffix(p.PkgPath, "/"+programDir) })
	if i < 0 {
		return nil, errors.New("the program was not loaded")
	}
	m.program = m.packages[i]
	m.packages = slices.Delete(m.packages, i, i+1)
	if m.packages[0].Module == nil {
		return nil, errors.New("the packages belong to no module")
	}
	m.path = m.packages[0].Module.Path
	m.imports, err = loadClean(&packages.Config{Dir: dir, Mode: packages.NeedName | packages.NeedImports}, []string{"./..."})
	return m, err
}

// loadClean loads packages. An error in any of them is an error of all: half a call graph would be a wrong figure.
func loadClean(config *packages.Config, patterns []string) ([]*packages.Package, error) {
	found, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, p := range found {
		for _, e := range p.Errors {
			errs = append(errs, e)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	// A pattern that matches nothing is only a warning to the go command.
	for _, pattern := range patterns {
		if !slices.ContainsFunc(found, func(p *packages.Package) bool { return matches(pattern, p) }) {
			return nil, fmt.Errorf("no package matches %q", pattern)
		}
	}
	slices.SortFunc(found, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	return found, nil
}

// matches reports whether a package may have been found by a pattern that begins with "./". Others are left to the go
// command.
func matches(pattern string, p *packages.Package) bool {
	prefix, ok := strings.CutPrefix(pattern, "./")
	if !ok {
		return true
	}
	prefix = strings.Trim(strings.TrimSuffix(prefix, "..."), "/")
	return prefix == "" || strings.Contains("/"+p.PkgPath+"/", "/"+prefix+"/")
}

// relative returns a package's path without that of the module.
func (m *module) relative(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, m.path), "/")
}

// owns reports whether a package path is one of the module's.
func (m *module) owns(path string) bool {
	return path == m.path || strings.HasPrefix(path, m.path+"/")
}

// forTests reports whether a package is one that only tests import.
func forTests(p *packages.Package) bool { return strings.HasSuffix(p.PkgPath, "test") }

// commit names what a checkout has: the short hash of its commit, and whether files differ from it.
func commit(dir string) (string, error) {
	hash, err := git(dir, "rev-parse", "--short=9", "HEAD")
	if err != nil {
		return "", err
	}
	changed, err := git(dir, "status", "--porcelain", "--untracked-files=no", "--", "*.go")
	if changed != "" {
		hash += ", changed"
	}
	return hash, err
}

func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", filepath.Clean(dir)}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

package main

import (
	"errors"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A module is the type-checked code of one checkout.
type module struct {
	path     string // the module's path
	fset     *token.FileSet
	packages []*packages.Package // those that were asked for, sorted
	programs []*packages.Package // the programs that use them, in the order in which they were given
}

// A program is the source of a program that uses the library.
type program struct{ name, source string }

// readProgram reads a program from a file.
func readProgram(name string) (program, error) {
	source, err := os.ReadFile(name)
	return program{strings.TrimSuffix(filepath.Base(name), ".txt"), string(source)}, err
}

// programDir is where the go command believes the programs to be. It is within the module, so that they may import
// internal packages.
const programDir = "figures-program/"

// load loads packages of the module, by directory, together with programs that use them.
func load(checkout, path string, dirs []string, programs ...program) (*module, error) {
	m := &module{path: path, fset: token.NewFileSet()}
	absolute, err := filepath.Abs(checkout)
	if err != nil {
		return nil, err
	}
	overlay := make(map[string][]byte)
	patterns := slices.Clone(dirs)
	for _, p := range programs {
		overlay[filepath.Join(absolute, programDir+p.name, "main.go")] = []byte(p.source)
		patterns = append(patterns, programDir+p.name)
	}
	for i := range patterns {
		patterns[i] = "./" + patterns[i]
	}
	found, err := packages.Load(&packages.Config{
		Dir: checkout, Fset: m.fset, Overlay: overlay,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedTypesSizes,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var errs []error
	byPath := make(map[string]*packages.Package)
	for _, p := range found {
		byPath[m.relative(p.PkgPath)] = p
		for _, e := range p.Errors { // half a call graph would give wrong figures
			errs = append(errs, e)
		}
	}
	for _, p := range programs {
		m.programs = append(m.programs, byPath[programDir+p.name])
		delete(byPath, programDir+p.name)
	}
	for _, p := range byPath {
		m.packages = append(m.packages, p)
	}
	slices.SortFunc(m.packages, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	return m, errors.Join(errs...)
}

// relative returns a package's path without the module's.
func (m *module) relative(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, m.path), "/")
}

// owns reports whether a package belongs to the module.
func (m *module) owns(path string) bool {
	return path == m.path || strings.HasPrefix(path, m.path+"/")
}

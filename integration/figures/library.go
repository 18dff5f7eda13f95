package main

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// libraryDirs are the directories of the top-level module that have the library.
var libraryDirs = []string{"framework", "recipes", "retry"}

// A pkg is a package of the top-level module.
type pkg struct {
	dir     string
	program bool
	imports []string        // directories of packages of the same module, and "testing"; not those of _test.go files
	helper  bool            // for tests only
	code    map[string]text // by name of the file, without _test.go files
	tests   map[string]text // _test.go files
}

// packages returns the packages of the top-level module by directory. It marks those that are for tests only.
func (t *tree) packages(modulePath string) (map[string]*pkg, error) {
	found := make(map[string]*pkg)
	chosen := func(name string) bool {
		return strings.HasSuffix(name, ".go") && t.module(name) == "." && !ignored(name)
	}
	err := t.each(chosen, func(name string, source []byte) error {
		dir := path.Dir(name)
		p := found[dir]
		if p == nil {
			p = &pkg{dir: dir, code: make(map[string]text), tests: make(map[string]text)}
			found[dir] = p
		}
		if strings.HasSuffix(name, "_test.go") {
			p.tests[name] = scan(source)
			return nil
		}
		p.code[name] = scan(source)
		return p.addImports(name, source, modulePath)
	})
	markHelpers(found)
	return found, err
}

func (p *pkg) addImports(name string, source []byte, modulePath string) error {
	syntax, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		return err
	}
	p.program = syntax.Name.Name == "main"
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if dir, ok := strings.CutPrefix(imported, modulePath+"/"); ok {
			imported = dir
		} else if imported != "testing" {
			continue
		}
		p.imports = append(p.imports, imported)
	}
	return nil
}

// markHelpers marks the packages that are for tests only. A package is
//
//   - if an element of its path ends in "test",
//   - if it imports testing or a package for tests, outside of its _test.go files, or
//   - if it is internal, and every package of the library that imports it is for tests.
func markHelpers(packages map[string]*pkg) {
	for changed := true; changed; {
		changed = false
		for _, p := range packages {
			if !p.helper && p.servesTests(packages) {
				p.helper, changed = true, true
			}
		}
	}
}

func (p *pkg) servesTests(packages map[string]*pkg) bool {
	elements := strings.Split(p.dir, "/")
	if slices.ContainsFunc(elements, func(e string) bool { return strings.HasSuffix(e, "test") }) {
		return true
	}
	if slices.ContainsFunc(p.imports, func(i string) bool { return i == "testing" || packages[i] != nil && packages[i].helper }) {
		return true
	}
	if !slices.Contains(elements, "internal") {
		return false
	}
	for _, other := range packages {
		if below(other.dir, libraryDirs...) && !other.helper && slices.Contains(other.imports, p.dir) {
			return false
		}
	}
	return true
}

// public reports whether other modules may import a package.
func (p *pkg) public() bool {
	return !p.program && len(p.code) > 0 && !slices.Contains(strings.Split(p.dir, "/"), "internal")
}

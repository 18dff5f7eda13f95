package examples_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are what is written for people to read. Their links and the Go names in them must lead somewhere.
var pages = []string{"../README.md", "porting/README.md", "runbook/README.md"}

func TestPagesNameWhatExists(t *testing.T) {
	packages, methods := map[string]map[string]bool{}, map[string]bool{}
	for name, dir := range map[string]string{
		"framework": "../framework",
		"leader":    "../recipes/leader",
		"locks":     "../recipes/locks",
		"retry":     "../retry",
		"shared":    "../recipes/shared",
		"zktest":    "../framework/zktest",
	} {
		packages[name] = exported(t, dir, methods)
	}
	foreign := []string{"context", "errors", "fmt", "log", "synctest", "t", "testing", "time", "zk"}
	for _, file := range pages {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)`).FindAllSubmatch(page, -1) {
			names, known := packages[string(found[1])]
			if !known {
				names = methods
			}
			if !names[string(found[2])] && !slices.Contains(foreign, string(found[1])) {
				t.Errorf("%s: there is no %s", file, found[0])
			}
		}
		for _, link := range regexp.MustCompile(`\]\(([\w.][^)#]*)[^)]*\)`).FindAllSubmatch(page, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), string(link[1]))); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// exported returns the names that a package exports, and adds those of its methods and of fields to methods.
func exported(t *testing.T, dir string, methods map[string]bool) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files in ", dir, err)
	}
	names := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				} else {
					methods[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names[name.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}

package examples_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestREADMENamesWhatExists(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]map[string]bool{
		"framework": exported(t, "../framework"),
		"locks":     exported(t, "../recipes/locks"),
		"retry":     exported(t, "../retry"),
		"shared":    exported(t, "../recipes/shared"),
		"zktest":    exported(t, "../framework/zktest"),
	}
	for _, found := range regexp.MustCompile(`\b(\w+)\.([A-Z]\w*)`).FindAllSubmatch(readme, -1) {
		if names := packages[string(found[1])]; names != nil && !names[string(found[2])] {
			t.Errorf("there is no %s", found[0])
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllSubmatch(readme, -1) {
		if _, err := os.Stat(filepath.Join("..", string(link[1]))); err != nil {
			t.Error(err)
		}
	}
}

// exported returns the names that a package exports, without methods.
func exported(t *testing.T, dir string) map[string]bool {
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
				names[d.Name.Name] = names[d.Name.Name] || d.Recv == nil
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

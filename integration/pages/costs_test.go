package pages_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// A recipe is what a constructor of the packages of recipes returns.
func TestEveryRecipeHasItsCosts(t *testing.T) {
	root := moduleRoot(t)
	page, found := readFile(t, root, "recipes/COSTS.md"), 0
	ofRecipes := []string{"locks", "leader", "cache", "nodes", "discovery", "counters", "shared"}
	walkLibrary(t, root, func(pkg string, file *ast.File) {
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "New") || !slices.Contains(ofRecipes, pkg) {
				continue
			}
			made, ok := f.Type.Results.List[0].Type.(*ast.StarExpr)
			if !ok {
				t.Fatalf("%s.%s: got %T, want a pointer to a recipe", pkg, f.Name.Name, f.Type.Results.List[0].Type)
			}
			found++
			if recipe := fmt.Sprintf("| `%s.%s` | ", pkg, made.X); !strings.Contains(page, recipe) {
				t.Errorf("recipes/COSTS.md has no row %s", recipe)
			}
		}
	})
	if found < 13 {
		t.Errorf("got %d constructors, want those of all recipes", found)
	}
}

package pages_test

import (
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/ranked"
)

// ranks are those of the library, by their names.
func ranks() map[string]ranked.Rank {
	return map[string]ranked.Rank{
		"Outer": ranked.Outer{}, "Recipe": ranked.Recipe{}, "Registry": ranked.Registry{}, "View": ranked.View{}, "Client": ranked.Client{},
		"Session": ranked.Session{}, "Branch": ranked.Branch{}, "Leaf": ranked.Leaf{},
	}
}

// mutexes returns the name of the rank of each mutex of the library, by its type and field. A mutex without a rank, and
// one that a report would give another type's name, fail the test.
func mutexes(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	walkLibrary(t, root, func(pkg string, file *ast.File) {
		if pkg == "ranked" { // it has the mutexes themselves
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ArrayType: // [0]sync.Mutex is none
				return false
			case *ast.SelectorExpr:
				if name := selected(n); name == "sync.Mutex" || name == "sync.RWMutex" {
					t.Errorf("package %s: got a %s, want a ranked.Mutex", pkg, name)
				}
			case *ast.TypeSpec:
				structure, ok := n.Type.(*ast.StructType)
				for i := 0; ok && i < len(structure.Fields.List); i++ {
					field := structure.Fields.List[i]
					rank, of, ok := mutex(field.Type)
					if !ok {
						continue
					}
					if of != n.Name.Name || len(field.Names) != 1 {
						t.Errorf("package %s: got %d mutexes of %s, named after %s, want one, named after its type",
							pkg, len(field.Names), n.Name.Name, of)
						continue
					}
					name := of + "." + field.Names[0].Name
					if found[name] != "" {
						t.Errorf("package %s: got another %s, want one in the library", pkg, name)
					}
					found[name] = rank
				}
			}
			return true
		})
	})
	return found
}

// mutex takes a type ranked.Mutex[ranked.Leaf, Grant] apart, or one of a generic type.
func mutex(kind ast.Expr) (rank, of string, ok bool) {
	index, ok := kind.(*ast.IndexListExpr)
	if !ok || selected(index.X) != "ranked.Mutex" || len(index.Indices) != 2 {
		return "", "", false
	}
	owner := index.Indices[1]
	if generic, ok := owner.(*ast.IndexExpr); ok {
		owner = generic.X
	}
	name, ok := owner.(*ast.Ident)
	if !ok {
		return "", "", false
	}
	return strings.TrimPrefix(selected(index.Indices[0]), "ranked."), name.Name, true
}

func selected(expression ast.Expr) string {
	if s, ok := expression.(*ast.SelectorExpr); ok {
		if pkg, ok := s.X.(*ast.Ident); ok {
			return pkg.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// besideLocks are the mutexes of recipes above or beside the locks, which DESIGN.md does not describe.
var besideLocks = []string{"CuratorCache.mu", "LeaderLatch.mu", "LeaderSelector.mu", "PersistentNode.mu", "ServiceCache.mu", "SharedCount.looking", "SharedCount.mu"}

// A mutex that DESIGN.md does not have is one without a place in the order.
func TestDesignHasEveryMutex(t *testing.T) {
	root := moduleRoot(t)
	text := designPages(t, root)
	found := mutexes(t, root)
	for name, rank := range found {
		if ranks()[rank] == nil {
			t.Errorf("%s: got the rank %q, want one of package ranked", name, rank)
		}
		if slices.Contains(besideLocks, name) {
			continue
		}
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s: there is no %s", design, name)
		}
	}
	listed := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^(\w+): (\w+\.mu(?:, \w+\.mu)*)$`).FindAllStringSubmatch(text, -1) {
		for name := range strings.SplitSeq(line[2], ", ") {
			listed[name] = line[1]
		}
	}
	for _, name := range besideLocks {
		listed[name] = found[name]
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if listed[name] != found[name] {
			t.Errorf("%s: got %q as the rank of %s, want %q, as in the code", design, listed[name], name, found[name])
		}
		delete(listed, name)
	}
	if len(listed) > 0 {
		t.Errorf("%s: got ranks of %v, want none, since they are gone", design, listed)
	}
	if len(found) < 20 {
		t.Errorf("got %d mutexes, want at least 20", len(found))
	}
}

func TestDesignsOrderOfMutexesIsThatOfTheirRanks(t *testing.T) {
	root := moduleRoot(t)
	found := mutexes(t, root)
	pairs := 0
	for line := range strings.Lines(readFile(t, root, design)) {
		chain := strings.Split(strings.TrimSpace(line), " → ")
		if !strings.Contains(chain[0], ".mu") || strings.Contains(line, "|") {
			continue
		}
		for i := range chain[1:] {
			for over := range strings.SplitSeq(chain[i], ", ") {
				for under := range strings.SplitSeq(chain[i+1], ", ") {
					pairs++
					a, b := ranks()[found[over]], ranks()[found[under]]
					if a == nil || b == nil || a.Rank() >= b.Rank() {
						t.Errorf("%s: got %s of rank %q before %s of rank %q, want a lower rank before a higher",
							design, over, found[over], under, found[under])
					}
				}
			}
		}
	}
	if pairs < 10 {
		t.Errorf("%s: got %d pairs of mutexes in an order, want at least 10", design, pairs)
	}
}

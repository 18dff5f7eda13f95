package costtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// costsPage has the tables of costs: their rows are what the tests want.
const costsPage = "recipes/COSTS.md"

// rows are the rows of a package in one of the page's tables.
type rows struct {
	all     []string
	counted map[string]bool
}

// newRows finds the rows with so many cells that begin with a recipe of the package.
func newRows(t *testing.T, pkg string, cells int) *rows {
	t.Helper()
	r := &rows{counted: map[string]bool{}}
	for line := range strings.Lines(readPage(t)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| `"+pkg+".") && strings.Count(line, " | ") == cells-1 {
			r.all = append(r.all, line)
		}
	}
	return r
}

func readPage(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	for ; err == nil && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, costsPage))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Fatalf("got no go.mod above this package, want the module's: %v", err)
	return ""
}

// find returns the cells of a cost's row, and the first two, which name it.
func (r *rows) find(name string) (cells, head string) {
	recipe, what, _ := strings.Cut(name, ": ")
	head = fmt.Sprintf("| `%s` | %s | ", recipe, what)
	for _, row := range r.all {
		if cells, ok := strings.CutPrefix(row, head); ok {
			r.counted[row] = true
			return strings.TrimSuffix(cells, " |"), head
		}
	}
	return "no such row", head
}

func (r *rows) check(t *testing.T, name, got string) {
	t.Helper()
	if want, head := r.find(name); got != want {
		t.Errorf("%s\ngot  %s%s |\nwant %s", costsPage, head, got, want)
	}
}

// checkCounted fails if a row was not counted. Under -run some subtests do not run, and nothing is known.
func (r *rows) checkCounted(t *testing.T) {
	t.Helper()
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return
	}
	for _, row := range r.all {
		if !r.counted[row] {
			t.Errorf("%s: got no cost for the row %s", costsPage, row)
		}
	}
}

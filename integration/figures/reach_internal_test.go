package main

import (
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/txtar"
)

const (
	reachModule = "example.com/reach"
	reachRoots  = "high.Lock.Acquire,high.Lock.Release"
)

// unpack writes the module of testdata into a directory.
func unpack(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/reach.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, file := range archive.Files {
		write(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func loaded(dir string, programs ...string) (*module, error) {
	var sources []program
	for _, name := range programs {
		p, err := readProgram(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		sources = append(sources, p)
	}
	return load(dir, reachModule, []string{"low", "high"}, sources...)
}

// names returns the names of functions of the module, with closures, sorted.
func names(functions map[*ssa.Function]bool) (all []string) {
	for f := range functions {
		switch f.Syntax().(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			all = append(all, strings.ReplaceAll(f.RelString(nil), reachModule+"/", ""))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Interfaces, closures, function values, callbacks from the standard library and values that come out of a sync.Map are
// followed. Other implementations, other methods, what only constructors call and what another program passes are not.
func TestReachFollowsEveryKindOfCall(t *testing.T) {
	m, err := loaded(unpack(t), "program.txt", "another.txt")
	if err != nil {
		t.Fatal(err)
	}
	reached, err := m.reached(strings.Split(reachRoots, ","))
	if err != nil {
		t.Fatal(err)
	}
	both := []string{
		"(*high.Lock).Acquire", "(*high.Lock).Acquire$1", "(*high.Lock).Release", "(high.byName).Len", "(high.byName).Less",
		"(high.byName).Swap", "(high.failure).Error", "(high.failure).Is", "high.compare",
	}
	for i, own := range [][]string{
		{"(*low.Memory).Put", "(high.hidden).Do", "high.hooked", "low.grow"},
		{"(high.foreign).Do", "(low.Forgotten).Put", "high.onlyAnother", "low.never"},
	} {
		want := slices.Sorted(slices.Values(slices.Concat(both, own)))
		if got := names(reached[i]); !slices.Equal(got, want) {
			t.Errorf("program %d reaches:\n got  %v\n want %v", i, got, want)
		}
	}
}

func TestReachedLinesAreCountedByFile(t *testing.T) {
	dir := unpack(t)
	m, err := loaded(dir, "program.txt")
	if err != nil {
		t.Fatal(err)
	}
	reached, err := m.reached(strings.Split(reachRoots, ","))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := newTree(os.DirFS(dir), []string{"go.mod", "low/low.go", "high/high.go"})
	if err != nil {
		t.Fatal(err)
	}
	packages, err := tree.packages(reachModule)
	if err != nil {
		t.Fatal(err)
	}
	files := m.linesOf(reached[0], packages)
	if len(files) != 2 || files[0].name != "high/high.go" || files[0].code != 10+3+3+2+1+1+1 || files[1].code != 4+1 {
		t.Errorf("got %+v, want 21 lines of high/high.go and 5 of low/low.go", files)
	}
	want := "high: 21\n    10 high/high.go:57 Acquire\n     3 high/high.go:72 Release\n     1 high/high.go:27 hooked\n"
	if got := list(files); !strings.HasPrefix(got, want) {
		t.Errorf("got the list\n%s\nwant it to begin with\n%s", got, want)
	}
}

func TestWhatCannotBeReachedIsAnError(t *testing.T) {
	dir := unpack(t)
	for root, want := range map[string]string{
		"high.Lock.Gone": "no such function", "high.Gone.Acquire": "no such function", "gone.Lock.Acquire": "no such function",
		"high": "want package.Function", "high.Unused": "does not reach",
	} {
		m, err := loaded(dir, "program.txt")
		if err == nil {
			_, err = m.reached([]string{root})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("root %s: got error %v, want one with %q", root, err, want)
		}
	}
	write(t, filepath.Join(dir, "low", "broken.go"), "package low\n\nvar x = gone\n")
	if _, err := loaded(dir, "program.txt"); err == nil || !strings.Contains(err.Error(), "undefined: gone") {
		t.Errorf("got error %v of code that does not compile, want one with %q", err, "undefined: gone")
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A pkg is what go list -test says of a package.
type pkg struct {
	ImportPath string
	Deps       []string
}

// library is the path that the import paths of all modules here begin with.
const library = "github.com/gocurator/curator"

// A graph knows which packages have tests that a package can break.
type graph struct {
	users map[string]map[string]int // by package: those whose tests use it, and how much else they use
}

// readGraph asks go list in the module integration, which requires the library, the examples and zklock. It leaves out
// what needs servers and hours.
func readGraph(root string) (graph, error) {
	cmd := exec.Command("go", "list", "-test", "-deps=false", "-json=ImportPath,Deps", library+"/...")
	cmd.Dir = filepath.Join(root, "integration")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return graph{}, fmt.Errorf("go list: %w\n%s", err, &errs)
	}
	g := graph{users: map[string]map[string]int{}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return graph{}, err
		}
		if of, isTest := strings.CutSuffix(p.ImportPath, ".test"); isTest && needsNoServers(of) {
			g.add(of, p.Deps)
		}
	}
}

// needsNoServers reports whether tests of a package find bugs without real servers. Those of zklock's program need them
// in part.
func needsNoServers(pkg string) bool {
	below, ok := strings.CutPrefix(pkg, library+"/integration/")
	return !ok && pkg != library+"/integration" || below == "zklock" || below == "pages" || below == "promises"
}

// add notes what the tests of a package use.
func (g graph) add(of string, deps []string) {
	ours := map[string]bool{}
	for _, dep := range deps {
		dep, _, _ = strings.Cut(dep, " ") // "p [q.test]" is p as the tests of q see it
		if dep = strings.TrimSuffix(dep, "_test"); strings.HasPrefix(dep, library) {
			ours[dep] = true
		}
	}
	for dep := range ours {
		if g.users[dep] == nil {
			g.users[dep] = map[string]int{}
		}
		g.users[dep][of] = len(ours)
	}
}

// tests returns the packages to test for a bug: its own first, then those above, the nearest first.
func (g graph) tests(b bug) []string {
	var own, above []string
	uses := map[string]int{}
	for _, c := range b.changes {
		changed := path.Join(library, path.Dir(c.file))
		if len(g.users[changed]) == 0 { // a program, which the tests of its parents build
			for len(g.users[changed]) == 0 && changed != library {
				changed = path.Dir(changed)
			}
		}
		own = append(own, changed)
		maps.Copy(uses, g.users[changed])
	}
	for user := range uses {
		if !slices.Contains(own, user) {
			above = append(above, user)
		}
	}
	slices.SortFunc(above, func(a, b string) int {
		if uses[a] != uses[b] {
			return uses[a] - uses[b]
		}
		return strings.Compare(a, b)
	})
	own = slices.DeleteFunc(slices.Compact(own), func(p string) bool { return uses[p] == 0 })
	return append(own, above...)
}

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
	"slices"
	"strings"
)

// A pkg is what go list -test says of a package.
type pkg struct {
	ImportPath string
	Deps       []string
}

// A graph knows which packages of the module have tests that a package can break.
type graph struct {
	module string
	users  map[string]map[string]int // by package: those whose tests use it, and how much else they use
}

// readGraph asks go list. It leaves out the tests of this directory's kind, which need servers and hours.
func readGraph(root string) (graph, error) {
	cmd := exec.Command("go", "list", "-test", "-deps=false", "-json=ImportPath,Deps", "./...")
	cmd.Dir = root
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return graph{}, fmt.Errorf("go list: %w\n%s", err, &errs)
	}
	module, err := exec.Command("go", "list", "-m").Output()
	if err != nil {
		return graph{}, fmt.Errorf("go list -m: %w", err)
	}
	g := graph{module: strings.TrimSpace(string(module)), users: map[string]map[string]int{}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return graph{}, err
		}
		if of, isTest := strings.CutSuffix(p.ImportPath, ".test"); isTest && !strings.HasPrefix(of, g.module+"/integration/") {
			g.add(of, p.Deps)
		}
	}
}

// add notes what the tests of a package use.
func (g graph) add(of string, deps []string) {
	ours := map[string]bool{}
	for _, dep := range deps {
		dep, _, _ = strings.Cut(dep, " ") // "p [q.test]" is p as the tests of q see it
		if dep = strings.TrimSuffix(dep, "_test"); strings.HasPrefix(dep, g.module) {
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
		changed := path.Join(g.module, path.Dir(c.file))
		if len(g.users[changed]) == 0 { // a program, which the tests of its parents build
			for len(g.users[changed]) == 0 && changed != g.module {
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

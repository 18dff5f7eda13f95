package main

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// An arrow is an import of one of the module's packages by another.
type arrow struct{ from, to string }

// floorsOf are what the imports of the module's packages look like.
type floorsOf struct {
	floors   []string // as the flag names them, from the lowest
	arrows   int
	between  map[[2]int]int // how many arrows there are, by floor
	up       []arrow
	sideways []arrow
}

// judgeImports sorts the imports of the module's packages by floor.
func (m *module) judgeImports(floors []string) (*floorsOf, error) {
	f := &floorsOf{floors: floors, between: make(map[[2]int]int)}
	for _, p := range m.imports {
		for path := range p.Imports {
			if !m.owns(path) || !m.owns(p.PkgPath) {
				continue
			}
			a := arrow{m.relative(p.PkgPath), m.relative(path)}
			from, to := floorOf(a.from, floors), floorOf(a.to, floors)
			if from < 0 || to < 0 {
				return nil, fmt.Errorf("no floor has a prefix of %s or of %s", a.from, a.to)
			}
			f.arrows++
			f.between[[2]int{from, to}]++
			switch {
			case to > from:
				f.up = append(f.up, a)
			case to == from && !m.ofOneProgram(a):
				f.sideways = append(f.sideways, a)
			}
		}
	}
	for _, arrows := range [][]arrow{f.up, f.sideways} {
		slices.SortFunc(arrows, func(a, b arrow) int { return strings.Compare(a.from+" "+a.to, b.from+" "+b.to) })
	}
	return f, nil
}

// ofOneProgram reports whether both packages of an import belong to one program: they are its own parts, on one floor.
func (m *module) ofOneProgram(a arrow) bool {
	return slices.ContainsFunc(m.imports, func(p *packages.Package) bool {
		program := m.relative(p.PkgPath)
		return p.Name == "main" && below(a.from, program) && below(a.to, program)
	})
}

// floorOf returns the number of a package's floor: the one that names its longest prefix; -1 if none does.
func floorOf(path string, floors []string) int {
	found, longest := -1, -1
	for i, floor := range floors {
		for prefix := range strings.FieldsSeq(floor) {
			if (path == prefix || strings.HasPrefix(path, prefix+"/")) && len(prefix) > longest {
				found, longest = i, len(prefix)
			}
		}
	}
	return found
}

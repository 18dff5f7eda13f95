package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A use is an arrow between two files of a package: the first uses names that the second declares.
type use struct {
	from, to string
	names    []string // sorted
}

// uses are the arrows between the files of a package, and those of them that point up in the best order of the files.
type uses struct {
	arrows int
	up     []use // sorted
}

// usesOf finds the arrows of a package.
func (m *module) usesOf(p *packages.Package) uses {
	number := map[string]int{}
	files := make([]string, len(p.Syntax))
	for i, file := range p.Syntax {
		full := m.fset.Position(file.Package).Filename
		number[full], files[i] = i, filepath.Base(full)
	}
	names := make([]map[int]map[string]bool, len(files)) // by using file, by declaring file
	for i, file := range p.Syntax {
		names[i] = map[int]map[string]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || p.TypesInfo.Uses[id] == nil || p.TypesInfo.Uses[id].Pkg() != p.Types {
				return true
			}
			to, found := number[m.fset.Position(p.TypesInfo.Uses[id].Pos()).Filename]
			if found && to != i {
				if names[i][to] == nil {
					names[i][to] = map[string]bool{}
				}
				names[i][to][id.Name] = true
			}
			return true
		})
	}
	g := newGraph(names)
	order := g.order()
	all := uses{}
	for from, byFile := range names {
		for to, used := range byFile {
			if all.arrows++; order[from] < order[to] {
				all.up = append(all.up, use{files[from], files[to], slices.Sorted(maps.Keys(used))})
			}
		}
	}
	slices.SortFunc(all.up, func(a, b use) int { return cmp.Or(strings.Compare(a.from, b.from), strings.Compare(a.to, b.to)) })
	return all
}

func (u use) String() string {
	return fmt.Sprintf("%s → %s: %s", u.from, u.to, strings.Join(u.names, " "))
}

// usesAgainstOrder is of the packages that a session stands on, and the one that stands on it.
func (f *figures) usesAgainstOrder() string {
	up, arrows := 0, 0
	for _, p := range f.packages {
		if p.path == "framework" || p.path == "framework/session" || below(p.path, "framework/internal") && !strings.HasSuffix(p.path, "test") {
			up, arrows = up+len(p.uses.up), arrows+p.uses.arrows
		}
	}
	return share(up, arrows)
}

func share(part, of int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%: %d of %d", 100*float64(part)/float64(of), part, of)
}

// listUp writes the uses against the order of one package.
func (f *figures) listUp(path string) (string, error) {
	var b strings.Builder
	i := slices.IndexFunc(f.packages, func(p perPackage) bool { return p.path == path })
	if i < 0 {
		return "", fmt.Errorf("no package %q is measured", path)
	}
	for _, u := range f.packages[i].uses.up {
		fmt.Fprintln(&b, u)
	}
	return b.String(), nil
}

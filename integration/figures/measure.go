package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
)

// figures are what was measured in one checkout.
type figures struct {
	commit   string
	packages []perPackage
	floors   *floorsOf
	files    []fileLines // the longest first
	reached  int         // files with reached code
	methods  []methodCount
	glossary int // words of the page that explains them; -1 without it
	api      string
	// reachedNames are the functions that the roots reach, closures included; reachedList has them with their lines.
	reachedNames []string
	reachedList  []functionReached
}

// A perPackage has the figures of one package.
type perPackage struct {
	path       string // relative to the module
	code       int
	reached    int
	exported   int
	mutable    []string
	words      int
	functions  []function
	complexest function
	uses       uses
	ownNames   int // exported, and no alias of another package's
	nouns      int
}

// A fileLines is a file with its length.
type fileLines struct {
	name  string
	lines int
}

func measure(dir string, s settings) (*figures, error) {
	hash, err := commit(dir)
	if err != nil {
		return nil, err
	}
	m, err := load(dir, s.packages.values, s.program)
	if err != nil {
		return nil, err
	}
	f := &figures{commit: hash, glossary: glossary(dir, s.glossary), api: m.api()}
	if f.floors, err = m.judgeImports(s.floors.values); err != nil {
		return nil, err
	}
	functionsReached, err := m.reached(s.roots.values)
	if err != nil {
		return nil, err
	}
	reached, names := m.reachedLines(functionsReached)
	f.reachedNames = names
	mutable := m.mutable()
	for _, p := range m.packages {
		figure := perPackage{
			path: m.relative(p.PkgPath), exported: exported(p), mutable: mutable[p],
			uses: m.usesOf(p), ownNames: ownNames(p), nouns: nouns(p),
		}
		f.methods = append(f.methods, m.methodsOf(p)...)
		for i, file := range p.Syntax {
			if err := f.addFile(&figure, p, i, reached); err != nil {
				return nil, err
			}
			figure.functions = append(figure.functions, functions(m.fset, file)...)
		}
		for _, function := range figure.functions {
			if function.complexity > figure.complexest.complexity {
				figure.complexest = function
			}
		}
		f.packages = append(f.packages, figure)
	}
	slices.SortStableFunc(f.methods, func(a, b methodCount) int { return b.methods - a.methods })
	slices.SortStableFunc(f.files, func(a, b fileLines) int { return b.lines - a.lines })
	return f, nil
}

// addFile adds a file to its package's figures.
func (f *figures) addFile(p *perPackage, from *packages.Package, number int, reached map[string]map[int]bool) error {
	name := from.CompiledGoFiles[number]
	t, err := read(name, from.Syntax[number])
	if err != nil {
		return err
	}
	p.code += len(t.code)
	p.words += t.words
	maps.DeleteFunc(reached[name], func(line int, _ bool) bool { return !t.code[line] })
	if len(reached[name]) > 0 {
		f.reached++
		f.noteReached(p.path, from.Fset, from.Syntax[number], reached[name])
	}
	p.reached += len(reached[name])
	f.files = append(f.files, fileLines{p.path + name[strings.LastIndex(name, "/"):], t.lines})
	return nil
}

// reachedLines returns the lines of functions, by file, and the functions' names.
func (m *module) reachedLines(reached map[*ssa.Function]bool) (lines map[string]map[int]bool, names []string) {
	lines = make(map[string]map[int]bool)
	for f := range reached {
		var syntax ast.Node
		switch x := f.Syntax().(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			syntax = x
		default: // a wrapper, or a function of another module
			continue
		}
		names = append(names, strings.ReplaceAll(f.RelString(nil), m.path+"/", ""))
		first, last := m.fset.Position(syntax.Pos()), m.fset.Position(syntax.End())
		if lines[first.Filename] == nil {
			lines[first.Filename] = make(map[int]bool)
		}
		for line := first.Line; line <= last.Line; line++ {
			lines[first.Filename][line] = true
		}
	}
	slices.Sort(names)
	return lines, slices.Compact(names) // instances of one generic function may share a name
}

// exported counts the exported names of a package's scope.
func exported(p *packages.Package) int {
	n := 0
	for _, name := range p.Types.Scope().Names() {
		if ast.IsExported(name) {
			n++
		}
	}
	return n
}

// p90 returns the length that nine of ten functions do not exceed, by the nearest rank; 0 without functions.
func p90(functions []function) int {
	if len(functions) == 0 {
		return 0
	}
	lengths := make([]int, len(functions))
	for i, f := range functions {
		lengths[i] = f.lines
	}
	slices.Sort(lengths)
	return lengths[int(math.Ceil(0.9*float64(len(lengths))))-1]
}

// A functionReached is a function that is declared and counts, with its lines; closures belong to it.
type functionReached struct {
	path, name string
	lines      int
}

// noteReached notes the functions of a file that have reached lines.
func (f *figures) noteReached(path string, fset *token.FileSet, file *ast.File, reached map[int]bool) {
	for _, declaration := range file.Decls {
		declared, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := 0
		for line := fset.Position(declared.Pos()).Line; line <= fset.Position(declared.End()).Line; line++ {
			if reached[line] {
				lines++
			}
		}
		if lines > 0 {
			at := fset.Position(declared.Pos())
			name := fmt.Sprintf("%s:%d %s", filepath.Base(at.Filename), at.Line, declared.Name.Name)
			f.reachedList = append(f.reachedList, functionReached{path, name, lines})
		}
	}
}

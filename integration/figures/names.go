package main

import (
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/tools/go/packages"
)

// A methodCount is a type with the number of its methods.
type methodCount struct {
	name    string // package.Type
	methods int
}

// methodsOf counts the methods of a package's types that can be called on an addressable value: exported or not,
// promoted ones too. A method that a promoted one hides counts once.
func (m *module) methodsOf(p *packages.Package) (counts []methodCount) {
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		declared, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || declared.IsAlias() || types.IsInterface(declared.Type()) {
			continue
		}
		if n := types.NewMethodSet(types.NewPointer(declared.Type())).Len(); n > 0 {
			counts = append(counts, methodCount{m.relative(p.PkgPath) + "." + name, n})
		}
	}
	return counts
}

// ownNames counts the exported names of a package that are no other package's: neither an alias of a type nor a
// constant or a variable whose value is just such a name.
func ownNames(p *packages.Package) (n int) {
	others := map[string]bool{}
	for _, file := range p.Syntax {
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if ok && len(spec.Names) == len(spec.Values) {
				for i, value := range spec.Values {
					others[spec.Names[i].Name] = isForeign(p, value)
				}
			}
			return !ok
		})
	}
	for _, name := range p.Types.Scope().Names() {
		declared, isType := p.Types.Scope().Lookup(name).(*types.TypeName)
		alias := isType && declared.IsAlias()
		if ast.IsExported(name) && !alias && !others[name] {
			n++
		}
	}
	return n
}

// isForeign reports whether an expression is a name of another package.
func isForeign(p *packages.Package, value ast.Expr) bool {
	selector, ok := ast.Unparen(value).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	qualifier, ok := selector.X.(*ast.Ident)
	if !ok {
		return false
	}
	_, imported := p.TypesInfo.Uses[qualifier].(*types.PkgName)
	return imported
}

// nouns counts the words that a package's declarations are made of, in lower case and without an s at the end: those
// of types, functions, fields, parameters, constants and variables of the package.
func nouns(p *packages.Package) int {
	words := map[string]bool{}
	for id, declared := range p.TypesInfo.Defs {
		if declared == nil {
			continue
		}
		if v, ok := declared.(*types.Var); ok && !v.IsField() && v.Parent() != p.Types.Scope() && v.Kind() == types.LocalVar {
			continue
		}
		for _, word := range splitName(id.Name) {
			words[word] = true
		}
	}
	return len(words)
}

// splitName splits an identifier where its case changes. Words of one or two letters are abbreviations.
func splitName(identifier string) (words []string) {
	runes := []rune(identifier)
	begin := 0
	add := func(end int) {
		if word := strings.ToLower(string(runes[begin:end])); len(word) > 2 {
			words = append(words, strings.TrimSuffix(word, "s"))
		}
		begin = end
	}
	for i := 1; i < len(runes); i++ {
		upper, before := unicode.IsUpper(runes[i]), unicode.IsUpper(runes[i-1])
		if upper && !before || upper && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			add(i)
		}
	}
	add(len(runes))
	return words
}

// glossary counts the words that a page explains: the rows of the table below its heading "Glossary"; -1 without it.
func glossary(dir, page string) int {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(page)))
	_, section, found := strings.Cut(string(text), "\n## Glossary\n")
	if err != nil || !found {
		return -1
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return max(strings.Count(section, "\n|")-2, 0) // without the heading and the line below it
}

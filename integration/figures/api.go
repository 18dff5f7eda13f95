package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// api writes the exported names of the loaded packages, one a line. These are types with their exported fields and
// methods (also promoted ones), functions, constants and variables.
func (m *module) api() string {
	var lines []string
	for _, p := range m.packages {
		lines = append(lines, m.apiOf(p)...)
	}
	return strings.Join(lines, "\n") + "\n"
}

func (m *module) apiOf(p *packages.Package) (lines []string) {
	path := m.relative(p.PkgPath)
	qualifier := func(other *types.Package) string {
		if other == p.Types {
			return ""
		}
		return other.Name()
	}
	add := func(format string, args ...any) { lines = append(lines, path+": "+fmt.Sprintf(format, args...)) }
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		if !ast.IsExported(name) {
			continue
		}
		switch declared := scope.Lookup(name).(type) {
		case *types.TypeName:
			for _, line := range typeLines(declared, qualifier) {
				add("%s", line)
			}
		case *types.Func:
			add("func %s%s", name, strings.TrimPrefix(types.TypeString(declared.Type(), qualifier), "func"))
		case *types.Const:
			add("const %s %s", name, types.TypeString(declared.Type(), qualifier))
		default:
			add("var %s %s", name, types.TypeString(declared.Type(), qualifier))
		}
	}
	return lines
}

// typeLines returns the line of a type, followed by the sorted lines of its fields and methods.
func typeLines(declared *types.TypeName, qualifier types.Qualifier) []string {
	name := declared.Name()
	if declared.IsAlias() {
		return []string{fmt.Sprintf("type %s = %s", name, types.TypeString(types.Unalias(declared.Type()), qualifier))}
	}
	head := "type " + name
	if named, ok := declared.Type().(*types.Named); ok && named.TypeParams().Len() > 0 {
		head = "type " + strings.TrimPrefix(types.TypeString(named, qualifier), qualifier(declared.Pkg()))
	}
	var lines []string
	switch underlying := declared.Type().Underlying().(type) {
	case *types.Struct:
		head += " struct"
		for f := range underlying.Fields() {
			if f.Exported() {
				lines = append(lines, fmt.Sprintf("field %s.%s %s", name, f.Name(), types.TypeString(f.Type(), qualifier)))
			}
		}
	case *types.Interface:
		head += " interface"
		for method := range underlying.Methods() {
			lines = append(lines, methodLine(name, method, qualifier)...)
		}
	default:
		head += " " + types.TypeString(underlying, qualifier)
	}
	if !types.IsInterface(declared.Type()) {
		for method := range types.NewMethodSet(types.NewPointer(declared.Type())).Methods() {
			if f, ok := method.Obj().(*types.Func); ok {
				lines = append(lines, methodLine(name, f, qualifier)...)
			}
		}
	}
	slices.Sort(lines)
	return append([]string{head}, lines...)
}

func methodLine(of string, method *types.Func, qualifier types.Qualifier) []string {
	if !method.Exported() {
		return nil
	}
	signature := strings.TrimPrefix(types.TypeString(method.Type(), qualifier), "func")
	return []string{fmt.Sprintf("method %s.%s%s", of, method.Name(), signature)}
}

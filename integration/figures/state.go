package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// changes are what the module's code assigns to.
type changes struct {
	variables map[*types.Var]bool   // package-level variables, by assignment, by address, or through them
	fields    map[*types.Named]bool // types whose fields are assigned outside of a composite literal
}

// mutable returns the names of the package-level variables that can change, by package.
func (m *module) mutable() map[*packages.Package][]string {
	c := changes{variables: make(map[*types.Var]bool), fields: make(map[*types.Named]bool)}
	for _, p := range m.packages {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool { c.note(p.TypesInfo, n); return true })
		}
	}
	found := make(map[*packages.Package][]string)
	for _, p := range m.packages {
		once := remembering(p)
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			v, ok := scope.Lookup(name).(*types.Var)
			if ok && (c.variables[v] || once[v] || !isError(v.Type()) && c.stateful(v.Type(), false, nil)) {
				found[p] = append(found[p], name)
			}
		}
	}
	return found
}

// note notes what a node of the syntax changes.
func (c *changes) note(info *types.Info, n ast.Node) {
	switch x := n.(type) {
	case *ast.AssignStmt:
		for _, left := range x.Lhs {
			c.assigned(info, left)
		}
	case *ast.IncDecStmt:
		c.assigned(info, x.X)
	case *ast.RangeStmt:
		if x.Tok == token.ASSIGN {
			c.assigned(info, x.Key)
			c.assigned(info, x.Value)
		}
	case *ast.UnaryExpr:
		if _, literal := ast.Unparen(x.X).(*ast.CompositeLit); x.Op == token.AND && !literal {
			c.root(info, x.X)
		}
	case *ast.CallExpr:
		c.called(info, x)
	}
}

// called notes what a call changes: the argument of a builtin, or a variable whose address becomes a receiver.
func (c *changes) called(info *types.Info, call *ast.CallExpr) {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		if _, builtin := info.Uses[f].(*types.Builtin); builtin && (f.Name == "delete" || f.Name == "clear" || f.Name == "copy") {
			c.root(info, call.Args[0])
		}
	case *ast.SelectorExpr:
		selection := info.Selections[f]
		if selection == nil || selection.Kind() != types.MethodVal {
			return
		}
		method, ok := selection.Obj().(*types.Func)
		if !ok || method.Signature().Recv() == nil {
			return
		}
		_, byPointer := types.Unalias(method.Signature().Recv().Type()).(*types.Pointer)
		_, isPointer := info.TypeOf(f.X).Underlying().(*types.Pointer)
		if byPointer && !isPointer {
			c.root(info, f.X)
		}
	}
}

// assigned notes an expression on the left of an assignment.
func (c *changes) assigned(info *types.Info, left ast.Expr) {
	if left == nil {
		return
	}
	if field, ok := ast.Unparen(left).(*ast.SelectorExpr); ok {
		if selection := info.Selections[field]; selection != nil {
			if named := namedOf(selection.Recv()); named != nil {
				c.fields[named.Origin()] = true
			}
		}
	}
	c.root(info, left)
}

// root notes the package-level variable through which an expression gets at what it denotes, if there is one.
func (c *changes) root(info *types.Info, e ast.Expr) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if info.Selections[x] == nil { // package.Variable
				c.variable(info.Uses[x.Sel])
				return
			}
			e = x.X
		case *ast.Ident:
			c.variable(info.Uses[x])
			return
		default:
			return
		}
	}
}

func (c *changes) variable(object types.Object) {
	if v, ok := object.(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		c.variables[v] = true
	}
}

func namedOf(t types.Type) *types.Named {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

func isError(t types.Type) bool {
	face, ok := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return ok && types.Implements(t, face)
}

// stateful reports whether values of a type change although nothing assigns to the variable. Behind a pointer, a type
// whose fields are assigned somewhere is such a type.
func (c *changes) stateful(t types.Type, pointed bool, outer []types.Type) bool {
	for _, o := range outer {
		if types.Identical(o, t) {
			return false
		}
	}
	outer = append(outer, t)
	if named, ok := types.Unalias(t).(*types.Named); ok {
		if p := named.Obj().Pkg(); p != nil && (p.Path() == "sync" || strings.HasPrefix(p.Path(), "sync/")) {
			return true
		}
		if pointed && c.fields[named.Origin()] {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Chan:
		return true
	case *types.Pointer:
		return c.stateful(u.Elem(), true, outer)
	case *types.Array:
		return c.stateful(u.Elem(), pointed, outer)
	case *types.Slice:
		return c.stateful(u.Elem(), false, outer)
	case *types.Map:
		return c.stateful(u.Elem(), false, outer)
	case *types.Struct:
		for field := range u.Fields() {
			if c.stateful(field.Type(), false, outer) {
				return true
			}
		}
	}
	return false
}

// remembering returns the package-level variables that a function of package sync fills at its first call.
func remembering(p *packages.Package) map[*types.Var]bool {
	found := make(map[*types.Var]bool)
	for _, initializer := range p.TypesInfo.InitOrder {
		call, ok := ast.Unparen(initializer.Rhs).(*ast.CallExpr)
		if !ok {
			continue
		}
		f := call.Fun
		if index, ok := f.(*ast.IndexExpr); ok {
			f = index.X
		}
		selector, ok := f.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		if used := p.TypesInfo.Uses[selector.Sel]; used != nil && used.Pkg() != nil && used.Pkg().Path() == "sync" {
			for _, v := range initializer.Lhs {
				found[v] = true
			}
		}
	}
	return found
}

package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// A reach collects the functions that code in one program may call.
//
// Dynamic calls are resolved by variable type analysis (VTA) over the functions that main reaches by rapid type
// analysis (RTA), repeated until nothing more drops out. So a callback that only a semaphore passes does not count for
// a mutex. A function that reached code merely refers to counts as reached, such as a callback or the body of a
// goroutine. So do the methods by which other modules call back: when reached code converts a value to an interface
// that is declared elsewhere, it reaches the methods of that interface.
type reach struct {
	*module
	prog    *ssa.Program
	graph   *callgraph.Graph
	values  map[types.Type]bool             // dynamic types that the program gives to interfaces
	callees map[*types.Func][]*ssa.Function // implementations of a method of one of the module's interfaces
	seen    map[*ssa.Function]bool
	queue   []*ssa.Function
}

// reached returns, for each program, the functions that are reachable from the roots in it.
func (m *module) reached(roots []string) ([]map[*ssa.Function]bool, error) {
	prog, built := ssautil.Packages(slices.Concat(m.programs, m.packages), ssa.InstantiateGenerics)
	prog.Build()
	var all []map[*ssa.Function]bool
	for i := range m.programs {
		r := &reach{module: m, prog: prog}
		var starts []*ssa.Function
		for _, root := range roots {
			f, err := r.root(built, root)
			if err != nil {
				return nil, err
			}
			starts = append(starts, f)
		}
		r.narrow(built[i])
		for _, start := range starts {
			if !r.seen[start] {
				return nil, fmt.Errorf("root %s: the program does not reach it", start)
			}
		}
		all = append(all, r.from(starts))
	}
	return all, nil
}

// narrow finds the call graph of the program: of what is reached from main if an interface holds only types that
// reached code gives to one (RTA). What is not reached passes no values, so each graph of the values' ways is smaller
// than the one before it, until nothing more drops out.
func (r *reach) narrow(program *ssa.Package) {
	starts := []*ssa.Function{program.Func("main")}
	for _, p := range imported(program.Pkg, make(map[*types.Package]bool)) {
		if q := r.prog.Package(p); q != nil && r.owns(p.Path()) {
			starts = append(starts, q.Func("init"))
		}
	}
	functions := r.from(starts)
	for known := -1; known != len(r.values); functions = r.from(starts) {
		known, r.values = len(r.values), converted(functions)
	}
	for size := 0; size != len(functions); {
		size = len(functions)
		r.graph = vta.CallGraph(functions, vta.CallGraph(functions, nil)) // the second pass is the more exact one
		r.values = converted(functions)
		functions = r.from(starts)
	}
}

// imported returns a package and all that it imports.
func imported(p *types.Package, seen map[*types.Package]bool) []*types.Package {
	if seen[p] {
		return nil
	}
	seen[p] = true
	all := []*types.Package{p}
	for _, q := range p.Imports() {
		all = append(all, imported(q, seen)...)
	}
	return all
}

// converted returns the types of the values that functions make interfaces of.
func converted(functions map[*ssa.Function]bool) map[types.Type]bool {
	found := make(map[types.Type]bool)
	for f := range functions {
		for _, block := range f.Blocks {
			for _, instruction := range block.Instrs {
				if i, ok := instruction.(*ssa.MakeInterface); ok {
					found[i.X.Type()] = true
				}
			}
		}
	}
	return found
}

// from returns the functions that some reach in the present graph.
func (r *reach) from(starts []*ssa.Function) map[*ssa.Function]bool {
	r.seen, r.callees = make(map[*ssa.Function]bool), make(map[*types.Func][]*ssa.Function)
	for _, f := range starts {
		r.add(f)
	}
	for len(r.queue) > 0 {
		f := r.queue[0]
		r.queue = r.queue[1:]
		r.visit(f)
	}
	return r.seen
}

// root finds an entry point by its name, such as "recipes/locks.InterProcessMutex.Acquire".
func (r *reach) root(built []*ssa.Package, name string) (*ssa.Function, error) {
	slash := strings.LastIndex(name, "/") + 1
	parts := strings.Split(name[slash:], ".")
	if len(parts) < 2 || len(parts) > 3 {
		return nil, fmt.Errorf("root %q: want package.Function or package.Type.Method", name)
	}
	for _, p := range built {
		if r.relative(p.Pkg.Path()) != name[:slash]+parts[0] {
			continue
		}
		object := p.Pkg.Scope().Lookup(parts[1])
		if f, ok := object.(*types.Func); ok && len(parts) == 2 {
			return r.prog.FuncValue(f), nil
		}
		if t, ok := object.(*types.TypeName); ok && len(parts) == 3 {
			pointer := types.NewPointer(types.Unalias(t.Type()))
			if s := r.prog.MethodSets.MethodSet(pointer).Lookup(p.Pkg, parts[2]); s != nil {
				return r.prog.MethodValue(s), nil
			}
		}
	}
	return nil, fmt.Errorf("root %q: the measured packages have no such function", name)
}

func (r *reach) add(f *ssa.Function) {
	if f != nil && !r.seen[f] {
		r.seen[f] = true
		r.queue = append(r.queue, f)
	}
}

// visit adds what a function calls, refers to, or hands to other modules. Functions of other modules have no body here.
func (r *reach) visit(f *ssa.Function) {
	var operands [10]*ssa.Value
	for _, block := range f.Blocks {
		for _, instruction := range block.Instrs {
			for _, operand := range instruction.Operands(operands[:0]) {
				if g, ok := (*operand).(*ssa.Function); ok {
					r.add(g)
				}
			}
			switch i := instruction.(type) {
			case ssa.CallInstruction:
				r.dynamic(f, i)
			case *ssa.MakeInterface:
				r.handsOut(i)
			}
		}
	}
}

// dynamic adds the possible callees of a call that is not static. A function that calls its own parameter calls what
// its callers pass: where these are reached, it counts by being referred to, and where they are not, it is not called.
func (r *reach) dynamic(caller *ssa.Function, call ssa.CallInstruction) {
	if _, own := call.Common().Value.(*ssa.Parameter); own && !call.Common().IsInvoke() || call.Common().StaticCallee() != nil {
		return
	}
	found := false
	if node := r.node(caller); node != nil {
		for _, edge := range node.Out {
			if edge.Site == call {
				r.add(edge.Callee.Func)
				found = true
			}
		}
	}
	if method := call.Common().Method; method != nil && !found {
		r.anyImplementation(method)
	}
}

// node returns what the graph has of a function, nil before there is a graph.
func (r *reach) node(f *ssa.Function) *callgraph.Node {
	if r.graph == nil {
		return nil
	}
	return r.graph.Nodes[f]
}

// anyImplementation adds all implementations of a method of one of the module's interfaces. It is for values whose way
// leads through another module, such as a sync.Map, where the analysis loses sight of them.
func (r *reach) anyImplementation(method *types.Func) {
	if method.Pkg() == nil || !r.owns(method.Pkg().Path()) {
		return
	}
	if _, ok := r.callees[method]; !ok {
		r.callees[method] = r.implementations(method)
	}
	for _, f := range r.callees[method] {
		r.add(f)
	}
}

func (r *reach) implementations(method *types.Func) []*ssa.Function {
	face, ok := method.Signature().Recv().Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	var found []*ssa.Function
	for t := range r.values {
		if types.IsInterface(t) || !types.Implements(t, face) {
			continue
		}
		if s := r.prog.MethodSets.MethodSet(t).Lookup(method.Pkg(), method.Name()); s != nil {
			found = append(found, r.prog.MethodValue(s))
		}
	}
	return found
}

// calledBack are methods that the standard library calls if a value happens to have them.
var calledBack = []string{"Error", "Unwrap", "Is", "As", "String", "LogValue"}

// handsOut adds the methods by which another module may call a value back that becomes one of that module's interfaces.
func (r *reach) handsOut(conversion *ssa.MakeInterface) {
	target := types.Unalias(conversion.Type())
	if named, ok := target.(*types.Named); ok && named.Obj().Pkg() != nil && r.owns(named.Obj().Pkg().Path()) {
		return
	}
	face, ok := target.Underlying().(*types.Interface)
	if !ok {
		return
	}
	names := make([]string, 0, face.NumMethods())
	for method := range face.Methods() {
		names = append(names, method.Name())
	}
	if face.NumMethods() == 0 || types.Identical(target, types.Universe.Lookup("error").Type()) {
		names = calledBack
	}
	methods := r.prog.MethodSets.MethodSet(conversion.X.Type())
	for _, name := range names {
		if s := methods.Lookup(nil, name); s != nil {
			r.add(r.prog.MethodValue(s))
		}
	}
}

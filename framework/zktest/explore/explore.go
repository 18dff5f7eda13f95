// Package explore visits every state that a model can reach, and checks each.
//
// A model is three functions: the steps that are possible in a state, what must be true in every state, and which
// states are clean ends. [Model.Explore] goes through the states in the order of their distance from the start, so the
// history of a failure is one of the shortest. It then goes back from the clean ends: a state from which no clean end
// can be reached is a failure too. That finds what stays stuck for ever, without any measure of time. A fault may end
// what is stuck, as the end of a session ends every wait in it: so the way to a clean end takes no fault.
package explore

import (
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
)

// A Model is what to explore. Its functions must not change a state that they are given: a step makes a new one.
type Model[S any] struct {
	// Start is the first state.
	Start S
	// Key appends to key what identifies the state. States with equal keys count as one.
	Key func(key []byte, s S) []byte
	// Steps calls step for everything that can happen next: its name, and the state that it leads to.
	Steps func(s S, step func(name string, next S))
	// Check, if not nil, says what is wrong with a state. It is called once for each.
	Check func(s S) error
	// IsEnd, if not nil, reports whether a state is a clean end. Every state must be able to reach one without faults.
	IsEnd func(s S) bool
	// IsFault, if not nil, reports whether a step is a fault, by its name. It is called once for each name.
	IsFault func(name string) bool
	// Limit bounds the number of states; zero means no bound. The states at the bound are checked, their steps are not
	// taken, and they count as able to reach an end.
	Limit int
}

// A Result says what was explored.
type Result struct {
	States   int
	Steps    int
	Ends     int
	Depth    int  // steps from the start to the most distant state
	Complete bool // no state was left out because of the limit
}

func (r Result) String() string {
	extent := "every state"
	if !r.Complete {
		extent = "a part"
	}
	return fmt.Sprintf("%s: %d states, %d steps, %d clean ends, depth %d", extent, r.States, r.Steps, r.Ends, r.Depth)
}

// A Failure is a state that is wrong, with the steps that lead to it.
type Failure struct {
	Err     error
	History []string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("explore: %v\nafter %d steps:\n\t%s", f.Err, len(f.History), strings.Join(f.History, "\n\t"))
}

func (f *Failure) Unwrap() error { return f.Err }

// ErrStuck is the error of a state from which no clean end can be reached.
var ErrStuck = errors.New("no clean end can be reached")

// Explore blocks until every state has been visited, or until the limit. The error is a *[Failure]. One goroutine must
// not change what the model's functions use while another explores.
//
// It keeps 16 bytes of a hash for each state instead of its key: two states are mistaken for one with a probability of
// less than 10⁻²² for 10⁸ states.
func (m Model[S]) Explore() (Result, error) {
	e := explorer[S]{
		model: m, seen: map[hash]int32{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, nameOf: map[string]int32{},
	}
	e.visit(-1, 0, m.Start)
	for at := 0; at < len(e.states) && e.failure == nil; at++ {
		e.expand(int32(at))
	}
	if e.failure == nil && m.IsEnd != nil {
		e.findStuck()
	}
	if e.failure != nil {
		return e.result(), e.failure
	}
	return e.result(), nil
}

type hash [2]uint64

// A visited is what is kept of a state.
type visited struct {
	from  int32 // the state before, on a shortest way; negative for the start
	depth int32
	step  int32 // its index in the names
	ends  bool  // a clean end, or a state whose steps were not taken
}

type explorer[S any] struct {
	model   Model[S]
	seeds   [2]maphash.Seed
	seen    map[hash]int32
	states  []visited
	waiting []S        // the states that were not expanded yet
	before  [][2]int32 // the steps without a fault: to which state, and from which
	names   []string
	faults  []bool // by name
	nameOf  map[string]int32
	steps   int
	ends    int
	cut     bool
	key     []byte
	failure *Failure
}

// expand takes the steps of a state.
func (e *explorer[S]) expand(at int32) {
	s := e.waiting[0]
	var none S
	e.waiting[0] = none // for the garbage collector
	e.waiting = e.waiting[1:]
	if e.model.Limit > 0 && len(e.states) >= e.model.Limit {
		e.cut, e.states[at].ends = true, true
		return
	}
	e.model.Steps(s, func(name string, next S) {
		if e.failure != nil {
			return
		}
		e.steps++
		step := e.name(name)
		to := e.visit(at, step, next)
		if e.model.IsEnd != nil && !e.faults[step] {
			e.before = append(e.before, [2]int32{to, at})
		}
	})
}

// name returns the index of a step's name.
func (e *explorer[S]) name(name string) int32 {
	if i, ok := e.nameOf[name]; ok {
		return i
	}
	i := int32(len(e.names))
	e.names = append(e.names, name)
	e.faults = append(e.faults, e.model.IsFault != nil && e.model.IsFault(name))
	e.nameOf[name] = i
	return i
}

// visit returns the number of a state, which it checks if it is new.
func (e *explorer[S]) visit(from, step int32, s S) int32 {
	e.key = e.model.Key(e.key[:0], s)
	h := hash{maphash.Bytes(e.seeds[0], e.key), maphash.Bytes(e.seeds[1], e.key)}
	if at, ok := e.seen[h]; ok {
		return at
	}
	at := int32(len(e.states))
	e.seen[h] = at
	v := visited{from: from, step: step}
	if from >= 0 {
		v.depth = e.states[from].depth + 1
	}
	if e.model.IsEnd != nil && e.model.IsEnd(s) {
		v.ends = true
		e.ends++
	}
	e.states = append(e.states, v)
	e.waiting = append(e.waiting, s)
	if e.model.Check != nil {
		if err := e.model.Check(s); err != nil {
			e.fail(at, err)
		}
	}
	return at
}

func (e *explorer[S]) fail(at int32, err error) {
	e.failure = &Failure{Err: err}
	for ; e.states[at].from >= 0; at = e.states[at].from {
		e.failure.History = append(e.failure.History, e.names[e.states[at].step])
	}
	for i, j := 0, len(e.failure.History)-1; i < j; i, j = i+1, j-1 {
		e.failure.History[i], e.failure.History[j] = e.failure.History[j], e.failure.History[i]
	}
}

// findStuck goes back from the ends, by steps without a fault. The first state that it does not reach is one nearest to
// the start.
func (e *explorer[S]) findStuck() {
	first := make([]int32, len(e.states)+1) // in sources, where those of a state begin
	for _, step := range e.before {
		first[step[0]+1]++
	}
	for i := range e.states {
		first[i+1] += first[i]
	}
	sources, next := make([]int32, len(e.before)), append([]int32(nil), first...)
	for _, step := range e.before {
		sources[next[step[0]]] = step[1]
		next[step[0]]++
	}
	reached := make([]bool, len(e.states))
	var pending []int32
	for at := range e.states {
		if e.states[at].ends {
			reached[at] = true
			pending = append(pending, int32(at))
		}
	}
	for len(pending) > 0 {
		at := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, from := range sources[first[at]:first[at+1]] {
			if !reached[from] {
				reached[from] = true
				pending = append(pending, from)
			}
		}
	}
	for at := range reached {
		if !reached[at] {
			e.fail(int32(at), ErrStuck)
			return
		}
	}
}

func (e *explorer[S]) result() Result {
	r := Result{States: len(e.states), Steps: e.steps, Ends: e.ends, Complete: !e.cut && e.failure == nil}
	if len(e.states) > 0 {
		r.Depth = int(e.states[len(e.states)-1].depth)
	}
	return r
}

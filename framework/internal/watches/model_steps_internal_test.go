package watches

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A choice is what can happen next. A name with a colon is of what need not happen.
type choice struct {
	name  string
	input func(w *world)
	order order
}

// An order is that in which requests leave that were made at once for several nodes: it is any.
type order int

const (
	asMade order = iota
	sorted
	reversed
)

type offering func(name string, input func(w *world))

// choices calls offer with all that can happen.
func (w *world) choices(offer func(choice)) {
	in := func(o order, suffix string) offering {
		return func(name string, input func(w *world)) { offer(choice{name + suffix, input, o}) }
	}
	do := in(asMade, "")
	w.connecting(do)
	w.reading(in(sorted, ""))
	w.reading(in(reversed, ", in the other order"))
	w.calling(do)
	w.disturbing(do)
}

// after returns the state to which a choice leads.
func (w *world) after(c choice) *world {
	next := w.clone()
	c.input(next)
	next.take(c.order)
	if next.lost == 2 && len(next.toServer)+len(next.toClient) == 0 && !next.table.HasRefused() {
		next.lost = 0
	}
	next.judge(w)
	return next
}

// connecting is what happens between the session and the server without a fault.
func (w *world) connecting(do offering) {
	if w.attached && len(w.trees) > 0 && !w.table.takesTrees {
		do("the server takes trees", func(w *world) { w.table.SetTrees(w.now()) })
	}
	if w.table.HasDeferred() {
		do("set deferred", func(w *world) { w.table.SetDeferred(w.now()) })
	}
	if w.table.HasRefused() {
		do("ask again", func(w *world) { w.table.AskAgain(w.now()) })
	}
	if len(w.toServer) > 0 {
		do("the server executes "+w.toServer[0].String(), (*world).execute)
	}
	if len(w.toClient) > 0 {
		do(w.toClient[0].String()+" arrives", func(w *world) { w.arrive(0) })
	}
}

// reading is what reads several nodes at once.
func (w *world) reading(do offering) {
	attach := func(w *world) {
		w.attached = true
		if w.removal != "" { // each connection asks for it first, until there is an answer
			w.toServer = append(w.toServer, deletionOf(w.removal))
		}
		w.table.Attached(w.now(), time.Second)
	}
	if !w.attached {
		do("connect", attach)
		if len(w.trees) > 0 {
			do("connect to a server that is known to take trees", func(w *world) {
				w.table.SetTrees(w.now())
				attach(w)
			})
		}
	} else if w.lost == 1 {
		do("read late", func(w *world) {
			w.late++
			w.table.ReadLate(w.now())
			w.lost = 2
		})
	}
}

func deletionOf(path string) message {
	return message{kind: deletion, event: simpleEvent{path: path}}
}

func (m message) String() string {
	switch m.kind {
	case deletion:
		return "the deletion of " + m.event.path
	case event:
		return fmt.Sprintf("%v of %s", m.event.kind, m.event.path)
	default:
		return fmt.Sprintf("request %d of %s", m.request.Op, m.request.Path)
	}
}

// change has another client, or the deletion, change a node.
func (w *world) change(path string, create, remove bool) {
	for _, e := range w.server.change(path, create, remove) {
		if w.attached && w.broken != "S7" {
			w.toClient = append(w.toClient, message{kind: event, event: e})
		}
	}
}

// execute has the server execute what has come first.
func (w *world) execute() {
	m := w.toServer[0]
	w.toServer = w.toServer[1:]
	if m.kind == deletion {
		w.change(m.event.path, false, true)
	} else {
		m.answer = w.server.answer(m.request)
	}
	m.zxid = w.server.zxid
	answer := []message{m}
	if m.kind == request && m.request.Op == SetData {
		for _, e := range w.server.set(m.request) {
			answer = append(answer, message{kind: event, event: e, sure: true})
		}
		if !w.keeper {
			slices.Reverse(answer) // the events come first
		}
	}
	w.toClient = append(w.toClient, answer...)
}

func (w *world) arrive(i int) {
	m := w.toClient[i]
	w.toClient = slices.Delete(w.toClient, i, i+1)
	w.seen = max(w.seen, m.zxid)
	switch m.kind {
	case request:
		w.table.Answered(m.request, m.answer, w.now())
	case deletion:
		w.removal = ""
		w.table.Removed(m.event.path, m.refused, w.now())
	case event:
		w.table.Event(m.event.kind, m.event.path, w.now())
	}
}

// calling is what the session asks of the table. To end something costs nothing.
func (w *world) calling(do offering) {
	call := func(name string, input func(w *world)) {
		if w.calls > 0 {
			do("call: "+name, func(w *world) {
				w.calls--
				input(w)
			})
		}
	}
	for i, sub := range w.subs {
		if sub == nil {
			call(fmt.Sprint("subscribe ", i), func(w *world) {
				sub := &subscriber{how: w.wishes[i].how}
				w.subs[i] = sub
				w.subscribe(i, func() { sub.woke++ })
			})
			continue
		}
		do(fmt.Sprint("call: unsubscribe ", i), func(w *world) {
			w.table.Unsubscribe(&w.subs[i].sub)
			w.subs[i] = nil
		})
		if w.attached && sub.sub.node.phase == idle {
			call(fmt.Sprint("read again ", i), func(w *world) { w.table.ReadAgain(&w.subs[i].sub, w.now()) })
		}
	}
	for i, path := range w.trees {
		if w.ears[i] == nil {
			call("tree at "+path, func(w *world) {
				w.ears[i] = &treeEar{path: path, server: w.server, known: map[string]int{}}
				w.table.ObserveTree(path, w.ears[i], w.now())
			})
			continue
		}
		do("call: end of the tree at "+path, func(w *world) {
			w.table.UnobserveTree(path, w.ears[i], w.now())
			w.ears[i] = nil
		})
	}
	if w.removal == "" {
		call("remove /a", func(w *world) {
			w.removal = "/a"
			w.table.Removing(w.removal)
			if w.attached {
				w.toServer = append(w.toServer, deletionOf(w.removal))
			}
		})
	}
}

// subscribe makes a subscription that is wished for.
func (w *world) subscribe(i int, wake func()) {
	wish, sub := w.wishes[i], &w.subs[i].sub
	since := Since{
		Sub: sub, Path: wish.key.Path, Wake: wake, Readable: !wish.read, Optional: wish.optional,
	}
	switch wish.knows {
	case nothing:
		w.table.Subscribe(sub, wish.key, wake, wish.how, w.now())
	case theStart:
		w.table.SubscribeSince(1, []Since{since}, true, w.now())
	case allSeen:
		w.table.SubscribeSince(w.seen, []Since{since}, true, w.now())
	}
	if !sub.Begun() {
		w.subs[i] = nil
	}
}

// disturbing is what other clients do, and faults.
func (w *world) disturbing(do offering) {
	for _, path := range w.others {
		change := func(name string, create, remove bool) {
			if w.changes > 0 {
				do("other: "+name+" "+path, func(w *world) {
					w.changes--
					w.change(path, create, remove)
				})
			}
		}
		if _, there := w.server.nodes[path]; there {
			change("change", false, false)
			change("delete", false, true)
		} else {
			change("create", true, false)
		}
	}
	fault := func(name string, input func(w *world)) {
		if w.faults > 0 {
			do("fault: "+name, func(w *world) {
				w.faults--
				input(w)
			})
		}
	}
	if w.attached {
		fault("the connection is lost", func(w *world) {
			w.attached, w.toServer, w.toClient, w.lost = false, nil, nil, 0
			w.server.data, w.server.children, w.server.trees = map[string]bool{}, map[string]bool{}, map[string]bool{}
			w.table.Detached()
		})
	}
	if len(w.toServer) > 0 {
		w.refusing(fault, w.toServer[0])
	}
	// trees are not read again
	if len(w.toClient) > 0 && w.toClient[0].kind == event && !w.toClient[0].sure && len(w.trees) == 0 {
		fault(w.toClient[0].String()+" is lost", func(w *world) { w.toClient, w.lost = w.toClient[1:], 1 })
	}
	if len(w.toClient) > 1 && w.broken == "S1" {
		fault(w.toClient[1].String()+" overtakes", func(w *world) { w.arrive(1) })
	}
	fault("the permission to read /a changes", func(w *world) { w.server.unreadable["/a"] = !w.server.unreadable["/a"] })
}

// refusing is what may become of a request other than its success.
func (w *world) refusing(fault offering, m message) {
	answer := func(name string, outcome Outcome) {
		fault(fmt.Sprintf("%v is %s", m, name), func(w *world) {
			m := w.toServer[0]
			m.answer, m.refused = Answer{Outcome: outcome, Err: errors.New(name)}, true
			w.toServer, w.toClient, w.denied = w.toServer[1:], append(w.toClient, m), w.denied || name == "denied"
		})
	}
	_, there := w.server.nodes[m.event.path]
	switch {
	case m.kind == deletion && there:
		answer("refused", Denied)
	case m.kind == request:
		answer("busy", Busy)
		if m.request.Op == ReadChildren || m.request.Op == SetData {
			answer("denied", Denied)
		}
	}
}

// judge finds what is wrong with the step to a state: whom it wakes.
func (w *world) judge(before *world) {
	if w.wrong == nil && !w.attached && len(w.toServer) > 0 {
		w.wrong = errors.New("a request without a connection")
	}
	for i, sub := range w.subs {
		if sub == nil {
			continue
		}
		view, old := w.table.View(&sub.sub), View{}
		sub.gone = sub.gone || view.Status == Gone
		if before.subs[i] == nil {
			continue
		}
		old = before.table.View(&before.subs[i].sub)
		changed := !bytes.Equal(appendView(nil, old), appendView(nil, view))
		if old.Status == Unknown && view.Status == Present && view.Stat == nil {
			changed = false // as the subscriber knows already
		}
		sub.stale = sub.woke == 0 && (sub.stale || changed)
		if before.attached && !w.attached && (sub.woke == 1) != (sub.how.hearsLoss() && old.Status != view.Status) {
			w.wrong = fmt.Errorf("the lost connection wakes subscription %d %d times", i, sub.woke)
		}
	}
}

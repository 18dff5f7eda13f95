package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocurator/curator/framework/zktest/explore"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// New returns the model of a configuration.
func New(c Config) explore.Model[*world] {
	w := &world{table: newTable(&c), faults: c.Faults}
	w.servers = make([]server, 1)
	if c.Two {
		w.servers = make([]server, 2)
	}
	for i := range w.servers {
		w.servers[i].limit = c.Limit
	}
	for range c.Clients {
		w.clients = append(w.clients, client{valid: true, view: queue.View{Markers: w.markers}, unlisted: queue.Unlisted{Next: -1}, limit: c.Limit})
	}
	for range w.kinds {
		w.all = append(w.all, contender{left: 1, try: -1})
	}
	w.all[0].left += c.Again
	return explore.Model[*world]{
		Start: w, Key: func(key []byte, w *world) []byte { return w.key(key) },
		Steps: (*world).steps, Check: (*world).check, IsEnd: (*world).isEnd, IsFault: isFault,
	}
}

// isFault reports whether a step is one that no contender needs.
func isFault(name string) bool { return strings.HasPrefix(name, "! ") }

// A stepper collects the steps from a state.
type stepper struct {
	*world
	take func(string, *world)
}

// may takes a step if it is possible.
func (s stepper) may(possible bool, name string, do func(w *world)) {
	if !possible {
		return
	}
	next := s.clone()
	do(next)
	next.prune()
	s.take(name, next)
}

// steps takes every step that is possible in a state.
func (w *world) steps(take func(string, *world)) {
	s := stepper{w, take}
	for i := range w.clients {
		if !w.unreduced && s.isAlone(int8(i)) && s.local(int8(i)) {
			return
		}
	}
	for i := range w.clients {
		s.client(int8(i))
		s.local(int8(i))
	}
	s.may(len(w.pending) > 0, "the follower goes on", (*world).follow)
	for j, r := range w.late {
		s.may(true, "a server executes late the creation of "+letter(r.try.by), func(w *world) {
			w.late = slices.Delete(w.late, j, j+1)
			w.write(r, -1)
		})
	}
	s.others()
}

// client takes the steps of a client's connection and session.
func (s stepper) client(i int8) {
	c := &s.clients[i]
	who := fmt.Sprintf("client %d", i+1)
	if s.executable(i) {
		executes := "the server executes " + s.describe(c.out[0].op, c.out[0].try, c.out[0].name) + " for " + who
		s.may(true, executes, func(w *world) { w.execute(i, 0) })
		s.may(s.off(S3) && c.out[0].op == list, executes+", and counts one too few", func(w *world) { w.execute(i, -1) })
		s.may(s.off(S3) && c.out[0].op == list, executes+", and counts one too many", func(w *world) { w.execute(i, 1) })
	}
	for server := range s.servers {
		behind := server == 1 && c.seen > 0 && !s.off(S4)
		if c.server >= 0 || behind || server > 0 && i < s.Steady {
			continue
		}
		connects := fmt.Sprintf("%s connects to server %d", who, server+1)
		s.may(true, connects, func(w *world) { w.connect(i, int8(server), false) })
		s.may(len(c.watches) > 1, connects+", and sets the newest watch first", func(w *world) { w.connect(i, int8(server), true) })
	}
	s.may(c.server >= 0 && !c.valid, who+" renews its lease", func(w *world) { w.clients[i].valid = true })
	s.clientFaults(i, who)
}

// local takes the steps that change nothing but what a client knows and sends. It reports whether there are any,
// faults apart.
func (s stepper) local(i int8) bool {
	taken := false
	s.take = func(take func(string, *world)) func(string, *world) {
		return func(name string, next *world) { taken = taken || !isFault(name); take(name, next) }
	}(s.take)
	c := &s.clients[i]
	who := fmt.Sprintf("client %d", i+1)
	for j, m := range c.in {
		if j == 0 || s.off(S1) && (m.isEvent() || !slices.ContainsFunc(c.in[:j], func(m message) bool { return !m.isEvent() })) {
			s.may(true, who+" hears of "+s.describe(m.op, m.try, m.name), func(w *world) {
				w.clients[i].in = slices.Delete(w.clients[i].in, j, j+1)
				w.receive(i, m)
			})
		}
		s.may(m.isEvent() && s.off(S7) && s.faults.Unsent > 0, "! the server loses "+s.describe(m.op, m.try, m.name)+" for "+who, func(w *world) {
			w.faults.Unsent--
			w.clients[i].in = slices.Delete(w.clients[i].in, j, j+1)
		})
	}
	y, due := s.dueLook(i)
	s.may(due, who+" looks for lost creations", func(w *world) { w.look(i, y) })
	s.may(s.Unlisted && c.find(queueName) < 0 && len(c.view.Nodes) > 0, who+" watches the directory", func(w *world) { w.subscribe(i, queueName) })
	s.may(s.off(LimitInOrder) && c.limit != s.servers[0].limit, who+" reads the limit", func(w *world) {
		w.clients[i].limit = w.servers[0].limit
		w.lookAtLeases(i)
	})
	for by := range s.all {
		if s.owner[by] == i {
			s.contender(int8(by))
		}
	}
	return taken
}

// isAlone reports whether a client's local steps are all that needs to be explored from a state: no fault can hit the
// client any more, no step makes or ends a grant, and what servers do meanwhile cannot give it another local step,
// since it has a message to hear of first, or none can come. Then the order of its steps and those of others
// does not matter.
func (s stepper) isAlone(i int8) bool {
	c, f := &s.clients[i], &s.faults
	nothingComes := len(c.out)+len(c.armed) == 0 && !slices.ContainsFunc(s.pending, func(t txn) bool { return t.origin == i })
	if len(c.in) == 0 && !nothingComes || c.server < 0 || !c.valid || s.off(LimitInOrder|S1|S7) || i >= s.Steady && f.Cuts+f.Lapses > 0 {
		return false
	}
	for by := range s.all {
		if p := s.all[by].phase; s.owner[by] == i && (p == admitted || p == checked || p == holding) {
			return false
		}
	}
	return true
}

func (s stepper) clientFaults(i int8, who string) {
	c := &s.clients[i]
	if i < s.Steady || c.valid && s.faults.Cuts+s.faults.Lapses == 0 {
		return
	}
	cut := c.server >= 0 && s.faults.Cuts > 0
	s.may(cut, "! "+who+" loses its connection", func(w *world) {
		w.faults.Cuts--
		w.disconnect(i)
	})
	stalls := len(c.out) > 0 && (c.out[0].op == create || c.out[0].op == createReader)
	s.may(cut && s.faults.Lates > 0 && stalls, "! "+who+" loses its connection, and the server stalls with its creation", func(w *world) {
		w.faults.Cuts--
		w.faults.Lates--
		w.late = append(w.late, c.out[0])
		w.disconnect(i)
	})
	s.may(s.faults.Lapses > 0 && c.valid, "! the lease of "+who+" ends", func(w *world) {
		w.faults.Lapses--
		w.lapse(i)
	})
	s.may(!c.expired && !c.valid, "! the session of "+who+" ends", func(w *world) { w.expire(i) })
	s.may(s.off(LeaseFirst) && !c.expired && c.valid && s.faults.Lapses > 0, "! the session of "+who+" ends before its lease", func(w *world) {
		w.faults.Lapses--
		w.expire(i)
	})
}

// others takes the steps of servers and administrators.
func (s stepper) others() {
	for d := range s.servers[0].trees {
		tree := s.servers[0].trees[d]
		for _, n := range tree.names {
			s.may(s.faults.Hands > 0 && s.names[n].try.by >= 0, "! "+s.text(n)+" is removed by hand", func(w *world) {
				w.faults.Hands--
				w.byHand = append(w.byHand, n)
				w.commit(txn{op: remove, dir: int8(d), names: []name{n}, origin: -1})
			})
		}
		s.may(s.faults.Sweeps > 0 && tree.id != 0 && len(tree.names) == 0, "! the empty directory is removed", func(w *world) {
			w.faults.Sweeps--
			w.commit(txn{op: unmade, dir: int8(d), origin: -1})
		})
		s.may(s.faults.Unstored > 0 && s.off(S0) && len(tree.names) > 0, "! the servers lose the newest node", func(w *world) {
			w.faults.Unstored--
			w.commit(txn{op: lost, dir: int8(d), names: tree.names[len(tree.names)-1:], origin: -1})
		})
	}
	queueTree := s.servers[0].trees[queueDir]
	s.may(s.faults.Strange > 0 && queueTree.id != 0, "! a node that is no contender's is created", func(w *world) {
		w.faults.Strange--
		w.commit(txn{op: create, tree: queueTree.id, names: []name{w.stranger()}, origin: -1})
	})
	s.may(s.Raised > 0 && s.servers[0].limit != s.Raised, "! the limit changes", func(w *world) {
		w.commit(txn{op: limited, limit: w.Raised, origin: -1})
	})
}

func (s stepper) describe(o op, y try, n name) string {
	switch {
	case n == queueName && (o == read || o == deleted):
		return "the " + opNames[o] + " of the directory"
	case n != 0 && n != leaseName:
		return "the " + opNames[o] + " of " + s.text(n)
	default:
		return "the " + opNames[o] + " of " + letter(y.by)
	}
}

//go:build linux

package interop_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/internal/drivers"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

// A script is a sequence of calls, made of one library, and what came of each. It writes down what both must agree on.
type script struct {
	*world
	kind  string
	path  string // the lock's path
	lines []scriptLine
	crew  map[string]*contender
	waits map[string]*wait
}

type scriptLine struct{ step, outcome string }

func (s *script) note(outcome, format string, args ...any) {
	s.lines = append(s.lines, scriptLine{step: fmt.Sprintf(format, args...), outcome: outcome})
}

// hire makes contenders, each with a session of its own.
func (s *script) hire(order godriver.Order, whos ...string) {
	s.t.Helper()
	if order.Path == "" {
		order.Path = s.path
	}
	for _, who := range whos {
		s.crew[who] = s.contender(s.kind, order)
	}
}

// outcome is how an answer reads in a comparison: errors read alike, since no two languages word them alike.
func outcome(a godriver.Answer, yes, no string) string {
	switch {
	case a.Error != "":
		return "error"
	case a.OK:
		return yes
	default:
		return no
	}
}

// forEver is how long a script waits before it says that a contender does for ever.
const forEver = 15 * time.Second

// acquire is for locks that are granted or refused at once, or within a time limit.
func (s *script) acquire(who string, hows ...how) {
	s.t.Helper()
	k := s.crew[who]
	order := k.order("acquire", hows...)
	select {
	case a := <-k.process.Order(order):
		s.note(outcome(a, "held", "not acquired"), "%s acquires%s", who, describe(order))
	case <-time.After(patience):
		await.Fatalf(s.t, "%s: %s, who acquires%s (%v); the tree is\n%s", s.kind, who, describe(order), patience, s.tree("/"))
	}
}

// acquireForEver is for locks that may be waited for for ever.
func (s *script) acquireForEver(who string, hows ...how) {
	s.t.Helper()
	k := s.crew[who]
	order := k.order("acquire", hows...)
	select {
	case a := <-k.process.Order(order):
		s.note(outcome(a, "held", "not acquired"), "%s acquires%s", who, describe(order))
	case <-time.After(forEver):
		s.note("waits for ever", "%s acquires%s", who, describe(order))
	}
}

func describe(o godriver.Order) string {
	var text strings.Builder
	if o.Side != "" {
		fmt.Fprintf(&text, " to %s", o.Side)
	}
	if o.N != 1 {
		fmt.Fprintf(&text, " %d", o.N)
	}
	switch {
	case o.MS == 0:
		text.WriteString(", if it is free")
	case o.MS > 0:
		fmt.Fprintf(&text, " within %d ms", o.MS)
	}
	return text.String()
}

// enqueue begins to wait; the directory then has n children.
func (s *script) enqueue(who, directory string, n int, hows ...how) {
	s.t.Helper()
	k := s.crew[who]
	order := k.order("acquire", hows...)
	s.waits[who] = &wait{k: k, answer: k.process.Order(order)}
	s.awaitChildren(s.path+directory, n)
	s.note("", "%s queues%s", who, describe(order))
}

// waiting notes whether there is still a waiter.
func (s *script) waiting(who string) {
	w := s.waits[who]
	select {
	case a := <-w.answer:
		w.early = &a
		s.note("no: "+outcome(a, "held", "not acquired"), "%s waits", who)
	case <-time.After(100 * time.Millisecond):
		s.note("yes", "%s waits", who)
	}
}

// granted notes how a wait ended.
func (s *script) granted(who string) {
	w := s.waits[who]
	a := w.early
	if a == nil {
		select {
		case got := <-w.answer:
			a = &got
		case <-time.After(patience):
			await.Fatalf(s.t, "%s: %s to be let in (%v); the tree is\n%s", s.kind, who, patience, s.tree("/"))
		}
	}
	s.note(outcome(*a, "held", "not acquired"), "%s is let in", who)
}

func (s *script) release(who string, hows ...how) {
	s.t.Helper()
	k := s.crew[who]
	order := k.order("release", hows...)
	side := ""
	if order.Side != "" {
		side = " the " + order.Side + " lock"
	}
	s.note(outcome(<-k.process.Order(order), "done", "no"), "%s releases%s", who, side)
}

func (s *script) report(who string) {
	s.t.Helper()
	a := s.done(s.crew[who].process, s.crew[who].order("report"))
	s.note(fmt.Sprintf("acquired in this process %v, owned by the caller %v", a.Acquired, a.Owned), "%s is asked", who)
}

// awaitLoss waits until a contender in Go has heard, on its own connection, that its node is gone. Curator reports that
// to no holder.
func (s *script) awaitLoss(who string) {
	s.t.Helper()
	if s.kind != ours {
		return
	}
	if !await.Within(patience, func() bool {
		return !s.done(s.crew[who].process, s.crew[who].order("report")).Acquired
	}) {
		s.t.Fatalf("%s still holds the lock %v after its node was removed", who, patience)
	}
}

// setLimit sets the limit of a semaphore.
func (s *script) setLimit(who string, limit int) {
	s.t.Helper()
	order := s.crew[who].order("setvalue")
	order.Value = int64(limit)
	s.note(outcome(<-s.crew[who].process.Order(order), "done", "no"), "%s sets the limit to %d", who, limit)
}

// awaitLimit waits until a contender has heard of a limit.
func (s *script) awaitLimit(who string, limit int) {
	s.t.Helper()
	s.crew[who].awaitLimit(limit)
}

// remove removes a lock node as an administrator would, by its place in the directory.
func (s *script) remove(directory string, i int) {
	s.t.Helper()
	nodes := s.byAge(s.path + directory)
	if err := s.observer.Delete(nodes[i], -1); err != nil {
		s.t.Fatal(err)
	}
	s.note("", "node %d is removed by hand", i)
}

// see notes the tree.
func (s *script) see() {
	s.t.Helper()
	s.note(s.tree(s.path), "the tree")
}

// settle waits until a directory has so many children, before the tree is looked at.
func (s *script) settle(directory string, n int) {
	s.t.Helper()
	s.awaitChildren(s.path+directory, n)
}

// An intended difference: what Curator does, what this library does, and why.
type intended struct{ java, ours, why string }

// scripts are run by Java Curator and by this library, each on a path of its own.
var scripts = []struct {
	name     string
	run      func(s *script)
	intended map[string]intended // by step
}{
	{
		name: "mutex: held, waited for, re-entered, released",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "mutex"}, "a", "b", "c")
			s.acquire("a")
			s.report("a")
			s.report("b")
			s.see()
			s.enqueue("b", "", 2)
			s.enqueue("c", "", 3)
			s.acquire("a")
			s.see()
			s.release("a")
			s.waiting("b")
			s.release("a")
			s.granted("b")
			s.waiting("c")
			s.see()
			s.release("b")
			s.granted("c")
			s.release("c")
			s.release("c")
			s.settle("", 0)
		},
	},
	{
		name: "mutex: data of its own",
		run: func(s *script) {
			data := "who I am"
			s.hire(godriver.Order{Recipe: "mutex", Data: &data}, "a")
			s.acquire("a")
			s.see()
			s.release("a")
		},
	},
	{
		name: "mutex: tries and time limits",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "mutex"}, "a", "b")
			s.acquire("a", within(0))
			s.acquire("b", within(100*time.Millisecond))
			s.settle("", 1)
			s.release("a")
			s.acquire("b", within(forEver*2/3)) // it is free, but a busy machine takes its time
			s.see()
			s.release("b")
			s.settle("", 0)
		},
	},
	{
		name: "mutex: a try on a taken one",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "mutex"}, "a", "b")
			s.acquire("a")
			s.acquire("b", within(0))
			s.release("a")
			s.acquire("b", within(0))
			s.note(number(last(s.byAge(s.path)[0])), "the number of b's node")
			s.release("b")
		},
		intended: map[string]intended{
			"the number of b's node": {"0000000002", "0000000001", "a try on a taken lock writes nothing: it costs one read, where Curator creates a node, looks and deletes it"},
		},
	},
	{
		name: "mutex: the holder's node is removed by hand",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "mutex"}, "a", "b")
			s.acquire("a")
			s.enqueue("b", "", 2)
			s.remove("", 0)
			s.granted("b")
			s.awaitLoss("a")
			s.report("a")
			s.acquire("a", within(0))
			s.release("a")
			s.report("a")
			s.release("b")
		},
		intended: map[string]intended{
			"a is asked":                {"acquired in this process true, owned by the caller true", "acquired in this process false, owned by the caller false", "a lease whose node is gone has ended; Curator reports that to no holder"},
			"a acquires, if it is free": {"held", "error", "an owner that has lost a lock is not let in again on the strength of it: ErrLeaseLost"},
			"a releases":                {"done", "error", "Release tells of the loss: ErrLeaseLost"},
		},
	},
	{
		name: "mutex: a waiter's node is removed by hand",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "mutex"}, "a", "b", "c")
			s.acquire("a")
			s.enqueue("b", "", 2)
			s.enqueue("c", "", 3)
			s.remove("", 1)
			s.waiting("b")
			if s.kind == ours {
				s.settle("", 3)
			}
			s.note(fmt.Sprint(len(s.children(s.path))), "nodes, a moment later")
			s.release("a")
			s.granted("c")
			s.release("c")
			s.granted("b")
			s.release("b")
			s.settle("", 0)
		},
		intended: map[string]intended{
			"nodes, a moment later": {"2", "3", "a waiter watches its own node and queues again at once; Curator's finds out when the node ahead goes"},
		},
	},
	{
		name: "mutex: revoked",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "mutex", Revocable: true}, "a")
			s.acquire("a")
			s.see()
			node := s.byAge(s.path)[0]
			k := s.crew["a"]
			s.done(k.process, godriver.Order{Op: "revoke", Client: k.name, Node: node})
			s.note(await.Receive(s.t, patience, s.kind+": a to hear of the request", k.events).Event, "a hears")
			s.note(s.tree(s.path), "the tree after the request")
			s.release("a")
		},
		intended: map[string]intended{
			"the tree": {
				"lock lasting \"\" version 0 acl [{31 world anyone}]\n  _c_UUID-lock-0000000000 ephemeral of A \"\" version 0 acl [{31 world anyone}]\n",
				"lock lasting \"\" version 0 acl [{31 world anyone}]\n  _c_UUID-lock-0000000000 ephemeral of A \"contender\" version 0 acl [{31 world anyone}]\n",
				"every lease can be revoked, so the node's data says nothing about it; Curator empties the data of a mutex that was made revocable",
			},
		},
	},
	{
		name: "read/write lock: both sides, several of each",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "rw"}, "a", "b", "c", "d")
			s.acquire("a", read)
			s.acquire("b", read)
			s.enqueue("c", "", 3, write)
			s.enqueue("d", "", 4, read)
			s.see()
			s.acquire("a", read)
			s.release("a", read)
			s.release("a", read)
			s.waiting("c")
			s.release("b", read)
			s.granted("c")
			s.waiting("d")
			s.acquire("c", write)
			s.see()
			s.release("c", write)
			s.release("c", write)
			s.granted("d")
			s.see()
			s.release("d", read)
			s.settle("", 0)
		},
	},
	{
		name: "read/write lock: downgraded",
		run: func(s *script) {
			drivers.NeedJavaDowngrade(s.t)
			data := "mine"
			s.hire(godriver.Order{Recipe: "rw", Data: &data}, "a", "b", "c")
			s.acquire("a", write)
			s.enqueue("b", "", 2, write)
			s.acquire("a", read)
			s.enqueue("c", "", 4, read)
			s.see()
			s.release("a", write)
			s.settle("", 3)
			s.waiting("b")
			s.see()
			s.release("a", read)
			s.granted("b")
			s.release("b", write)
			s.granted("c")
			s.release("c", read)
			s.settle("", 0)
		},
	},
	{
		name: "read/write lock: no upgrade",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "rw"}, "a")
			s.acquire("a", read)
			s.acquire("a", write, within(100*time.Millisecond))
			s.settle("", 1)
			s.see()
			s.release("a", read)
			s.settle("", 0)
		},
		intended: map[string]intended{
			"a acquires to write within 100 ms": {"not acquired", "error", "a reader that asks for the write lock would wait for itself: ErrUpgrade says so at once; Curator waits, without a time limit for ever"},
		},
	},
	{
		name: "semaphore: two leases, one waits",
		run: func(s *script) {
			data := "a lease"
			s.hire(godriver.Order{Recipe: "semaphore", Max: 2, Data: &data}, "a", "b", "c")
			s.acquire("a")
			s.settle("/locks", 0)
			s.acquire("a")
			s.settle("/locks", 0)
			s.enqueue("b", "/leases", 3)
			s.enqueue("c", "/locks", 2)
			s.see()
			s.release("a")
			s.granted("b")
			s.settle("/leases", 3)
			s.settle("/locks", 1)
			s.waiting("c")
			s.see()
			s.release("a")
			s.granted("c")
			s.release("b")
			s.release("c")
			s.settle("/leases", 0)
			s.settle("/locks", 0)
		},
	},
	{
		name: "semaphore: several at once",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "semaphore", Max: 3}, "a", "b")
			s.acquire("a", leases(2))
			s.acquire("b", leases(2), within(100*time.Millisecond))
			s.settle("/leases", 2)
			s.settle("/locks", 0)
			s.acquire("b", leases(1), within(0))
			s.release("a")
			s.release("b")
			s.settle("/leases", 0)
			s.acquire("a", leases(0))
			s.acquireForEver("a", leases(4))
		},
		intended: map[string]intended{
			"a acquires 4": {"waits for ever", "error", "more leases than a fixed limit has are refused; Curator waits for ever, and lets no one else in"},
		},
	},
	{
		name: "semaphore: a live limit",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "semaphore", Path: s.path + "/semaphore", Count: s.path + "/count", Max: 1}, "a", "b", "c")
			s.note(s.tree(s.path), "the tree at the beginning")
			s.acquire("a")
			s.settle("/semaphore/locks", 0)
			s.enqueue("b", "/semaphore/leases", 2)
			s.setLimit("a", 300)
			s.granted("b")
			s.settle("/semaphore/locks", 0)
			s.see()
			s.setLimit("b", 0)
			s.awaitLimit("c", 0)
			s.acquire("c", within(100*time.Millisecond))
			s.release("a")
			s.release("b")
			s.settle("/semaphore/leases", 0)
		},
	},
	{
		name: "semaphore mutex: held, waited for, not re-entered",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "semaphoremutex"}, "a", "b")
			s.acquire("a")
			s.settle("/locks", 0)
			s.acquire("a", within(100*time.Millisecond))
			s.settle("/leases", 1)
			s.settle("/locks", 0)
			s.note(s.tree(s.path), "the tree, held")
			s.enqueue("b", "/leases", 2)
			s.release("a")
			s.granted("b")
			s.release("a")
			s.release("b")
			s.settle("/leases", 0)
		},
	},
	{
		name: "multi-lock: all or nothing",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "multi", Paths: []string{s.path + "/1", s.path + "/2"}}, "a", "b")
			s.hire(godriver.Order{Recipe: "mutex", Path: s.path + "/2"}, "c")
			s.acquire("a")
			s.acquire("a")
			s.see()
			s.release("a")
			s.acquire("c", within(0))
			s.release("a")
			s.acquire("c")
			s.acquire("b", within(100*time.Millisecond))
			s.settle("/1", 0)
			s.settle("/2", 1)
			s.release("c")
			s.acquire("b")
			s.release("b")
			s.settle("/1", 0)
			s.settle("/2", 0)
		},
	},
	{
		name: "multi-lock: one time limit for all",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "multi", Paths: []string{s.path + "/1", s.path + "/2"}}, "a")
			s.hire(godriver.Order{Recipe: "mutex", Path: s.path + "/1"}, "b")
			s.hire(godriver.Order{Recipe: "mutex", Path: s.path + "/2"}, "c")
			s.acquire("b")
			s.acquire("c")
			a := s.crew["a"]
			answer := a.process.Order(a.order("acquire", within(12*time.Second)))
			s.awaitChildren(s.path+"/1", 2)
			time.Sleep(6 * time.Second)
			s.release("b")
			got := <-answer
			s.note(outcome(got, "held", "not acquired"), "a acquires")
			waited := time.Duration(got.Ended - got.Began)
			// With a limit for each lock it would have waited for 18 s, and no less.
			s.note(fmt.Sprint(waited >= 12*time.Second && waited < 18*time.Second), "a waited for the one limit")
			s.release("c")
			s.settle("/1", 0)
			s.settle("/2", 0)
		},
		intended: map[string]intended{
			"a waited for the one limit": {"false", "true", "the context bounds the whole acquire; Curator gives each lock the full time"},
		},
	},
	{
		name: "a path that is not valid",
		run: func(s *script) {
			k := s.client(s.kind)
			order := godriver.Order{Op: "contender", Client: k.name, Who: name("invalid"), Recipe: "mutex", Path: "no/slash"}
			a := <-k.process.Order(order)
			if a.Error == "" {
				order.Op = "acquire"
				a = <-k.process.Order(order)
			}
			s.note(outcome(a, "held", "not acquired"), "the constructor or the first acquire")
		},
	},
	{
		name: "the session is ended at the server",
		run: func(s *script) {
			s.hire(godriver.Order{Recipe: "mutex"}, "a", "b")
			s.acquire("a")
			s.enqueue("b", "", 2)
			a := s.crew["a"]
			s.endSession(a)
			s.granted("b")
			s.awaitEvent(a.name, a.lost, "lost")
			s.report("a")
			s.acquire("a", within(0))
			s.release("a")
			s.release("b")
			s.settle("", 0)
		},
		intended: map[string]intended{
			"a is asked":                {"acquired in this process true, owned by the caller true", "acquired in this process false, owned by the caller false", "a lease ends with its session"},
			"a acquires, if it is free": {"held", "error", "an owner that has lost a lock is not let in again on the strength of it: ErrLeaseLost"},
			"a releases":                {"done", "error", "Release tells of the loss: ErrLeaseLost"},
		},
	},
}

// A program that is ported from Java Curator finds the same outcomes, waits and trees, but for what is intended.
func TestAPortedScriptBehavesAsInJava(t *testing.T) {
	w := newWorld(t)
	for i, sc := range scripts {
		t.Run(sc.name, func(t *testing.T) {
			w := w.in(t)
			var runs [2][]scriptLine
			for j, kind := range []string{java, ours} {
				s := &script{
					world: w, kind: kind, path: fmt.Sprintf("/script-%d-%s/lock", i, kind),
					crew: map[string]*contender{}, waits: map[string]*wait{},
				}
				sc.run(s)
				runs[j] = s.lines
			}
			compareRuns(t, runs[0], runs[1], sc.intended)
		})
	}
}

func compareRuns(t *testing.T, java, ours []scriptLine, intended map[string]intended) {
	t.Helper()
	seen := map[string]bool{}
	for i := range max(len(java), len(ours)) {
		if i >= len(java) || i >= len(ours) || java[i].step != ours[i].step {
			t.Fatalf("the scripts part at line %d", i)
		}
		step, j, o := java[i].step, java[i].outcome, ours[i].outcome
		want, differs := intended[step]
		switch {
		case differs && j == want.java && o == want.ours:
			if !seen[step] {
				t.Logf("intended: %s\n  Curator: %s\n  here:    %s\n  because %s", step, j, o, want.why)
			}
			seen[step] = true
		case j != o:
			t.Errorf("line %d, %s:\nCurator: %s\nhere:    %s", i, step, j, o)
		}
	}
	for step := range intended {
		if !seen[step] {
			t.Errorf("%q does not differ as intended", step)
		}
	}
}

// endSession ends a contender's session as an administrator could: a second connection takes it over and closes it.
func (w *world) endSession(k *contender) {
	w.t.Helper()
	w.record.Kill(w.t, k.session)
	w.takeSession(k.session)
}

// takeSession takes a session over and closes it.
func (w *world) takeSession(session string) {
	w.t.Helper()
	id, err := strconv.ParseUint(session, 10, 64)
	if err != nil {
		w.t.Fatalf("session %q: %v", session, err)
	}
	err = zookeeper.EndSession(w.addr, int64(id))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		await.Fatalf(w.t, "the end of the session: %v", err)
	case err != nil:
		w.t.Fatalf("end session %d: %v", id, err)
	}
}

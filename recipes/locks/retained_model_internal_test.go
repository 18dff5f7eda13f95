package locks

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/explore"
	"github.com/gocurator/curator/recipes/internal/queue"
)

var modelStates = flag.Int("model.states", 1_500, "how many states of each scene of retained locks are visited; 0: all")

// The model is one local queue beside a contender of another client. Each section under retainedQueues.mu is one step,
// and calls the real function on a queue and residences made of the state. Between the sections stand goroutines: the
// acquires, and one for each residence that decides about it. The residence's own steps without mu (situation, admit,
// takeForNews) are the model's. Time is two facts of a residence: it is beyond Busy, and beyond Idle.
//
// In every state at most one hold lasts, and its node is the first; the right to contend is with one front if the queue
// is busy, and with none otherwise; the line is in order of arrival; an acquire waits for no idle node; another client
// waits for at most AfterDemand holds that are decided upon after it was heard of, and for no try. From every state all
// acquires end, the other client is let in, and no node is left, without a fault. Not here: a downgrade, a request to
// leave, listings that are lost or age.
//
// Visited, and the greatest distance from the start; * is a part, of so many states by -model.states:
//
//	two acquires             7,782 states, 35 steps
//	two acquires, cancelled  4,874, 27
//	two acquires, a loss     100,000*, 24
//	an acquire and a try     100,000*, 25
//	all                      100,000*, 14
//
// A spot is where an acquire is.
type spot byte

const (
	outside    spot = iota
	entering        // before it looks for an idle node
	enqueuing       // there was none
	admitting       // has taken out an idle residence
	inLine          // waits for its baton
	chosen          // a residence has taken it out
	given           // its baton is on its way
	contending      // the front, without a node
	queueing        // the front, with a node
	holding
)

type localAcquire struct {
	at        spot
	try       bool
	cancelled bool // its context has ended
	leaves    bool // retainedWaiter.leaves
	hold      bool // the baton is a hold
	lost      bool // the baton is lost
	place     bool // the baton has a place at the servers
	res       int8 // the residence whose hold it has, or gets
	order     int8 // arrival
	calls     int8 // left
}

// A post is where the goroutine is that decides about a residence.
type post byte

const (
	unoccupied post = iota // no goroutine decides: it is held, idle, or over
	looking                // decide, or admitTo if admits, before it knows the situation
	judging
	handing    // admit, before it has a hold
	publishing // with one
	passing    // before the removal of the node
)

// A stay is a residence.
type stay struct {
	there, front, gone, heldBack bool
	lapsed, late                 bool // its base has ended; lost is to come
	passes                       bool // lost is to pass the queue on
	held                         bool // has a hold
	post                         post
	admits, stayed, settling     bool // in admitTo; was idle; is idle, before takeForNews
	seen                         demand
	next                         int8 // the acquire that gets the node
	handed, after, since         int8 // since: hand-overs decided after the news
	listed, demanded, event      bool // alone by its listing; heard of another; the event is on its way
	old, unwanted                bool // longer than Busy; idle for longer than Idle
}

const (
	ofOther int8 = iota + 1
	ofFront
	dying
	ofStay // and the next
)

// A tenancy is a state.
type tenancy struct {
	acquires                [3]localAcquire
	stays                   [2]stay
	line                    [3]int8 // who waits, by number from 1
	nodes                   [6]int8 // at the servers, the first ones first
	kept                    int8    // the idle residence, by number from 1
	busy, unheld, proven    bool
	arrivals                int8
	others, losses, cancels int8 // left
	most, afterDemand       int8
	wrong                   string
	broken                  string
}

var modelNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const modelBusy, modelIdle = time.Second, time.Millisecond

// residents is the queue, its acquires and its residences, as the library has them.
type residents struct {
	queue    *retainedQueue
	acquires [3]*retainedWaiter
	stays    [2]*residence
}

// with calls a function of the library on what the state stands for, and returns the state after it.
func (w tenancy) with(call func(residents)) tenancy {
	key := retainedKey{retention: retention{
		most: int(w.most), afterDemand: int(w.afterDemand), busy: modelBusy, idle: modelIdle,
	}}
	q := &retainedQueue{key: key, busy: w.busy, unheld: w.unheld, used: modelNow}
	q.all = &retainedQueues{byKey: map[retainedKey]*retainedQueue{key: q}}
	if w.proven {
		q.history.streak = minOwnGrants
	}
	r := residents{queue: q}
	for i, a := range w.acquires {
		r.acquires[i] = &retainedWaiter{
			lock: &RetainedLock{key: key}, try: a.try, leaves: a.leaves, turn: make(chan baton, 1),
		}
	}
	for i, s := range w.stays {
		r.stays[i] = &residence{
			queue: q, front: s.front, gone: s.gone, heldBack: s.heldBack, handed: int(s.handed), after: int(s.after),
			holdEnded: modelNow,
		}
		if s.held {
			r.stays[i].hold = &hold{}
		}
		if s.unwanted {
			r.stays[i].holdEnded = modelNow.Add(-modelIdle)
		}
	}
	if w.kept > 0 {
		q.kept = r.stays[w.kept-1]
	}
	for _, i := range w.line {
		if i > 0 {
			q.waiting = append(q.waiting, r.acquires[i-1])
		}
	}
	call(r)
	w.busy, w.unheld, w.proven = q.busy, q.unheld, q.history.proven(modelNow)
	w.line, w.kept = [3]int8{}, 0
	for i, waiter := range q.waiting {
		w.line[i] = int8(1 + slices.Index(r.acquires[:], waiter))
	}
	if q.kept != nil {
		w.kept = int8(1 + slices.Index(r.stays[:], q.kept))
	}
	for i, s := range r.stays {
		w.stays[i].front, w.stays[i].gone, w.stays[i].heldBack, w.stays[i].held = s.front, s.gone, s.heldBack, s.hold != nil
	}
	for i, waiter := range r.acquires {
		if w.acquires[i].leaves = waiter.leaves; len(waiter.turn) > 0 {
			w.give(i, <-waiter.turn)
		}
	}
	return w
}

// give passes on a baton.
func (w *tenancy) give(i int, b baton) {
	a := &w.acquires[i]
	a.at, a.hold, a.lost, a.place = given, b.grant != nil, b.lost, b.contender != nil
}

// pass is retainedQueue.pass: with the front's node, if it has one.
func (w tenancy) pass(place bool) tenancy {
	at := slices.Index(w.nodes[:], ofFront)
	var c *queue.Contender
	if place && w.line[0] > 0 {
		c = &queue.Contender{}
	} else if place {
		w.nodes[at] = dying
	}
	return w.with(func(r residents) { r.queue.pass(c) })
}

// putBack is retainedQueue.putBack.
func (w tenancy) putBack(i int) tenancy {
	var front, leaves bool
	var tries []int
	idle := -1
	next := w.with(func(r residents) {
		var stays *residence
		var waiters []*retainedWaiter
		front, leaves, waiters, stays = r.queue.putBackLocked(r.acquires[i])
		idle = slices.Index(r.stays[:], stays)
		for _, try := range waiters {
			tries = append(tries, slices.Index(r.acquires[:], try))
		}
	})
	for _, try := range tries {
		next.give(try, baton{lost: true})
	}
	switch {
	case front, leaves:
		next.give(i, baton{lost: !front})
	default:
		next.acquires[i].at = inLine
		if idle >= 0 && w.broken != "an idle residence stays as it is" {
			next.stays[idle].post, next.stays[idle].stayed = looking, true
		} else if idle >= 0 {
			next.kept = int8(1 + idle)
		}
	}
	return next
}

func (w *tenancy) appendNode(node int8) { w.nodes[slices.Index(w.nodes[:], 0)] = node }

// demand is what a residence has heard.
func (s stay) demand() demand {
	switch {
	case s.demanded:
		return demanded
	case s.listed:
		return alone
	default:
		return unknown
	}
}

// situation is what a residence knows after it has looked.
func (w tenancy) situation(s stay) situation {
	known := situation{
		news: news{demand: s.seen, timeout: time.Hour}, now: modelNow, usable: !s.lapsed,
		handed: int(s.handed), after: int(s.after),
	}
	if s.old {
		known.age = modelBusy
	}
	return known
}

// takeForNews is residence.takeForNews.
func (w tenancy) takeForNews(i int8) tenancy {
	s := w.stays[i]
	taken := false
	w = w.with(func(r residents) {
		switch d := s.demand(); {
		case d == demanded, s.lapsed && !s.late:
			taken = r.stays[i].take(false)
		case d == alone:
			taken = r.stays[i].take(true)
		}
	})
	if taken {
		w.stays[i].post, w.stays[i].stayed = looking, true
	}
	return w
}

func (w tenancy) explore(limit int) (explore.Result, error) {
	return explore.Model[tenancy]{
		Start:   w,
		Key:     func(key []byte, w tenancy) []byte { return fmt.Append(key, w) },
		Steps:   func(w tenancy, step func(string, tenancy)) { w.steps(step) },
		Check:   tenancy.check,
		IsEnd:   tenancy.isEnd,
		IsFault: func(name string) bool { return strings.HasSuffix(name, "!") },
		Limit:   limit,
	}.Explore()
}

// newTenancy makes a scene with so many calls of each acquire, the last of which is a try.
func newTenancy(calls [3]int8, change func(w *tenancy)) tenancy {
	w := tenancy{proven: true, most: 1, others: 1}
	for i, n := range calls {
		w.acquires[i].calls = n
	}
	w.acquires[2].try = true
	change(&w)
	return w
}

// after takes steps, and panics if one is not possible.
func (w tenancy) after(names ...string) tenancy {
	for _, name := range names {
		var next []tenancy
		w.steps(func(possible string, after tenancy) {
			if possible == name {
				next = append(next, after)
			}
		})
		w = next[0]
	}
	return w
}

// newHandover makes a scene that begins when an acquire has been taken out to get the node.
func newHandover(change func(w *tenancy)) tenancy {
	return newTenancy([3]int8{2, 1, 0}, change).after(
		"acquire 0 is called!", "acquire 0 looks for an idle node", "acquire 0 enters the local queue",
		"acquire 0 creates its node", "acquire 0 is admitted", "acquire 1 is called!", "acquire 1 looks for an idle node",
		"acquire 1 enters the local queue", "acquire 0 releases", "residence 0 looks", "residence 0 decides")
}

func TestRetainedQueueIsRightInEveryState(t *testing.T) {
	for name, w := range map[string]tenancy{
		"an acquire":              newTenancy([3]int8{2, 0, 0}, func(w *tenancy) { w.losses = 1 }),
		"two acquires":            newTenancy([3]int8{1, 1, 0}, func(w *tenancy) { w.afterDemand = 1 }),
		"two acquires, a loss":    newTenancy([3]int8{1, 1, 0}, func(w *tenancy) { w.losses = 1 }),
		"two acquires, cancelled": newTenancy([3]int8{1, 1, 0}, func(w *tenancy) { w.cancels, w.others = 1, 0 }),
		"an acquire and a try":    newTenancy([3]int8{1, 0, 1}, func(w *tenancy) { w.losses = 1 }),
		"a lost hand-over":        newHandover(func(w *tenancy) { w.losses, w.others = 1, 0 }),
		"all": newTenancy([3]int8{2, 2, 1}, func(w *tenancy) {
			w.losses, w.cancels, w.afterDemand = 1, 1, 1
		}),
	} {
		t.Run(name, func(t *testing.T) {
			result, err := w.explore(*modelStates)
			if t.Log(result); err != nil {
				t.Error(err)
			}
		})
	}
}

// What the local queue relies on.
func TestModelOfRetainedQueueFindsWhatIsBroken(t *testing.T) {
	for broken, test := range map[string]struct {
		world tenancy
		want  string
	}{
		"another client waits for Busy": {
			newTenancy([3]int8{1, 1, 0}, func(*tenancy) {}), "another client waits for more holds than AfterDemand",
		},
		"an idle residence stays as it is": {
			newHandover(func(w *tenancy) { w.losses, w.others = 1, 0 }), "an acquire waits for an idle node",
		},
	} {
		test.world.broken = broken
		if _, err := test.world.explore(20_000); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", broken, err, test.want)
		}
	}
}

package locks

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
)

// Each step of a hand-over by itself, with what can come in between.

const handoverPath = "/locks/a"

type handoverTest struct {
	*testing.T
	server *zktest.Server
	client *framework.Client
	mutex  *RetainedLock
	link   *zktest.Link

	journal journaltest.Journal
	acts    atomic.Pointer[func(steps.Kind)] // after a step
}

// Step is for steps.Observer.
func (t *handoverTest) Step(s steps.Step) {
	t.journal.Of("client").Step(s)
	if acts := t.acts.Load(); acts != nil {
		(*acts)(s.Kind)
	}
}

// act has a function called after each step of the client. It may act only at those at which no mutex is held.
func (t *handoverTest) act(f func(after steps.Kind)) { t.acts.Store(&f) }

func inHandoverTest(t *testing.T, test func(*handoverTest)) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		link := server.NewLink()
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(link.DialContext), framework.WithSessionTimeout(10*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		t.Cleanup(func() { // before the client is closed
			synctest.Wait()
			if n := RetainedQueues(client); n > 0 {
				t.Errorf("got %d local queues in use, want none", n)
			}
		})
		h := &handoverTest{T: t, server: server, client: client, link: link}
		steps.Attach(client, h)
		h.mutex = NewInterProcessMutex(client, handoverPath).Retained()
		test(h)
	})
}

func (t *handoverTest) acquire() *Lease {
	t.Helper()
	lease, err := t.mutex.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

type acquired struct {
	lease *Lease
	err   error
}

func (t *handoverTest) begin(ctx context.Context) <-chan acquired {
	t.Helper()
	got := make(chan acquired, 1)
	mutex := t.mutex
	go func() {
		lease, err := mutex.Acquire(ctx)
		got <- acquired{lease, err}
	}()
	synctest.Wait()
	return got
}

func (t *handoverTest) get(got <-chan acquired) *Lease {
	t.Helper()
	select {
	case a := <-got:
		if a.err != nil {
			t.Fatal(a.err)
		}
		return a.lease
	case <-time.After(time.Hour):
		t.Fatal("got no return of Acquire within an hour, want one")
		return nil
	}
}

func (t *handoverTest) waits(got <-chan acquired) {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-got:
		t.Fatalf("it should wait, got %v, %v", a.lease, a.err)
	default:
	}
}

func (t *handoverTest) release(l *Lease) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// released is the first half of a release: the last lease has left, and the node has not been handed over yet.
func (t *handoverTest) released(l *Lease) *residence {
	t.Helper()
	if last, err := l.grant.Leave(member{l.leaseState}); !last || err != nil {
		t.Fatal(last, err)
	}
	l.end(l.errReleased())
	return residenceOf(l)
}

// residenceOf is the residence of a lease's node.
func residenceOf(l *Lease) *residence { return l.grant.Keeper.(*hold).residence }

// handOver is the second half of a release.
func handOver(l *Lease) bool {
	released, _ := residenceOf(l).freed(l.grant.Keeper.(*hold))
	return released.HandedOver
}

// takeFirst takes the first waiter out of a queue, to give it the baton.
func takeFirst(q *retainedQueue) *retainedWaiter {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	return q.firstLocked()
}

// giveBack undoes takeFirst.
func giveBack(w *retainedWaiter) {
	w.queue.all.mu.Lock()
	defer w.queue.all.mu.Unlock()
	w.queue.waiting = slices.Insert(w.queue.waiting, 0, w)
}

// newWaiter is a waiter that does not look.
func (t *handoverTest) newWaiter() (w *retainedWaiter, ahead int) {
	w = &retainedWaiter{lock: t.mutex, turn: make(chan baton, 1)}
	ahead, _ = retainedQueuesOf(t.client).enqueue(w)
	return w, ahead
}

// ctx ends when another goroutine has taken the waiter out of the local queue, and before it has the baton.
func TestAWaiterThatWasChosenTakesTheGrantAlthoughItsContextHasEnded(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		first := t.acquire()
		ctx, cancel := context.WithCancel(t.Context())
		waiter := t.begin(ctx)
		local := residenceOf(first).queue
		w := takeFirst(local)
		cancel()
		t.waits(waiter) // for the baton
		giveBack(w)
		t.released(first)
		if !handOver(first) {
			t.Error("got a node that is not handed over, want it handed over")
		}
		lease := t.get(waiter)
		if lease.FencingCount() != 1 || lease.Err() != nil {
			t.Errorf("the lease has count %d, error %v", lease.FencingCount(), lease.Err())
		}
		t.release(lease)
	})
}

func TestAWaiterThatWasChosenPassesTheRightToContendOnIfItsContextHasEnded(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		first := t.acquire()
		ctx, cancel := context.WithCancel(t.Context())
		waiter, next := t.begin(ctx), t.begin(t.Context())
		local := residenceOf(first).queue
		w := takeFirst(local)
		cancel()
		t.waits(waiter)
		r := t.released(first)
		before := t.server.Counts()[zktest.OpCreate2]
		giveBack(w)
		r.spent.Store(true)
		if handOver(first) {
			t.Error("got a spent node handed over, want it removed")
		}
		if a := <-waiter; !errors.Is(a.err, context.Canceled) {
			t.Errorf("got %v, %v", a.lease, a.err)
		}
		t.release(t.get(next))
		if n := t.server.Counts()[zktest.OpCreate2] - before; n != 1 {
			t.Errorf("%d nodes were made for one hold", n)
		}
	})
}

// What comes between the end of the last lease and the hand-over keeps the node from being handed over, and from
// nothing else.
func TestHandoverAfterTheEndOfTheLastLease(t *testing.T) {
	node := func(g *queue.Grant) string { return g.Node }
	for name, test := range map[string]struct {
		meanwhile func(*handoverTest, *queue.Grant)
		want      bool
	}{
		"nothing":     {func(*handoverTest, *queue.Grant) {}, true},
		"other data":  {func(t *handoverTest, g *queue.Grant) { _ = t.server.SetData(node(g), []byte("x")) }, true},
		"a request":   {func(t *handoverTest, g *queue.Grant) { _ = t.server.SetData(node(g), []byte(revokeMessage)) }, false},
		"the removal": {func(t *handoverTest, g *queue.Grant) { _ = t.server.Delete(node(g)) }, false},
		"a lapse": {func(t *handoverTest, _ *queue.Grant) {
			t.link.Mute()
			time.Sleep(9950 * time.Millisecond)
			t.link.Heal()
		}, false},
		"the end of the session": {func(t *handoverTest, g *queue.Grant) {
			t.server.ExpireSession(g.Session.ID())
			<-g.Session.Done()
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inHandoverTest(t, func(t *handoverTest) {
				first := t.acquire()
				waiters := []<-chan acquired{t.begin(t.Context()), t.begin(t.Context())}
				time.Sleep(60 * time.Millisecond) // the node is watched
				t.released(first)
				synctest.Wait()
				test.meanwhile(t, first.grant)
				synctest.Wait()
				over := handOver(first)
				if over != test.want {
					t.Errorf("handed over: got %v, want %v", over, test.want)
				}
				for _, waiter := range waiters { // in their order
					lease := t.get(waiter)
					if got := lease.FencingCount() > 0; got != over && waiter == waiters[0] {
						t.Errorf("the next one has count %d", lease.FencingCount())
					}
					t.release(lease)
				}
			})
		})
	}
}

// The session knows of the removal before it calls those who watch the node, one by one: the base may be the last.
func TestNodeThatIsKnownToBeGoneIsNotHandedOver(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		first := t.acquire()
		waiter := t.begin(t.Context())
		time.Sleep(60 * time.Millisecond) // the node is watched
		t.released(first)
		decided, over := true, false
		for range 100 { // the base is seldom the first
			w := first.grant.Session.WatchData(first.grant.Node, func() {
				if !decided {
					decided, over = true, handOver(first)
				}
			})
			defer w.Stop()
		}
		synctest.Wait()
		decided = false
		if err := t.server.Delete(first.grant.Node); err != nil {
			t.Fatal(err)
		}
		lease := t.get(waiter)
		if !decided || over || lease.FencingToken() <= first.FencingToken() {
			t.Errorf("got a decision: %t, handed over: %t, token %d after %d; want a later node", decided, over,
				lease.FencingToken(), first.FencingToken())
		}
		t.release(lease)
	})
}

// The grant is lost before the waiter has looked at it: the waiter contends again, and hears nothing of it.
func TestAGrantThatIsLostOnTheWayIsNoAnswer(t *testing.T) {
	for name, end := range map[string]func(*handoverTest, string){
		"removed":      func(t *handoverTest, node string) { _ = t.server.Delete(node) },
		"session over": func(t *handoverTest, _ string) { t.server.CutAll(); t.server.ExpireSession(t.server.Sessions()[0].ID) },
	} {
		t.Run(name, func(t *testing.T) {
			inHandoverTest(t, func(t *handoverTest) {
				first := t.acquire()
				slow, behind := t.newWaiter()
				next := t.begin(t.Context())
				time.Sleep(60 * time.Millisecond)
				t.release(first) // to the waiter that does not look
				synctest.Wait()
				end(t, first.grant.Node)
				lease := t.get(next)
				if lease.FencingToken() <= first.FencingToken() {
					t.Errorf("got fencing token %d after %d, want a greater one: another node",
						lease.FencingToken(), first.FencingToken())
				}
				if g, _, err := slow.wait(t.Context(), behind, time.Hour); g != nil || !errors.Is(err, session.ErrNodeDeleted) {
					t.Errorf("got %v, %v, want %v", g, err, session.ErrNodeDeleted)
				}
				t.release(lease)
			})
		})
	}
}

// A grant of the servers may be lost before the local queue knows of it.
func TestAGrantThatHasEndedIsNoFront(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		lease := t.acquire()
		r := newResidence(residenceOf(lease).queue, &t.mutex.recipe)
		base := residenceOf(lease).base
		t.release(lease)
		if h := r.begin(base); h != nil || r.front {
			t.Errorf("a node that is being removed has the hold %v", h)
		}
	})
}

// A waiter that ends without looking, since the context that it waits with panics, takes no turn along: whether it has
// been given the node or not.
func TestAWaiterThatDoesNotLookLetsTheOthersIn(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		first := t.acquire()
		var waiters []*retainedWaiter
		for range 3 {
			w, _ := t.newWaiter()
			waiters = append(waiters, w)
		}
		last := t.begin(t.Context())
		t.release(first) // gives the node to the first of them
		for _, w := range waiters {
			w.leave()
		}
		t.release(t.get(last))
	})
}

// meanwhile has something happen once, after a step of the residence.
func (t *handoverTest) meanwhile(at steps.Kind, happens func()) {
	t.act(func(after steps.Kind) {
		if after == at {
			t.acts.Store(nil)
			happens()
			time.Sleep(10 * time.Millisecond) // it is heard of
		}
	})
}

// The listing is asked for again when it is as old as a session can be silent, and once.
func TestNewsOfAListingThatIsAskedForAgain(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Minute))
		for range 2 {
			t.release(t.acquire())
		}
		last := t.acquire()
		t.release(last)
		synctest.Wait()
		r, want := residenceOf(last), news{demand: alone, timeout: 10 * time.Second}
		wants := func(when string) {
			t.Helper()
			got := r.news()
			if got.silence = 0; got != want {
				t.Errorf("%s: got %+v, want %+v", when, got, want)
			}
		}
		time.Sleep(9 * time.Second)
		t.release(t.acquire())
		want.listed = 9 * time.Second
		wants("before it is old")
		execute := t.server.HoldRequest(zktest.Match{Op: zktest.OpGetChildren2})
		time.Sleep(time.Second) // the idle node is looked at
		for range 2 {
			time.Sleep(time.Millisecond)
			t.release(t.acquire())
		}
		want.listed, want.asking, want.asked = 10002*time.Millisecond, true, 2*time.Millisecond
		wants("without an answer")
		execute()
		synctest.Wait()
		want.listed, want.asking, want.asked = 2*time.Millisecond, false, 0
		wants("with one")
		time.Sleep(time.Minute)
	})
}

// Another client comes after it was found that none waits, and before the node is idle: its event finds nothing to
// take.
func TestDemandThatComesWhileTheNodeBecomesIdleIsHeard(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Minute))
		for range 3 {
			t.release(t.acquire())
		}
		time.Sleep(10 * time.Millisecond)
		lease := t.acquire()
		t.meanwhile(steps.Judged, func() {
			if err := t.server.Create(handoverPath+"/other-lock-0000000099", nil); err != nil {
				t.Error(err)
			}
		})
		t.release(lease)
		time.Sleep(10 * time.Millisecond)
		if got, want := len(t.server.Children(handoverPath)), 1; got != want {
			t.Errorf("got %d nodes, want %d: that of the other client", got, want)
		}
	})
}

// An idle node is looked at, by its timer or at news, and is out of the queue for that time.
func TestTryWhileAnIdleNodeIsLookedAtTakesIt(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Minute))
		for range 2 {
			t.release(t.acquire())
		}
		last := t.acquire()
		tried, decisions := make(chan acquired, 1), 0
		t.act(func(after steps.Kind) {
			if after == steps.Judged {
				decisions++
			}
			if after == steps.Judged && decisions == 2 { // the first is the release's
				go func() {
					lease, err := t.mutex.TryAcquire(t.Context())
					tried <- acquired{lease, err}
				}()
				synctest.Wait()
			}
		})
		t.release(last)
		time.Sleep(10 * time.Second)
		lease := t.get(tried)
		if lease.FencingToken() != last.FencingToken() {
			t.Errorf("got token %d, want %d of the idle node", lease.FencingToken(), last.FencingToken())
		}
		t.release(lease)
		time.Sleep(time.Minute)
	})
}

// The node is lost after a waiter was chosen for it. The waiter is served all the same, and so is the one behind it.
func TestLossWhileTheNextHolderIsAdmitted(t *testing.T) {
	for name, test := range map[string]struct {
		at      steps.Kind
		waiters int
	}{
		"before its hold, another waits": {steps.Chosen, 2},
		"before its hold, none waits":    {steps.Chosen, 1},
		"after its hold, another waits":  {steps.Handed, 2},
		"after its hold, none waits":     {steps.Handed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inHandoverTest(t, func(t *handoverTest) {
				first := t.acquire()
				var waiters []<-chan acquired
				for range test.waiters {
					waiters = append(waiters, t.begin(t.Context()))
				}
				time.Sleep(60 * time.Millisecond) // the node is watched
				t.meanwhile(test.at, func() { _ = t.server.Delete(first.grant.Node) })
				t.release(first)
				leases := make(chan *Lease, len(waiters))
				for _, waiter := range waiters {
					go func() {
						lease := t.get(waiter)
						leases <- lease
						_ = lease.Release()
					}()
				}
				for range waiters {
					if lease := <-leases; lease.FencingToken() <= first.FencingToken() {
						t.Errorf("got token %d, want one of a later node than %d", lease.FencingToken(), first.FencingToken())
					}
				}
				time.Sleep(2 * time.Second)
				if left := journaltest.Left(t.journal.Events()); len(left) > 0 {
					t.Errorf("got %q left, want nothing", left)
				}
			})
		})
	}
}

// away has a waiter chosen for a node that is then lost. Before the waiter is back in the local queue, happens runs.
func (t *handoverTest) away(happens func()) (waiter <-chan acquired) {
	t.Helper()
	t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Minute))
	for range 2 {
		t.release(t.acquire())
	}
	first := t.acquire()
	waiter = t.begin(t.Context())
	time.Sleep(60 * time.Millisecond) // the node is watched
	t.meanwhile(steps.Chosen, func() {
		_ = t.server.Delete(first.grant.Node)
		synctest.Wait()
		happens()
	})
	t.release(first)
	return waiter
}

// Another acquire has held a node of its own meanwhile, which has become idle: the waiter gets that.
func TestWaiterThatIsPutBackBehindAnIdleNodeGetsIt(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		var other *Lease
		var idle time.Time
		lease := t.get(t.away(func() {
			other = t.acquire()
			t.release(other)
			idle = time.Now()
		}))
		if lease.FencingToken() != other.FencingToken() || lease.FencingCount() != 1 {
			t.Errorf("got hold %d of token %d, want the second of token %d", lease.FencingCount(), lease.FencingToken(), other.FencingToken())
		}
		if waited := time.Since(idle); waited > 10*time.Millisecond {
			t.Errorf("it waited for %v beside an idle node, want 10ms, for which it was away", waited)
		}
		t.release(lease)
		time.Sleep(time.Minute)
	})
}

// Another acquire has the lock meanwhile, and listens for contenders.
func TestWaiterThatIsPutBackIsHeardByTheHolder(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		var other *Lease
		waiter := t.away(func() {
			other = t.acquire()
			other.Contended()
		})
		synctest.Wait()
		select {
		case <-other.Contended():
		default:
			t.Error("got no notice of the waiter, want one")
		}
		t.release(other)
		t.release(t.get(waiter))
		time.Sleep(time.Minute)
	})
}

func TestIdleNodeThatIsLostIsInNoLocalQueue(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Minute))
		for range minOwnGrants {
			t.release(t.acquire())
		}
		time.Sleep(time.Second) // the node is watched
		queues := retainedQueuesOf(t.client)
		kept := func() *residence {
			queues.mu.Lock()
			defer queues.mu.Unlock()
			return queues.byKey[t.mutex.key].kept
		}
		idle := kept()
		if idle == nil {
			t.Fatal("got no idle node, want one")
		}
		if err := t.server.Delete(idle.base.Node); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := kept(); got != nil {
			t.Errorf("got the idle node %s, which is lost, want none", got.base.Name)
		}
	})
}

// An idle node is lost while an acquire takes it. The acquire gets a node of its own.
func TestIdleNodeThatIsLostWhileItIsTaken(t *testing.T) {
	for name, at := range map[string]steps.Kind{"before its hold": steps.Chosen, "after its hold": steps.Handed} {
		t.Run(name, func(t *testing.T) {
			inHandoverTest(t, func(t *handoverTest) {
				t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Second))
				for range 3 {
					t.release(t.acquire())
				}
				held := t.acquire()
				time.Sleep(60 * time.Millisecond) // the node is watched
				t.release(held)
				t.meanwhile(at, func() { _ = t.server.Delete(held.grant.Node) })
				lease := t.acquire()
				if lease.FencingToken() <= held.FencingToken() {
					t.Errorf("got token %d, want one of a later node than %d", lease.FencingToken(), held.FencingToken())
				}
				t.release(lease)
				time.Sleep(2 * time.Second)
			})
		})
	}
}

// The session of an idle node ends while an acquire takes the node, and the lock hears of it late, since another
// binding takes a moment for its end. The acquire gets a node of its own.
func TestIdleNodeWhoseSessionEndsWhileItIsTaken(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Second))
		for range 3 {
			t.release(t.acquire())
		}
		held := t.acquire()
		session := held.grant.Session
		if _, err := session.Bind(func(error) { time.Sleep(time.Second) }, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond) // the node is watched
		t.release(held)
		t.meanwhile(steps.Handed, func() {
			t.server.ExpireSession(session.ID())
			time.Sleep(70 * time.Millisecond)
		})
		lease, err := t.mutex.Acquire(t.Context())
		if err != nil {
			t.Fatalf("got %v, want a lease on another node", err)
		}
		t.release(lease)
		time.Sleep(2 * time.Second)
	})
}

// A residence ends while its goroutine sets the watch on the directory: the goroutine that ends it finds no watch to
// take off.
func TestResidenceThatEndsWhileItBeginsToListenLeavesNoWatch(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Minute))
		for range 3 {
			t.release(t.acquire())
		}
		r := retainedQueuesOf(t.client).takeKept(t.mutex.key)
		r.listen(func(dir string, wake func()) session.Watch {
			r.stopListening()
			return r.base.Session.WatchChildren(dir, wake)
		})
		if w := r.listener.Load(); w != nil {
			t.Errorf("got %v, want no watch", *w)
		}
		r.decide(true)
		time.Sleep(time.Minute)
		if got := t.server.WatchCount(); got != 0 {
			t.Errorf("got %d watches at the server, want none", got)
		}
	})
}

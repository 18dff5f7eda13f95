//go:build linux

package interop_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// crossPairs are a kind to which something happens, and one that stands behind it.
var crossPairs = [][2]string{{ours, java}, {java, ours}, {python, ours}, {ours, python}}

// A process is killed when its node is made and it does not know yet. The node stays until the session ends; no other
// process removes it, and the next one waits for that. An administrator ends the session, so that no clock decides.
func TestAContenderIsKilledBetweenCreateAndList(t *testing.T) {
	w := newWorld(t)
	for _, pair := range crossPairs {
		t.Run(pair[0]+" is killed, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/killed/" + name("mutex")
			p := newProxy(t, w.addr)
			victim := w.fresh(pair[0], nil)
			killed := w.clientIn(victim, pair[0], p.addr()).contender(mutexAt(path))
			lost := p.loseCreate(silence)
			go killed.process.Order(killed.order("acquire"))
			<-lost.happened
			node := w.awaitChildren(path, 1)[0]
			waiter := w.mutex(pair[1], path)
			wait := waiter.queue(path)
			victim.Kill()
			wait.waits()
			if there, _, err := w.observer.Exists(path + "/" + node); err != nil || !there {
				t.Errorf("the node of %s was removed: %v", pair[0], err)
			}
			ending := godriver.Now()
			w.endSession(killed)
			if got := wait.granted(); got.Ended < ending {
				t.Errorf("let in %v before the session was ended", time.Duration(ending-got.Ended))
			}
			waiter.release()
			w.awaitChildren(path, 0)
		})
	}
}

// The answer to a creation is lost with the connection. The client comes back, finds its node, and goes on with it:
// there is no second one, and the one who waits keeps waiting.
func TestALostReplyIsNoSecondNodeBesideAnotherLanguage(t *testing.T) {
	w := newWorld(t)
	for _, pair := range crossPairs {
		t.Run(pair[0]+" loses it, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/lost/" + name("mutex")
			p := newProxy(t, w.addr)
			loser := w.clientIn(w.fresh(pair[0], nil), pair[0], p.addr()).contender(mutexAt(path))
			waiter := w.mutex(pair[1], path)
			lost := p.loseCreate(cut)
			answer := loser.process.Order(loser.order("acquire"))
			<-lost.happened
			node := w.awaitChildren(path, 1)[0]
			wait := waiter.queue(path)
			got := w.wait(loser.process, "acquire", answer)
			if !got.OK || got.Nodes[0] != node {
				t.Errorf("acquired with %v, not %s", got.Nodes, node)
			}
			wait.waits()
			w.awaitChildren(path, 2)
			loser.release()
			wait.granted()
			waiter.release()
			w.awaitChildren(path, 0)
		})
	}
}

// The answer is lost, and the client gives up before it can come back. When it comes back, it removes its node; the one
// who waits does not.
func TestAContenderThatGaveUpRemovesItsOwnNode(t *testing.T) {
	w := newWorld(t)
	w.retries = 1
	w.timeout = 16 * time.Second // it must outlast the time that Curator needs to give up, half of it and more
	for _, pair := range crossPairs[:2] {
		t.Run(pair[0]+" gives up, "+pair[1]+" waits", func(t *testing.T) {
			w := w.in(t)
			path := "/gave-up/" + name("mutex")
			p := newProxy(t, w.addr)
			loser := w.clientIn(w.fresh(pair[0], nil), pair[0], p.addr()).contender(mutexAt(path))
			waiter := w.mutex(pair[1], path)
			lost := p.loseCreate(away)
			answer := loser.process.Order(loser.order("acquire", within(3*time.Second)))
			await.Receive(t, patience, pair[0]+" to create a node", lost.happened)
			w.awaitChildren(path, 1)
			wait := waiter.queue(path)
			a := await.Receive(t, patience, pair[0]+" to give up", answer)
			if a.OK {
				t.Error("acquired without a connection")
			}
			t.Logf("%s gave up after %v: %q", pair[0], time.Duration(a.Ended-a.Began).Round(100*time.Millisecond), a.Error)
			wait.waits()
			w.awaitChildren(path, 2)
			p.refuse(false)
			wait.granted()
			waiter.release()
			w.awaitChildren(path, 0)
		})
	}
}

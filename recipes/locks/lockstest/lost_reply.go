package lockstest

import (
	"slices"
	"testing"
)

func lostReply() []law {
	return []law{
		{name: "G6 a lost reply is no second node/adopted", unless: composed, run: aLostReplyIsNoSecondNode},
		{name: "G6 a lost reply is no second node/in a queue", run: aLostReplyKeepsThePlace},
		{name: "G6 a lost reply is no second node/again and again", run: lostRepliesAreNoSecondNodes},
		{name: "G6 a lost reply is no second node/the session ends", run: aNodeOfTheOldSessionIsNotAdopted},
		{name: "G6 a lost reply is no second node/the listing's reply", unless: composed, run: aLostListingIsAskedForAgain},
	}
}

// prepare makes the directories, so that the next create is that of a node.
func (w *world) prepare() *contact {
	w.t.Helper()
	c := w.client()
	if err := c.start(c.lock()).get().Release(); err != nil {
		w.t.Fatal(err)
	}
	return c
}

func aLostReplyIsNoSecondNode(t testing.TB, w *world) {
	c := w.prepare()
	c.link.Requests()
	dials, refusals := c.link.Dials(), c.link.Refusals(Create)
	c.link.DropReply(Create)
	lease := c.start(c.lock()).get()
	// A busy machine may break another connection, before the server has read the create, which is then sent twice.
	brokeOnce := w.exact || c.link.Dials() == dials+1
	refused := 0
	if !w.exact { // a server may have removed the parent since prepare
		refused = c.link.Refusals(Create) - refusals
	}
	if n := c.link.Requests()[Create] - refused; brokeOnce && w.recipe.Dirs == nil && n != 1 {
		t.Errorf("%d creates were sent: the node was not adopted", n)
	}
	if stat := w.stat(lease); stat.Czxid != lease.FencingToken() || stat.EphemeralOwner != c.session() {
		t.Errorf("the token is %#x, the node's czxid %#x, its owner %#x", lease.FencingToken(), stat.Czxid, stat.EphemeralOwner)
	}
	if nodes := w.nodes(); w.recipe.Dirs == nil && len(nodes) != 1 {
		t.Errorf("the nodes are %v", nodes)
	}
}

func aLostReplyKeepsThePlace(t testing.TB, w *world) {
	if w.recipe.Capacity != 1 {
		t.Skip("several come in together")
	}
	held := w.client().fill()
	first, second := w.client(), w.client()
	first.link.DropReply(Create)
	a := first.queue()
	b := second.queue()
	held.release(t)
	lease := a.get()
	b.isWaiting()
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	b.get()
}

func lostRepliesAreNoSecondNodes(t testing.TB, w *world) {
	c := w.prepare()
	for range 5 {
		for _, op := range []Op{Create, Renewal, GetChildren, Create} {
			c.link.DropReply(op)
		}
		lease := c.start(c.lock()).get()
		if nodes := w.nodes(); w.recipe.Dirs == nil && len(nodes) != 1 {
			t.Errorf("the nodes are %v", nodes)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
		w.isRemoved()
	}
}

// isRemoved checks that a release has left no node; a retained one may go a moment later.
func (w *world) isRemoved() {
	w.t.Helper()
	if w.recipe.Retained {
		w.untilGone("the retained node has gone", func() bool { return len(w.nodes()) == 0 })
	}
	if left := w.nodes(); len(left) > 0 {
		w.t.Errorf("after Release there is %v", left)
	}
}

// The create is executed, its answer lost, and the session ends before the client is back.
func aNodeOfTheOldSessionIsNotAdopted(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	c := w.client()
	old := c.session()
	c.link.CutAtReply(Create)
	waiter := c.start(c.lock())
	w.until("the node is there", func() bool { return len(w.added(before)) > 0 })
	orphans := w.added(before)
	if len(orphans) != 1 {
		t.Fatalf("the nodes are %v", orphans)
	}
	w.until("the link is cut", c.link.isCut) // the answer may come after the node is seen; a cut after Heal would last
	w.record.ExpireSession(c.link, old)
	c.link.Heal()
	w.until("it stands in the queue again", func() bool {
		now := w.added(before)
		return len(now) > 0 && !slices.Contains(now, orphans[0])
	})
	stat := w.server.Stat(w.added(before)[0])
	if session := c.session(); stat.EphemeralOwner != session || session == old {
		t.Errorf("the node belongs to %#x, the session is %#x, was %#x", stat.EphemeralOwner, session, old)
	}
	held.release(t)
	waiter.get()
}

// The create is answered, the listing in the same segment is not.
func aLostListingIsAskedForAgain(t testing.TB, w *world) {
	c := w.prepare()
	c.link.DropReply(GetChildren)
	lease := c.start(c.lock()).get()
	if nodes := w.nodes(); w.recipe.Dirs == nil && len(nodes) != 1 {
		t.Errorf("the nodes are %v", nodes)
	}
	w.stat(lease)
}

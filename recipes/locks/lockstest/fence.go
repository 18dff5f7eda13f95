package lockstest

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func fence() []law {
	return []law{
		{name: "G9 fence/tokens grow", unless: composed, run: tokensGrow},
		{name: "G9 fence/a guarded transaction", unless: composed, run: aGuardedTransactionFailsWithoutTheLock},
		{name: "G9 fence/a re-entry has its owner's token", unless: composed, run: reentriesShareTheToken},
	}
}

// Tokens grow from holder to holder: in one client and across clients, in one session and in the next, and when the
// directory was deleted and created again in between.
func tokensGrow(t testing.TB, w *world) {
	a, b := w.client(), w.client()
	var last int64
	hold := func(c *contact, lock locks.Lock) {
		t.Helper()
		lease := c.start(lock).get()
		if lease.FencingToken() <= last {
			t.Errorf("the token is %#x after %#x", lease.FencingToken(), last)
		}
		if czxid := w.stat(lease).Czxid; czxid != lease.FencingToken() {
			t.Errorf("the token is %#x, its node's czxid %#x", lease.FencingToken(), czxid)
		}
		last = lease.FencingToken()
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []*contact{a, b, a} {
		hold(c, c.lock())
		hold(c, c.rival())
	}
	a.expire()
	hold(a, a.lock())
	w.until("the directory is gone", func() bool { return w.server.Stat(w.path) == nil })
	hold(b, b.rival())
	hold(a, a.lock())
}

func aGuardedTransactionFailsWithoutTheLock(t testing.TB, w *world) {
	const guarded = "/guarded"
	if w.server.Stat(guarded) == nil {
		w.server.Create(guarded, nil)
	}
	c, other := w.client(), w.client()
	lease := c.start(c.lock()).get()
	write := func(text string, ops ...framework.Op) error {
		_, err := other.Transaction(t.Context(), append(ops, framework.SetOp(guarded, []byte(text), -1))...)
		return err
	}
	check := lease.Check()
	if err := write("held", check); err != nil {
		t.Error(err)
	}
	w.server.Delete(w.node(lease))
	if err := write("removed", check); !errors.Is(err, zk.ErrNoNode) {
		t.Errorf("a transaction whose check was made before the loss: %v", err)
	}
	_ = w.ends(lease)
	if err := write("lost", lease.Check()); !errors.Is(err, locks.ErrLeaseLost) {
		t.Errorf("a transaction of a lost lease: %v", err)
	}
	next := c.start(c.lock()).get()
	if err := next.Release(); err != nil {
		t.Error(err)
	}
	if err := write("released", next.Check()); !errors.Is(err, locks.ErrReleased) {
		t.Errorf("a transaction of a released lease: %v", err)
	}
	if got := string(w.server.Data(guarded)); got != "held" {
		t.Errorf("it was last written %q", got)
	}
}

func reentriesShareTheToken(t testing.TB, w *world) {
	if !w.recipe.Reentrant {
		t.Skip("it is not reentrant")
	}
	c := w.client()
	outer := c.start(c.lock()).get()
	inner, err := c.lock().Acquire(outer.Context(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if inner.FencingToken() != outer.FencingToken() {
		t.Errorf("tokens %#x and %#x", outer.FencingToken(), inner.FencingToken())
	}
	if err := inner.Release(); err != nil {
		t.Error(err)
	}
}

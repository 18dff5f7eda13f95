package nodes

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// A keeper keeps a node from Start to its end, through one session after the other. Its goroutine looks, decides and
// acts. An act that fails is tried again after a pause.
type keeper struct {
	node     *PersistentNode
	registry *registry
	absolute string // the path without GUID and number
	waiter   session.Waiter
	stop     context.CancelFunc
	done     chan struct{} // closed when the goroutine has ended

	// For the goroutine alone.
	path      string // absolute, with GUID and number; "" while they are not known
	made      int64  // see sight
	unknown   []byte // see sight
	confirmed bool   // see sight
	sure      bool   // in the present session: there is no node of an earlier one
	trying    int    // the number of the data that an act writes
	touched   time.Time

	// Written before done is closed.
	removal session.Removal // deletes an ephemeral node; nil if there is nothing to remove
	former  chan error      // why the node of an earlier session is left, once
	remove  func() error    // a node that outlives sessions, by calls of which each has the turn
	turn    chan struct{}
}

func newKeeper(n *PersistentNode, absolute string, stop context.CancelFunc) *keeper {
	k := &keeper{
		node: n, registry: registryOf(n.client), absolute: absolute, waiter: session.NewWaiter(), stop: stop, done: make(chan struct{}),
		former: make(chan error, 1), turn: make(chan struct{}, 1),
	}
	if !n.options.sequential() {
		k.path = absolute
	}
	return k
}

func (k *keeper) run(ctx context.Context) {
	defer k.leave()
	for s, err := range k.node.client.SessionsWhileOpen(ctx, k.node.blocked) {
		if err != nil {
			if ctx.Err() == nil {
				k.node.lose(err) // the client has ended
			}
			break
		}
		k.keepIn(ctx, s)
	}
	if !k.node.options.ephemeral() {
		k.remove = func() error { return k.removeLasting(ctx) }
	}
}

// keepIn keeps the node until the session is over, or ctx.
func (k *keeper) keepIn(ctx context.Context, s session.Session) {
	ephemeral := k.node.options.ephemeral()
	k.registry.enter(s.ID())
	k.sure = false
	missing := true
	var pace retry.Pace
	for ctx.Err() == nil && s.Err() == nil {
		began := time.Now()
		var err error
		if k.path != "" && (!missing || !ephemeral) { // what outlives sessions is looked for right before a create
			missing, err = k.follow(ctx, s)
		}
		if err == nil && missing {
			if err = k.create(ctx, s); err == nil {
				missing, err = k.follow(ctx, s)
			}
		}
		if refuses(ctx, err) {
			k.node.fail(err, k.trying)
		}
		_ = pace.WaitOrDone(ctx, time.Since(began), s.Done())
	}
	if !ephemeral {
		return
	}
	if ctx.Err() != nil && k.path != "" {
		if err := k.takeFormer(ctx, s); err != nil {
			k.former <- err
		}
		k.removal = s.RemoveAt(k.path)
	}
	k.node.lose(nil)
}

// refuses reports whether err says that something is wrong with the node. After a lost connection the next try is due.
func refuses(ctx context.Context, err error) bool {
	return err != nil && !session.ShouldStartOver(ctx, err) && !errors.Is(err, framework.ErrConnectionLost) && ctx.Err() == nil
}

// follow watches the node and acts, until there is none, or another one. An error is that of an act.
func (k *keeper) follow(ctx context.Context, s session.Session) (missing bool, err error) {
	watch := s.WatchData(k.path, k.waiter.Signal)
	defer watch.Stop()
	for {
		view := watch.View()
		data, number := k.node.want()
		k.trying = number
		stat := view.Stat
		k.sure = k.sure || k.rulesOutFormer(view)
		switch decide(k.see(view), data, &k.node.options) {
		case wait:
			if view.Status == framework.StatusFailed {
				return false, view.Err // only another watch asks again
			}
			k.node.wait(view)
		case create:
			k.node.lose(nil)
			return true, nil
		case replace:
			return false, k.replace(ctx, s, data, stat)
		case adopt, write:
			if _, err := s.Set(ctx, k.path, data, stat.Version); err != nil {
				return false, unlessChanged(err)
			}
			k.made, k.confirmed, k.unknown = stat.Czxid, true, nil
			k.node.has(data, number)
		case keep:
			k.made, k.confirmed, k.unknown = stat.Czxid, true, nil
			k.node.has(data, number)
		}
		if err := k.keepTTL(ctx); err != nil {
			return false, err
		}
		if err := k.waiter.Wait(ctx, s, nil); err != nil {
			return false, err
		}
	}
}

func (k *keeper) see(view framework.View) sight {
	sees := sight{view: view, made: k.made, unknown: k.unknown, confirmed: k.confirmed, pending: k.node.pending()}
	if view.Status == framework.StatusPresent {
		sees.former = k.registry.had(view.Stat.EphemeralOwner)
	}
	return sees
}

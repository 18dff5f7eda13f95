package porttest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// An Announcer keeps ephemeral nodes at the servers, and makes them again in each session.
type Announcer struct {
	client *framework.Client
	wake   chan struct{} // wakes the goroutine after a change of wanted
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	wanted map[string]string // the data of each node, by its path
}

// NewAnnouncer returns an Announcer without nodes. Close ends it.
func NewAnnouncer(client *framework.Client) *Announcer {
	ctx, cancel := context.WithCancel(context.Background())
	a := &Announcer{
		client: client, wake: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{}), wanted: map[string]string{},
	}
	go a.run(ctx)
	return a
}

// Announce has a node made, with its parents, or its data set. It does not block.
func (a *Announcer) Announce(path, data string) {
	a.change(func() { a.wanted[path] = data })
}

// Withdraw has a node deleted. It does not block.
func (a *Announcer) Withdraw(path string) {
	a.change(func() { delete(a.wanted, path) })
}

// Wanted returns the data of the nodes that are announced, by their paths.
func (a *Announcer) Wanted() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.wanted)
}

func (a *Announcer) change(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Close ends the announcing. The nodes stay until the session ends.
func (a *Announcer) Close() {
	a.cancel()
	<-a.done
}

func (a *Announcer) run(ctx context.Context) {
	defer close(a.done)
	made := map[string]*string{}
	for s, err := range a.client.SessionsWhileOpen(ctx, nil) {
		if err != nil {
			return
		}
		for path := range made { // the client may have made it in this session already
			made[path] = nil
		}
		a.runIn(ctx, s, made)
	}
}

// pause is how long an Announcer waits before it tries again what has failed.
const pause = 100 * time.Millisecond

func (a *Announcer) runIn(ctx context.Context, s session.Session, made map[string]*string) {
	for ctx.Err() == nil && s.Err() == nil {
		var again <-chan time.Time
		if a.settle(ctx, s, made) != nil {
			again = time.After(pause)
		}
		select {
		case <-a.wake:
		case <-again:
		case <-s.Done():
		case <-ctx.Done():
		}
	}
}

// settle makes, sets and deletes nodes until made is what is wanted. made has nil for a node that may have been made.
func (a *Announcer) settle(ctx context.Context, s session.Session, made map[string]*string) error {
	wanted := a.Wanted()
	var errs []error
	for path := range made {
		if _, ok := wanted[path]; ok {
			continue
		}
		err := a.client.Delete(ctx, path, -1)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			delete(made, path)
			continue
		}
		errs = append(errs, err)
	}
	for path, data := range wanted {
		if before := made[path]; before != nil && *before == data {
			continue
		}
		made[path] = nil
		if err := a.put(ctx, s, path, data); err != nil {
			errs = append(errs, err)
			continue
		}
		made[path] = &data
	}
	return errors.Join(errs...)
}

// put makes a node of this session's. A node of an earlier session may still be there.
func (a *Announcer) put(ctx context.Context, s session.Session, path, data string) error {
	_, _, err := a.client.Create(ctx, path, []byte(data), framework.WithMode(framework.Ephemeral), framework.CreatingParentsIfNeeded())
	if !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	stat, err := a.client.Exists(ctx, path)
	switch {
	case err != nil:
		return err
	case stat != nil && stat.EphemeralOwner == s.ID():
		_, err = a.client.Set(ctx, path, []byte(data), -1)
		return err
	case stat != nil:
		err = a.client.Delete(ctx, path, stat.Version)
	}
	return errors.Join(errors.New("a node of another session was in the way"), err)
}

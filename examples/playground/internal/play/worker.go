package play

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// Path is where the lock is.
const Path = "/playground"

// A Worker is one contender: a process with a client of its own.
type Worker struct {
	Settings

	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Tell  func(Event)     // gets the events, on one goroutine at a time; must not block
	Begin <-chan struct{} // closed when the workers are to begin

	mu    sync.Mutex
	lease *locks.Lease // what it holds, or nil
}

// Run connects, and takes the lock again and again until ctx ends. It returns why it could not begin, or the cause of
// ctx.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.Check(); err != nil {
		return err
	}
	client, err := framework.NewClient("zookeeper:2181", framework.WithSessionTimeout(milliseconds(w.Session)),
		framework.WithDialer(w.Dial), framework.WithStateListener(w.state))
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // without a connection its session ends by its timeout
	for {
		_, err := client.Session(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.tell(Event{Kind: Failed, Text: err.Error()})
	}
	w.tell(Event{Kind: Ready})
	select {
	case <-w.Begin:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return w.work(ctx, client)
}

func (w *Worker) tell(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.At == 0 {
		e.At = stamp(time.Now())
	}
	e.Worker = w.Number
	w.Tell(e)
}

func (w *Worker) state(change framework.StateChange) {
	w.tell(Event{At: stamp(change.Time), Kind: State, State: change.State.String()})
	w.mu.Lock()
	lease := w.lease
	w.mu.Unlock()
	if lease != nil && change.State == framework.StateSuspended && lease.Err() == nil {
		w.tell(Event{Kind: Left, Left: max(0, float64(time.Until(lease.ValidUntil()).Microseconds())/1000)})
	}
}

func (w *Worker) setLease(lease *locks.Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lease = lease
}

// name is what the worker's nodes have as their data.
func (w *Worker) name() string { return fmt.Sprintf("worker %d", w.Number) }

// acquire returns the method that waits for the lock.
func (w *Worker) acquire(client *framework.Client) func(context.Context) (*locks.Lease, error) {
	data, trace := locks.WithLockData([]byte(w.name())), locks.Trace{Waiting: w.waits}
	switch w.Lock {
	case "readwrite":
		lock := locks.NewInterProcessReadWriteLock(client, Path, data, locks.WithTrace(trace))
		if w.Write {
			return lock.WriteLock().Acquire
		}
		return lock.ReadLock().Acquire
	case "leader":
		return leader.NewLeaderSelector(client, Path, leader.WithID(w.name()), leader.WithTrace(trace)).Campaign
	case "retained":
		// Longer than the pause, so that a lone worker keeps its node.
		idle := locks.RetainIdle(2*milliseconds(w.Pause) + 100*time.Millisecond)
		return locks.NewInterProcessMutex(client, Path, data, locks.WithTrace(trace)).Retained(idle).Acquire
	default:
		return locks.NewInterProcessMutex(client, Path, data, locks.WithTrace(trace)).Acquire
	}
}

func (w *Worker) waits(_ context.Context, waiting locks.Waiting) {
	if waiting.Local { // it has no node yet
		return
	}
	w.tell(Event{Kind: Waits, Node: waiting.Node, Predecessor: waiting.Predecessor})
}

// work takes the lock and pauses, in turns.
func (w *Worker) work(ctx context.Context, client *framework.Client) error {
	acquire := w.acquire(client)
	pause := milliseconds(w.Start)
	for {
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		pause = milliseconds(w.Pause)
		w.tell(Event{Kind: Asks})
		lease, err := acquire(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			w.tell(Event{Kind: Failed, Text: err.Error()})
			pause = max(pause, 500*time.Millisecond)
			continue
		}
		shared := w.Lock == "readwrite" && !w.Write
		w.tell(Event{Kind: Acquired, Node: lease.NodeName(), Token: lease.FencingToken(), Read: shared})
		w.hold(ctx, client, lease)
	}
}

// hold works with the lock, and releases it.
func (w *Worker) hold(ctx context.Context, client *framework.Client, lease *locks.Lease) {
	w.setLease(lease)
	workUntilAnswered(lease.Context(ctx), client, milliseconds(w.Hold))
	w.setLease(nil)
	ended := time.Now() // before the look, so no other worker can hold the lock yet
	if err := lease.Err(); err != nil {
		if until := lease.ValidUntil(); until.Before(ended) {
			ended = until // a process that was suspended looks late
		}
		lost := Event{At: stamp(ended), Kind: Lost, Node: lease.NodeName()}
		lost.Text, lost.Removed = reason(err)
		w.tell(lost)
		return
	}
	w.tell(Event{At: stamp(ended), Kind: Released, Node: lease.NodeName()})
	if err := lease.Release(); err != nil && !errors.Is(err, locks.ErrLeaseLost) {
		w.tell(Event{Kind: Failed, Text: err.Error()}) // the client removes the node when it can
	}
}

// workUntilAnswered returns when the work is done, or with ctx. Work needs the network: its last step is a request that
// has to be answered.
func workUntilAnswered(ctx context.Context, client *framework.Client, d time.Duration) {
	for sleep(ctx, d) == nil {
		if _, err := client.Exists(ctx, Path); err == nil {
			return
		}
		d = 100 * time.Millisecond
	}
}

// reason is why a lease was lost, and whether the cause was the deletion of its node.
func reason(err error) (text string, removed bool) {
	var lost *locks.LostError
	if !errors.As(err, &lost) {
		return err.Error(), false
	}
	why := lost.Explain()
	return why.Sentence, why.Kind == session.LossNodeRemoved
}

// sleep returns when d is over, or the cause of ctx when that ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

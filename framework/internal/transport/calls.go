package transport

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/ranked"
)

// Calls are those under way of a function that may be slow, by key: two at most. The first may never return, since a
// question was lost, and one that is merely slow has its answer sooner than the second. The zero value is ready for
// use.
type Calls struct {
	mu    ranked.Mutex[ranked.Leaf, Calls]
	count int
	byKey map[string][]*call // oldest first
}

type call struct {
	began           time.Time
	answered, ended chan struct{}
	err             error // once it has ended
}

var errNoAnswer = errors.New("no answer yet")

// grace is how long a closing client waits for calls that heed the end of their context, so that they do not outlast
// the client.
const grace = 100 * time.Millisecond

// Await waits for an answer: that of ask, or of an earlier call with the key that is under way. A failure counts if it
// is the newest call's. Calls go on when ctx ends. Then the error is that there is no answer yet. ask gets the number
// of the call, by which an answer is known to be older than the last one.
func (c *Calls) Await(ctx context.Context, key string, ask func(ctx context.Context, number int) error) error {
	if errors.Is(ctx.Err(), context.Canceled) { // by Close, after which nothing may be asked for
		return errNoAnswer
	}
	oldest, newest := c.join(ctx, key, ask)
	select {
	case <-oldest.answered:
		return nil
	case <-newest.ended:
		return newest.err
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.Canceled) { // by Close, not by the attempt's deadline
		timer := time.NewTimer(grace)
		defer timer.Stop()
		for _, call := range []*call{oldest, newest} {
			select {
			case <-call.ended:
			case <-timer.C:
				return errNoAnswer
			}
		}
	}
	return errNoAnswer
}

// join returns the calls to wait for. It begins one if there is none that is new: one that was begun in less than half
// of the time that ctx leaves.
func (c *Calls) join(ctx context.Context, key string, ask func(ctx context.Context, number int) error) (oldest, newest *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	running := c.byKey[key]
	deadline, limited := ctx.Deadline()
	isNew := func(a *call) bool { return !limited || time.Since(a.began) < time.Until(deadline)/2 }
	if n := len(running); n == 0 || n == 1 && !isNew(running[0]) {
		c.count++
		number := c.count
		begun := &call{began: time.Now(), answered: make(chan struct{}), ended: make(chan struct{}), err: errNoAnswer}
		running = append(slices.Clone(running), begun)
		if c.byKey == nil {
			c.byKey = make(map[string][]*call)
		}
		c.byKey[key] = running
		go func() {
			defer c.end(key, begun)
			begun.err = ask(context.WithoutCancel(ctx), number)
		}()
	}
	return running[0], running[len(running)-1]
}

func (c *Calls) end(key string, over *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byKey[key] = slices.DeleteFunc(c.byKey[key], func(a *call) bool { return a == over })
	if len(c.byKey[key]) == 0 {
		delete(c.byKey, key)
	}
	if over.err == nil {
		close(over.answered)
	}
	close(over.ended)
}

//go:build linux

package causes_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/internal/drivers"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// A holder is a process that holds a lock.
type holder struct {
	*drivers.Process
	t    *testing.T
	lost <-chan godriver.Answer            // the lock, with why
	more map[string]<-chan godriver.Answer // other recipes, likewise

	began, ended int64 // the cause of its loss, by godriver.Now
}

// paths makes each lock's path another one.
var paths atomic.Int64

// startHolder starts a process, by a command that takes the program as its last argument, and returns when it holds a
// lock.
func startHolder(t *testing.T, servers string, by ...string) *holder {
	t.Helper()
	command := slices.Concat(by, drivers.GoCommand(t))
	h := &holder{Process: drivers.Start(t, drivers.Ours, command, nil), t: t, more: map[string]<-chan godriver.Answer{}}
	t.Cleanup(h.Kill)
	h.do(godriver.Order{
		Op: "open", Client: "client", Connect: servers, Session: int(sessionTimeout.Milliseconds()), MS: patience.Milliseconds(),
	})
	h.lost = h.hold("mutex")
	return h
}

// hold acquires something else, and returns a channel that gets why it was lost.
func (h *holder) hold(recipe string) <-chan godriver.Answer {
	h.t.Helper()
	h.do(godriver.Order{
		Op: "contender", Client: "client", Who: recipe, Recipe: recipe, Path: fmt.Sprintf("/causes/%d", paths.Add(1)),
	})
	await.Until(h.t, patience, "a "+recipe, func() bool { // a busy machine may end a session at any time
		return h.answer(godriver.Order{Op: "acquire", Who: recipe, MS: patience.Milliseconds(), N: 1}).OK
	})
	return h.Order(godriver.Order{Op: "explain", Who: recipe})
}

// startHolders starts n of them.
func startHolders(t *testing.T, n int, servers string, by ...string) []*holder {
	t.Helper()
	all := make([]*holder, n)
	for i := range all {
		all[i] = startHolder(t, servers, by...)
	}
	return all
}

// answer gives an order and waits for what comes of it.
func (h *holder) answer(order godriver.Order) godriver.Answer {
	h.t.Helper()
	return await.Receive(h.t, patience, h.Language+" to "+order.Op, h.Order(order))
}

// do gives an order that must succeed.
func (h *holder) do(order godriver.Order) {
	h.t.Helper()
	if a := h.answer(order); a.Error != "" {
		h.t.Fatalf("%s: %s\n%s", order.Op, a.Error, h.Stderr)
	}
}

// halt has the process halt itself some time from now, and returns when it goes on.
func (h *holder) halt(order godriver.Order, d time.Duration) {
	time.Sleep(upTo(sessionTimeout))
	order.MS = d.Milliseconds()
	select {
	case a := <-h.Order(order):
		if a.Error != "" {
			h.t.Errorf("%s: %s\n%s", order.Op, a.Error, h.Stderr)
		}
		h.began, h.ended = a.Began, a.Ended
	case <-time.After(patience):
		await.Errorf(h.t, "the end of a %s", order.Op)
	}
}

// loss waits until something is lost.
func (h *holder) loss(lost <-chan godriver.Answer) godriver.Answer {
	h.t.Helper()
	return await.Receive(h.t, patience, "a loss", lost)
}

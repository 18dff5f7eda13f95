//go:build linux

package causes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

func TestAProcessThatIsStoppedBySIGSTOPIsNamed(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t, zookeeper.Config{})
	c := &tally{cause: "SIGSTOP", want: session.LossProcessStopped, more: map[string]*tally{
		"selector":       {cause: "SIGSTOP, a term", want: session.LossProcessStopped},
		"persistentnode": {cause: "SIGSTOP, a registration", want: session.LossProcessStopped},
	}}
	c.fill(t, func(n int) {
		holders := startHolders(t, min(n, 10), server.Addr())
		for _, h := range holders {
			for recipe := range c.more {
				h.more[recipe] = h.hold(recipe)
			}
		}
		c.stop(t, holders, func(h *holder) {
			time.Sleep(upTo(sessionTimeout))
			h.Freeze(t)
			h.began = godriver.Now()
			time.Sleep(sessionTimeout + sessionTimeout/20 + upTo(sessionTimeout))
			h.ended = godriver.Now()
			h.Thaw(t)
		})
	})
}

// halts are what keeps a program from running, by its own doing. Busy loops have their turn one after the other, since
// they would take the processors from the server too.
var halts = map[string]struct {
	order  godriver.Order
	by     []string
	atOnce int
}{
	"a busy loop with GOMAXPROCS=1":   {godriver.Order{Op: "spin"}, []string{"env", "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1"}, 1},
	"a stop of the world that stalls": {godriver.Order{Op: "stall"}, []string{"env", "GOMAXPROCS=2", "GODEBUG=asyncpreemptoff=1"}, 10},
}

func TestAProcessThatKeepsItselfFromRunningIsNamed(t *testing.T) {
	for name, halt := range halts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := zookeeper.Start(t, zookeeper.Config{})
			c := &tally{cause: name, want: session.LossProcessStopped}
			c.fill(t, func(n int) {
				c.stop(t, startHolders(t, min(n, halt.atOnce), server.Addr(), halt.by...), func(h *holder) {
					h.halt(halt.order, sessionTimeout+sessionTimeout/20+upTo(sessionTimeout))
				})
			})
		})
	}
}

// Where goroutines wait for a processor, the client's clock may have its turn in time, and what reads from the server
// may not. Whether it is named or not, no server is to blame.
func TestAServerIsNotNamedForAnAnswerThatABusyProcessDidNotRead(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t, zookeeper.Config{})
	c := &tally{cause: "a crowd of goroutines with GOMAXPROCS=1", want: session.LossProcessStopped, anyUnknown: true}
	c.fill(t, func(int) {
		h := startHolder(t, server.Addr(), "env", "GOMAXPROCS=1")
		h.halt(godriver.Order{Op: "crowd", N: 400 + rand.IntN(1000)}, 2*sessionTimeout)
		c.add(t, h.loss(h.lost), truth{began: h.began, ended: h.ended, stopped: true, says: starved})
		h.Kill()
	})
}

// stop stops each holder, all at a time, and judges their losses.
func (c *tally) stop(t *testing.T, holders []*holder, stop func(h *holder)) {
	t.Helper()
	var all sync.WaitGroup
	for _, h := range holders {
		all.Go(func() { stop(h) })
	}
	all.Wait()
	for _, h := range holders {
		is := truth{began: h.began, ended: h.ended, stopped: true, says: stopped}
		c.add(t, h.loss(h.lost), is)
		for recipe, lost := range h.more {
			c.more[recipe].add(t, h.loss(lost), is)
		}
		h.Kill()
	}
}

// stopped wants a sentence that says for how long a process did not run: not longer than it really did, and not shorter
// by more than the client's pause between two looks at the clock.
func stopped(sentence string, lasted, paused time.Duration) error {
	d, err := duration(sentence)
	if err == nil && (d < lasted-sessionTimeout*3/8 || d > paused+sessionTimeout/8) {
		err = fmt.Errorf("a process that was stopped for %v, and paused for %v, did not run for %v", lasted, paused, d)
	}
	return err
}

// starved wants what stopped does of a process that ran now and then, each goroutine at another time.
func starved(sentence string, lasted, paused time.Duration) error {
	return stopped(sentence, 0, max(lasted, paused))
}

// duration is the time that a sentence has.
func duration(sentence string) (time.Duration, error) {
	text, found := strings.CutPrefix(sentence, "this process did not run for at least ")
	if !found {
		return 0, fmt.Errorf("the sentence does not say for how long the process did not run")
	}
	text, _, _ = strings.Cut(text, ";")
	return time.ParseDuration(text)
}

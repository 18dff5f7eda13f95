package framework_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/framework/zktest"
)

// mechanism is a user's, of functions.
type mechanism struct {
	start func(ctx context.Context, server sasl.Server) (sasl.Exchange, error)
	step  func(challenge []byte) ([]byte, bool, error)
}

func (*mechanism) Name() string { return "TEST" }

func (m *mechanism) Start(ctx context.Context, server sasl.Server) (sasl.Exchange, error) {
	if m.start != nil {
		return m.start(ctx, server)
	}
	return m, nil
}

func (m *mechanism) Step(challenge []byte) ([]byte, bool, error) { return m.step(challenge) }

func TestAMechanismThatFailsIsAFailedAttempt(t *testing.T) {
	endless := func([]byte) ([]byte, bool, error) { return []byte("x"), false, nil }
	sealed := errors.New("vault is sealed")
	for name, c := range map[string]struct {
		m    *mechanism
		says string
	}{
		"Start fails":  {&mechanism{start: func(context.Context, sasl.Server) (sasl.Exchange, error) { return nil, sealed }}, "vault is sealed"},
		"Start panics": {&mechanism{start: func(context.Context, sasl.Server) (sasl.Exchange, error) { panic("broken") }}, "the SASL mechanism panicked: broken"},
		"no exchange":  {&mechanism{start: func(context.Context, sasl.Server) (sasl.Exchange, error) { return nil, nil }}, "neither an exchange nor an error"},
		"Step fails":   {&mechanism{step: func([]byte) ([]byte, bool, error) { return nil, false, sealed }}, "vault is sealed"},
		"Step panics":  {&mechanism{step: func([]byte) ([]byte, bool, error) { panic("broken") }}, "the SASL mechanism panicked: broken"},
		"no end":       {&mechanism{step: endless}, "no end after 16 rounds"},
	} {
		t.Run(name, func(t *testing.T) {
			var log errorLog
			bubble(t, func(t *testing.T, w *env) { // without SASL the server answers every token
				client := w.Dial("zk:2181", log.logger(), framework.WithSASL(c.m))
				err := client.BlockUntilConnected(w.Within(time.Second))
				wantErr(t, err, context.DeadlineExceeded)
				if !strings.Contains(err.Error(), "SASL TEST: ") || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %q, want %q in it", err, c.says)
				}
				if strings.Contains(err.Error(), "handshake: ") {
					t.Errorf("got %q, which blames the handshake, that was answered", err)
				}
				if client.Err() != nil {
					t.Errorf("got %v, want a client that goes on", client.Err())
				}
				if n := w.Count(zktest.OpSASL); n > 16*100 {
					t.Errorf("the server heard %d tokens, want at most 16 in each of some attempts", n)
				}
			})
		})
	}
}

func TestAnExchangeTakesNoLongerThanTheConnectionTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var left time.Duration
		m := &mechanism{start: func(ctx context.Context, _ sasl.Server) (sasl.Exchange, error) {
			end, _ := ctx.Deadline()
			left = time.Until(end)
			return nil, errors.New("enough")
		}}
		client := w.Dial("zk:2181", framework.WithSASL(m), framework.WithConnectionTimeout(time.Second))
		_ = client.BlockUntilConnected(w.Within(time.Second))
		if left != time.Second {
			t.Errorf("the context ends in %v, want a second", left)
		}
	})
}

func TestAMechanismThatDoesNotHeedItsContextHoldsUpNothing(t *testing.T) {
	for _, inStep := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *env) {
			goOn := make(chan struct{})
			defer close(goOn)
			var deaf atomic.Bool
			deaf.Store(true)
			wait := func(here bool) {
				if here && deaf.Load() {
					<-goOn
				}
			}
			m := &mechanism{step: func(challenge []byte) ([]byte, bool, error) {
				wait(inStep)
				return nil, true, nil
			}}
			m.start = func(ctx context.Context, _ sasl.Server) (sasl.Exchange, error) {
				if end, ok := ctx.Deadline(); !ok || time.Until(end) != clienttest.SessionTimeout/3 {
					t.Errorf("the context ends in %v, want a third of the session timeout", time.Until(end))
				}
				wait(!inStep)
				return m, nil
			}
			client := w.Dial("zk:2181", framework.WithSASL(m))
			err := client.BlockUntilConnected(w.Within(clienttest.SessionTimeout/3 + time.Second))
			if want := "the mechanism has not returned"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
			deaf.Store(false)
			wantErr(t, client.BlockUntilConnected(w.Within(time.Minute)))
			deaf.Store(true)
			other := w.Dial("zk:2181", framework.WithSASL(m))
			time.Sleep(time.Second) // in the midst of the exchange
			_ = closesWithin(t, other, 2*time.Second)
		})
	}
}

// GSSAPI ends so: the server's last answer has no token.
func TestAMechanismMayTakeAnAnswerWithoutTokenForTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var about sasl.Server
		var challenges [][]byte
		m := &mechanism{step: func(challenge []byte) ([]byte, bool, error) {
			challenges = append(challenges, challenge)
			return []byte("token"), challenge == nil, nil
		}}
		m.start = func(_ context.Context, server sasl.Server) (sasl.Exchange, error) {
			about = server
			return m, nil
		}
		client := w.Dial("zk.example.:2181", framework.WithSASL(m)) // no principal has the dot
		must(t, client.BlockUntilConnected(t.Context()))
		if len(challenges) != 2 || challenges[0] == nil || len(challenges[0]) > 0 || challenges[1] != nil {
			t.Errorf("the challenges were %q, want an empty one and none", challenges)
		}
		if about.Host != "zk.example" || about.Addr == nil || about.TLS != nil {
			t.Errorf("the mechanism got %+v", about)
		}
		if n := w.Count(zktest.OpSASL); n != 1 {
			t.Errorf("the server heard %d tokens, want 1: done means that nothing more is sent", n)
		}
	})
}

// A server that ends without an answer is one of many years ago that refuses, or one that has died.
func TestAServerThatHangsUpDuringTheExchangeIsAFailedAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		m := &mechanism{step: func(challenge []byte) ([]byte, bool, error) { return nil, challenge == nil, nil }}
		for _, fault := range []func(){
			func() { w.Server.DropReply(zktest.Match{Op: zktest.OpSASL}) },
			func() { w.Server.DelayReply(zktest.Match{Op: zktest.OpSASL}, time.Hour) },
		} {
			fault()
			client := w.Dial("zk:2181", framework.WithSASL(m))
			begun := time.Now()
			wantErr(t, client.BlockUntilConnected(w.Within(time.Minute)))
			if d := time.Since(begun); d > clienttest.SessionTimeout/3+time.Second {
				t.Errorf("it took %v, want at most a third of the session timeout", d)
			}
		}
	})
}

package simtest

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// A fault that is noted, but does not happen, would make simulations look harder than they are.
func TestAServerThatLosesSomethingLosesIt(t *testing.T) {
	for name, c := range map[string]struct {
		fault Fault
		lost  func(t *testing.T, e *Env) bool
	}{
		"an answer": {
			Fault{Kind: swallowReply, Nth: 1},
			func(t *testing.T, e *Env) bool { // answers come within milliseconds
				began := time.Now()
				if _, err := e.Peers[0].Exists(t.Context(), path); err != nil {
					t.Error(err)
				}
				return time.Since(began) > time.Second
			},
		},
		"an event": {
			Fault{Kind: dropEvent, Nth: 1},
			func(t *testing.T, e *Env) bool {
				s, err := e.Peers[0].Session(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				heard := make(chan struct{}, 9)
				watch := s.WatchData(path, func() { heard <- struct{}{} })
				defer watch.Stop()
				<-heard // the first answer
				if err := e.Ensemble.Leader().SetData(path, []byte("new")); err != nil {
					t.Fatal(err)
				}
				select {
				case <-heard:
					return false
				case <-time.After(time.Second):
					return true
				}
			},
		},
		"an answer to a handshake": {
			Fault{Kind: dropShake, For: span(2 * time.Second)},
			func(_ *testing.T, e *Env) bool {
				time.Sleep(time.Second)
				e.Ensemble.Leader().SetSessionTimeouts(time.Second, SessionTimeout/2)
				return e.Ensemble.Leader().Sessions()[0].Timeout < SessionTimeout && !e.Peers[0].State().IsConnected()
			},
		},
		"time": {
			Fault{Kind: stall, For: span(5 * time.Second), Break: span(time.Second)},
			func(t *testing.T, e *Env) bool {
				s, err := e.Peers[0].Session(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.CreateProtected(t.Context(), path, "n-", nil); err != nil {
					t.Fatal(err)
				}
				before := len(e.Ensemble.Leader().Children(path))
				time.Sleep(time.Until(e.start.Add(5*time.Second + time.Millisecond)))
				return before == 1 && len(e.Ensemble.Leader().Children(path)) == 2 // with the late one
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				e := New(t, 1, 1, path)
				e.AddPeer(time.Millisecond)
				defer e.Peers[0].Close()
				for _, node := range []string{"/locks", path} {
					if err := e.Ensemble.Leader().Create(node, nil); err != nil {
						t.Fatal(err)
					}
				}
				if c.lost(t, e) {
					t.Fatal("got a loss without a fault")
				}
				e.start = time.Now()
				for _, child := range e.Ensemble.Leader().Children(path) {
					_ = e.Ensemble.Leader().Delete(path + "/" + child)
				}
				e.strike(c.fault)
				if !c.lost(t, e) {
					t.Error("got no loss, want one")
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

package framework_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// A tracer remembers its calls.
type tracer struct {
	mu         sync.Mutex
	operations []framework.Operation
	contexts   []context.Context
	states     []string
}

func (tr *tracer) trace() framework.Trace {
	return framework.Trace{
		Operation: func(ctx context.Context, o framework.Operation) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.operations = append(tr.operations, o)
			tr.contexts = append(tr.contexts, ctx)
		},
		State: func(change framework.StateChange) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.states = append(tr.states, fmt.Sprintf("%s %s %d", change.State, change.Server, change.Time.Unix()))
		},
	}
}

// last returns the only operation since the last time.
func (tr *tracer) last(t *testing.T) framework.Operation {
	t.Helper()
	synctest.Wait()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if len(tr.operations) != 1 {
		t.Fatalf("got operations %+v, want one", tr.operations)
	}
	o := tr.operations[0]
	tr.operations = nil
	return o
}

func TestEachOperationIsReportedOnceWithWhatItCost(t *testing.T) {
	for name := range kindOf {
		t.Run(name, func(t *testing.T) {
			tr := &tracer{}
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				w.Make("/a/deleted")
				before := time.Now()
				w.Link.SetLatency(10 * time.Millisecond)
				type key struct{}
				err := everyOp(w.Client)[name](context.WithValue(t.Context(), key{}, "carried"))
				o := tr.last(t)
				if !errors.Is(err, o.Err) || o.Server != "zk:2181" || o.Tries != 1 || !o.Began.Equal(before) || o.Took < 20*time.Millisecond {
					t.Errorf("got %+v, want one try at zk:2181 from %v, of 20 ms or more", o, before)
				}
				if o.Sent < 16 || o.Received < 20 || o.Sent > 300 || o.Received > 300 {
					t.Errorf("got %d bytes sent, %d received", o.Sent, o.Received)
				}
				if tr.contexts[0].Value(key{}) != "carried" {
					t.Errorf("got context value %v, want that of the caller's context", tr.contexts[0].Value(key{}))
				}
			}, framework.WithTrace(tr.trace()))
		})
	}
}

func TestATraceCountsTheBytesOfWholeFrames(t *testing.T) {
	tr := &tracer{}
	bubble(t, func(t *testing.T, w *env) {
		must(t, w.Server.Create("/a", make([]byte, 1000)))
		if _, _, err := w.Client.Get(t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		// length, xid, type, path, watch; length, header, data, Stat
		if o := tr.last(t); o.Sent != 4+4+4+4+2+1 || o.Received != 4+16+4+1000+68 {
			t.Errorf("got %d bytes sent, %d received", o.Sent, o.Received)
		}
	}, framework.WithTrace(tr.trace()))
}

func TestATraceTellsRetriesAndFailures(t *testing.T) {
	tr := &tracer{}
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Server.DropReply(zktest.Match{Op: zktest.OpSetData, Path: "/a"})
		if _, err := w.Client.Set(t.Context(), "/a", nil, -1); err != nil {
			t.Fatal(err)
		}
		if o := tr.last(t); o.Op != "set" || o.Path != "/a" || o.Tries != 2 || o.Err != nil {
			t.Errorf("got %+v, want two tries", o)
		}
		_, _, err := w.Client.Get(t.Context(), "/missing")
		if o := tr.last(t); o.Err != err || !errors.Is(o.Err, zk.ErrNoNode) || o.Received != 20 {
			t.Errorf("got %+v, want ErrNoNode", o)
		}
		_, _, err = w.Client.Get(t.Context(), "relative")
		if o := tr.last(t); o.Err != err || o.Tries != 0 || o.Server != "" || o.Sent != 0 {
			t.Errorf("got %+v, want no try", o)
		}
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return !w.Client.State().IsConnected() })
		_, _, err = w.Client.Get(w.Within(time.Second), "/a")
		if o := tr.last(t); o.Err != err || o.Tries != 0 || o.Took != time.Second {
			t.Errorf("got %+v, want no try in a second", o)
		}
	}, framework.WithTrace(tr.trace()))
}

func TestATraceTellsEveryStateWithItsServer(t *testing.T) {
	tr := &tracer{}
	var start int64
	bubble(t, func(t *testing.T, w *env) {
		start = time.Now().Unix()
		w.Link.Cut()
		time.Sleep(2 * clienttest.SessionTimeout)
		w.Link.Heal()
		w.Eventually("connected", func() bool { return w.Client.State().IsConnected() })
		tr.mu.Lock()
		defer tr.mu.Unlock()
		var heard []string
		for _, s := range tr.states {
			var state, server string
			var at int64
			if _, err := fmt.Sscan(s, &state, &server, &at); err != nil || at < start || at > time.Now().Unix() {
				t.Errorf("got %q, %v", s, err)
			}
			heard = append(heard, state+" "+server)
		}
		want := []string{"CONNECTED zk:2181", "SUSPENDED zk:2181", "LOST zk:2181", "RECONNECTED zk:2181"}
		if !slices.Equal(heard, want) {
			t.Errorf("got %q, want %q", heard, want)
		}
	}, framework.WithTrace(tr.trace()))
}

func TestATraceThatBlocksHoldsUpNoOperation(t *testing.T) {
	var release chan struct{} // made inside the bubble
	bubble(t, func(t *testing.T, w *env) {
		release = make(chan struct{})
		w.Make("/a")
		for range 10 {
			before := time.Now()
			if _, _, err := w.Client.Get(t.Context(), "/a"); err != nil || time.Since(before) > 0 {
				t.Errorf("got %v after %v", err, time.Since(before))
			}
		}
		close(release)
	}, framework.WithTrace(framework.Trace{Operation: func(context.Context, framework.Operation) {
		select {
		case <-release:
		case <-time.After(time.Second):
		}
	}}))
}

package framework_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// logs is a log handler that calls a function with each record.
type logs func(r slog.Record)

func (l logs) Enabled(context.Context, slog.Level) bool { return true }
func (l logs) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logs) WithGroup(string) slog.Handler            { return l }

func (l logs) Handle(_ context.Context, r slog.Record) error {
	l(r)
	return nil
}

func TestALogHandlerThatBlocksDelaysNoOperation(t *testing.T) {
	slow := logs(func(slog.Record) { time.Sleep(time.Hour) })
	bubble(t, func(t *testing.T, w *env) {
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, _, err := w.Client.Get(ctx, "/"); err != nil {
			t.Errorf("got %v, want nil", err)
		}
		w.States.Want(t, connected, suspended, reconnected)
		if err := closesWithin(t, w.Client, time.Second); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour) // the handler that is running
	}, framework.WithLogger(slog.New(slow)))
}

func TestALogHandlerMayUseTheClient(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var mu sync.Mutex
		var seen []framework.State
		var other *framework.Client
		ready := make(chan struct{})
		other = w.Dial("zk:2181", framework.WithLogger(slog.New(logs(func(slog.Record) {
			<-ready
			state := other.State()
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, state)
			_ = other.Close()
		}))))
		close(ready)
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(seen) != 1 || seen[0] != connected {
			t.Errorf("the handler saw %v, want one %v", seen, connected)
		}
	})
}

func TestLogRecordsBeyondTheQueueAreCounted(t *testing.T) {
	var mu sync.Mutex
	var dropped int64
	var handled int
	goOn := make(chan struct{})
	handler := logs(func(r slog.Record) {
		<-goOn
		mu.Lock()
		defer mu.Unlock()
		handled++
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "dropped" {
				dropped += a.Value.Int64()
			}
			return true
		})
	})
	zktest.Bubble(t, func(t *testing.T) {
		goOn = make(chan struct{})
		w := newEnv(t, framework.WithLogger(slog.New(handler)))
		w.Connected()
		for range 500 { // at least three records each
			w.Link.Reset()
			w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		}
		close(goOn)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if want := 1 + 1024 + 1; handled != want { // the one that blocked, those that waited, and the count of the others
			t.Errorf("%d records were handled, want %d", handled, want)
		}
		if dropped < 400 {
			t.Errorf("%d records are reported as dropped", dropped)
		}
	})
}

func TestCloseWaitsForTheLogHandlerForASecondAtMost(t *testing.T) {
	for _, test := range []struct {
		name     string
		handling time.Duration
		atMost   time.Duration
		handled  bool
	}{
		{"quick", 10 * time.Millisecond, 100 * time.Millisecond, true},
		{"slow", time.Hour, time.Second, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				var mu sync.Mutex
				var begun, ended int
				w := newEnv(t, framework.WithLogger(slog.New(logs(func(slog.Record) {
					mu.Lock()
					begun++
					mu.Unlock()
					time.Sleep(test.handling)
					mu.Lock()
					defer mu.Unlock()
					ended++
				}))))
				w.Connected()
				before := time.Now()
				if err := w.Client.Close(); err != nil {
					t.Error(err)
				}
				if took := time.Since(before); took > test.atMost {
					t.Errorf("Close took %v, want at most %v", took, test.atMost)
				}
				mu.Lock()
				then := begun
				if handled := ended == begun; handled != test.handled {
					t.Errorf("%d of %d records were handled", ended, begun)
				}
				mu.Unlock()
				time.Sleep(3 * time.Hour)
				mu.Lock()
				defer mu.Unlock()
				if begun != then {
					t.Errorf("got %d calls of the handler, want %d, none after Close", begun, then)
				}
			})
		})
	}
}

// In real time, since a lock that is held meanwhile would stop the clock of a bubble.
func TestNothingOfTheClientIsLockedWhileItsLogHandlerRuns(t *testing.T) {
	goOn := make(chan struct{})
	handling := make(chan struct{}, 1<<10)
	srv := zktest.NewServer()
	t.Cleanup(func() { srv.Close() })
	client, err := framework.NewClient("zk:2181", framework.WithDialer(srv.DialContext), framework.WithLogger(slog.New(logs(func(slog.Record) {
		handling <- struct{}{}
		<-goOn
	}))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	<-handling
	state := make(chan framework.State)
	go func() { state <- client.State() }()
	select {
	case <-state:
	case <-time.After(10 * time.Second):
		t.Error("got State waiting for the log handler, want it to return")
		defer func() { <-state }()
	}
	close(goOn)
}

package framework_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
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
		wantErr(t, closesWithin(t, w.Client, time.Second))
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
		// the one that blocked, those that waited, and the count of the others
		if want := 1 + 1024 + 1; handled != want {
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
				wantErr(t, w.Client.Close())
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
	must(t, err)
	t.Cleanup(func() { client.Close() })
	<-handling
	state := make(chan framework.State)
	go func() { state <- client.State() }()
	select {
	case <-state:
	case <-time.After(time.Minute):
		t.Error("got State waiting for the log handler, want it to return")
		defer func() { <-state }()
	}
	close(goOn)
}

// A levelled is a log handler for Info and above that counts how often it is asked for Debug, and can be opened.
type levelled struct {
	mu    sync.Mutex
	open  bool
	asked int
	got   []string
}

func (l *levelled) Enabled(_ context.Context, level slog.Level) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if level < slog.LevelInfo {
		l.asked++
	}
	return l.open || level >= slog.LevelInfo
}

func (l *levelled) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *levelled) WithGroup(string) slog.Handler      { return l }

func (l *levelled) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got = append(l.got, r.Message)
	return nil
}

func (l *levelled) set(open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open, l.asked, l.got = open, 0, nil
}

func TestAHandlerWithoutDebugIsAskedForItOnceASecond(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		handler := new(levelled)
		w := newEnv(t, framework.WithLogger(slog.New(handler)))
		w.Connected()
		time.Sleep(time.Minute)
		handler.set(false)
		log := w.Client.Logger()
		for range 100 {
			log.Debug("detail")
			log.Info("news")
			synctest.Wait()
		}
		if handler.asked != 1 || len(handler.got) != 100 {
			t.Errorf("got asked %d times for Debug, and %d records, want once, and the 100 at Info", handler.asked, len(handler.got))
		}
		handler.set(true)
		time.Sleep(time.Second)
		for range 100 {
			log.With("a", 1).Debug("detail")
			synctest.Wait()
		}
		if len(handler.got) != 100 {
			t.Errorf("got %d records a second after the handler was opened for Debug, want 100", len(handler.got))
		}
	})
}

func TestAStateChangeIsLoggedWithItsServerAndWhyTheConnectionWasLost(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var book bytes.Buffer
		var mu sync.Mutex
		states := func() []string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			var got []string
			for line := range strings.Lines(book.String()) {
				if _, state, found := strings.Cut(strings.TrimSpace(line), `msg="framework: connection state changed" state=`); found {
					got = append(got, state)
				}
			}
			book.Reset()
			return got
		}
		text := slog.NewTextHandler(&book, &slog.HandlerOptions{Level: slog.LevelDebug})
		w := newEnv(t, framework.WithLogger(slog.New(logs(func(r slog.Record) {
			mu.Lock()
			defer mu.Unlock()
			_ = text.Handle(context.Background(), r)
		}))))
		w.Connected()
		s := w.Session()
		where := fmt.Sprintf(" session=%#x server=zk:2181 sessionTimeout=%v", s.ID(), s.Timeout())
		if got, want := states(), []string{"CONNECTED" + where}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		got := states()
		if len(got) != 2 || !strings.HasPrefix(got[0], "SUSPENDED"+where+" error=") || got[1] != "RECONNECTED"+where {
			t.Errorf("got %q, want SUSPENDED with an error, and RECONNECTED, each with%s", got, where)
		}
	})
}

// Each outage is logged again, and once, however often the client tries.
func TestTheFirstFailedAttemptAtAServerIsLoggedAtWarnWithItsReason(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		got := map[slog.Level][]string{}
		w := newCutEnv(t, framework.WithLogger(slog.New(logs(func(r slog.Record) {
			mu.Lock()
			defer mu.Unlock()
			if r.Message != "framework: connection attempt failed" {
				return
			}
			r.Attrs(func(a slog.Attr) bool {
				got[r.Level] = append(got[r.Level], a.String())
				return true
			})
		}))))
		for outage := 1; outage <= 2; outage++ {
			time.Sleep(time.Minute)
			synctest.Wait()
			mu.Lock()
			warned, details := got[slog.LevelWarn], got[slog.LevelDebug]
			if len(warned) != 2*outage || warned[2*outage-2] != "server=zk:2181" || !strings.Contains(warned[2*outage-1], "refused") || len(details) == 0 {
				t.Errorf("outage %d: got %q at Warn and %d attributes at Debug, want one more server with its error, and the other attempts",
					outage, warned, len(details))
			}
			mu.Unlock()
			w.Link.Heal()
			w.Connected()
			w.Link.Cut()
		}
	})
}

// go-zookeeper says "authentication failed" of every handshake that fails.
func TestAFailedHandshakeIsLoggedOnceAndNotAsOneOfAuthentication(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var records []string
		hangUp := framework.WithDialer(func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			return here, there.Close()
		})
		client, err := framework.NewClient("zk:2181", hangUp, framework.WithLogger(slog.New(logs(func(r slog.Record) {
			mu.Lock()
			defer mu.Unlock()
			records = append(records, r.Message)
		}))))
		must(t, err)
		time.Sleep(time.Minute)
		wantErr(t, client.Close())
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(records, "framework: connection attempt failed") {
			t.Errorf("got %q, want a failed attempt among them", records)
		}
		for _, record := range records {
			if !strings.HasPrefix(record, "framework: ") && !strings.HasPrefix(record, "go-zookeeper: ") {
				t.Errorf("got %q, want it to say whose it is", record)
			}
			if strings.Contains(record, "authentication failed") || strings.Contains(record, "failed to connect to") {
				t.Errorf("got %q, want that said by the failed attempt alone", record)
			}
		}
	})
}

// A slow handler takes three seconds for one record.
type slowHandler struct{ levelled }

func (s *slowHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "slow" {
		time.Sleep(3 * time.Second)
	}
	return s.levelled.Handle(ctx, r)
}

func (s *slowHandler) WithAttrs([]slog.Attr) slog.Handler { return s }
func (s *slowHandler) WithGroup(string) slog.Handler      { return s }

func TestDetailsThatAHandlerRefusesPushOutNoWarningWhileItBlocks(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		handler := new(slowHandler)
		w := newEnv(t, framework.WithLogger(slog.New(handler)))
		w.Connected()
		log := w.Client.Logger()
		log.Debug("detail") // refused, which is remembered for a second
		synctest.Wait()
		log.Warn("slow")
		time.Sleep(1500 * time.Millisecond)
		for range 3000 {
			log.Debug("detail")
		}
		log.Warn("the last")
		time.Sleep(time.Minute)
		handler.mu.Lock()
		defer handler.mu.Unlock()
		if !slices.Contains(handler.got, "the last") {
			t.Errorf("got records %q, want the last warning among them", handler.got)
		}
	})
}

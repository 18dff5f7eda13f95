package framework_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// errors that were logged, as text.
type errorLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *errorLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *errorLog) logger() framework.Option {
	return framework.WithLogger(slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelError})))
}

func (l *errorLog) wants(t *testing.T, count int, texts ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := strings.Count(l.text.String(), "level=ERROR"); n != count {
		t.Errorf("%d errors were logged, want %d", n, count)
	}
	for _, text := range texts {
		if !strings.Contains(l.text.String(), text) {
			t.Errorf("the log lacks %q:\n%s", text, l.text.String())
		}
	}
}

func TestAStateListenerThatPanicsIsLoggedAndHearsTheNextState(t *testing.T) {
	var log errorLog
	var heard clienttest.States
	bubble(t, func(t *testing.T, w *env) {
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		synctest.Wait()
		heard.Want(t, connected, suspended, reconnected)
		w.States.Want(t, connected, suspended, reconnected)
		log.wants(t, 3, "framework: a state listener panicked: broken listener", "user_code_test.go")
	}, log.logger(), framework.WithStateListener(func(change framework.StateChange) {
		heard.Hear(change)
		panic("broken listener")
	}))
}

func TestATraceThatPanicsIsLoggedAndCalledAgain(t *testing.T) {
	var log errorLog
	bubble(t, func(t *testing.T, w *env) {
		for range 2 {
			w.Client.QueueTrace(func() { panic("broken trace") })
		}
		called := false
		w.Client.QueueTraceAlways(func() { called = true })
		synctest.Wait()
		if !called {
			t.Error("got no call after the panics, want one")
		}
		log.wants(t, 2, "framework: a function of a trace panicked: broken trace")
	}, log.logger())
}

func TestADialerThatPanicsIsAFailedAttempt(t *testing.T) {
	var log errorLog
	bubble(t, func(t *testing.T, w *env) {
		panics := 2
		client := w.Dial("zk:2181", log.logger(), framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if panics--; panics >= 0 {
				panic("broken dialer")
			}
			return w.Link.DialContext(ctx, network, address)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantErr(t, client.BlockUntilConnected(ctx))
		synctest.Wait()
		log.wants(t, 2, "framework: the dialer panicked: broken dialer")

		broken := w.Dial("zk:2181", framework.WithLogger(slog.New(logs(func(slog.Record) {}))),
			framework.WithDialer(func(context.Context, string, string) (net.Conn, error) { panic("broken dialer") }))
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := broken.BlockUntilConnected(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		if want := "the dialer panicked: broken dialer"; !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	})
}

func TestALookUpThatPanicsIsAFailedAttempt(t *testing.T) {
	var log errorLog
	bubble(t, func(t *testing.T, w *env) {
		panics := 2
		client := w.Dial("zk:2181", log.logger(), framework.WithLookup(func(context.Context, string) ([]string, error) {
			if panics--; panics >= 0 {
				panic("broken look-up")
			}
			return []string{"10.0.0.1"}, nil
		}))
		wantErr(t, client.BlockUntilConnected(w.Within(time.Minute)))
		synctest.Wait()
		log.wants(t, 2, "framework: the look-up function panicked: broken look-up")
	})
}

// The look-up of one server's name never returns; the other server needs none.
func TestALookUpThatDoesNotHeedItsContextHoldsUpNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		goOn := make(chan struct{})
		defer close(goOn)
		client := w.Dial("deaf:2181,10.0.0.1:2181", framework.WithLookup(func(context.Context, string) ([]string, error) {
			<-goOn
			return []string{"10.0.0.2"}, nil
		}))
		wantErr(t, client.BlockUntilConnected(w.Within(clienttest.ConnectionTimeout)))
		wantErr(t, closesWithin(t, client, time.Second))
		alone := w.Dial("deaf:2181", framework.WithLookup(func(context.Context, string) ([]string, error) {
			<-goOn
			return nil, nil
		}))
		err := alone.BlockUntilConnected(w.Within(time.Minute))
		wantErr(t, err, context.DeadlineExceeded)
		if want := "looking up deaf: no answer yet"; !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
		wantErr(t, closesWithin(t, alone, time.Second))
	})
}

// In real time, since the server listens on loopback.
func TestATLSCallbackThatPanicsIsAFailedAttempt(t *testing.T) {
	srv := zktest.NewServer()
	defer srv.Close()
	address, roots := tlsFront(t, srv, "zk.example")
	told := make(chan string, 1000)
	var calls atomic.Int64
	client, err := framework.NewClient(address, framework.WithLogger(slog.New(logs(func(r slog.Record) { told <- r.Message }))),
		framework.WithTLS(&tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: "zk.example",
			VerifyConnection: func(tls.ConnectionState) error {
				if calls.Add(1) == 1 {
					panic("broken verification")
				}
				return nil
			},
		}))
	must(t, err)
	defer client.Close()
	must(t, client.BlockUntilConnected(t.Context()))
	for timeout := time.After(time.Minute); ; {
		select {
		case message := <-told:
			if message == "framework: the TLS handshake panicked: broken verification" {
				return
			}
		case <-timeout:
			await.Fatalf(t, "the log line about the panic")
		}
	}
}

// The handler gets the record of its own panic, and a panic about that is the end of it: there is no circle.
func TestALogHandlerThatPanicsIsReportedOnceAndCalledAgain(t *testing.T) {
	for _, test := range []struct {
		name   string
		always bool
		want   []string
	}{
		{"at the state alone", false, []string{
			"framework: connection state changed", "framework: the log handler panicked: broken handler",
		}},
		{"always", true, []string{
			"framework: connection state changed", "framework: the log handler panicked: broken handler",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mu sync.Mutex
			var told []string
			handler := logs(func(r slog.Record) {
				if r.Level < slog.LevelInfo {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				told = append(told, r.Message)
				if test.always || r.Level < slog.LevelError {
					panic("broken handler")
				}
			})
			bubble(t, func(t *testing.T, w *env) {
				w.Link.Reset()
				w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if want := strings.Join(append(append(append([]string{}, test.want...), test.want...), test.want...), "\n"); strings.Join(told, "\n") != want {
					t.Errorf("got the lines %q, want three times %q", told, test.want)
				}
			}, framework.WithLogger(slog.New(handler)))
		})
	}
}

// Not in parallel with other tests: it replaces slog's default.
func TestAPanicIsLoggedWithoutALogger(t *testing.T) {
	var log errorLog
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	bubble(t, func(_ *testing.T, w *env) {
		w.Client.OnStateChange(func(framework.StateChange) { panic("broken listener") })
		synctest.Wait()
	})
	log.wants(t, 1, "framework: a state listener panicked: broken listener")
	if strings.Count(log.text.String(), "level=") != 1 {
		t.Errorf("what a user did not ask for was logged:\n%s", log.text.String())
	}
}

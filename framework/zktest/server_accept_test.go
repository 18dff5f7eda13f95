package zktest_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// A faultyListener has a client once its Accept has failed so often, and again after as many further failures.
type faultyListener struct {
	failures int
	failed   int         // since the last client
	calls    []time.Time // when Accept was called
	clients  chan net.Conn
	closed   chan struct{}
}

func newFaultyListener(failures int) *faultyListener {
	return &faultyListener{failures: failures, clients: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *faultyListener) Accept() (net.Conn, error) {
	l.calls = append(l.calls, time.Now())
	if l.failed++; l.failed <= l.failures {
		return nil, &net.OpError{Op: "accept", Net: "test", Err: syscall.EMFILE}
	}
	l.failed = 0
	select {
	case nc := <-l.clients:
		return nc, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *faultyListener) Close() error   { close(l.closed); return nil }
func (l *faultyListener) Addr() net.Addr { return &net.TCPAddr{} }

// ask connects, and waits for an answer.
func (l *faultyListener) ask(t *testing.T) string {
	t.Helper()
	mine, theirs := net.Pipe()
	defer mine.Close()
	select {
	case l.clients <- theirs:
	case <-time.After(time.Minute):
		t.Fatalf("got no Accept in a minute, after %d of them, want one that takes a client", len(l.calls))
	}
	if _, err := io.WriteString(mine, "ruok"); err != nil {
		t.Error(err)
	}
	answer, err := io.ReadAll(mine)
	if err != nil {
		t.Error(err)
	}
	return string(answer)
}

func TestServeGoesOnAfterAFailedAcceptWithGrowingPauses(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var log bytes.Buffer
		srv, l := zktest.NewServer(zktest.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))), newFaultyListener(10)
		served := make(chan error, 1)
		go func() { served <- srv.Serve(l) }()
		for range 2 { // the second client comes after as many failures, and the pauses start again
			if got, want := l.ask(t), "imok"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		srv.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve after Close: got %v, want nil", err)
		}
		if got, want := log.String(), `accept failed" address=:0 error="accept test: too many open files" pause=5ms`; !strings.Contains(got, want) {
			t.Errorf("log: got %s, want %s", got, want)
		}
		var pauses []time.Duration
		for i := range l.failures {
			pauses = append(pauses, l.calls[i+1].Sub(l.calls[i]))
		}
		for i := range 8 {
			if got, want := pauses[i], 5*time.Millisecond<<i; got != want {
				t.Errorf("pause %d: got %v, want %v", i, got, want)
			}
		}
		if got, want := pauses[8:], []time.Duration{time.Second, time.Second}; !slices.Equal(got, want) {
			t.Errorf("last pauses: got %v, want %v", got, want)
		}
		again := l.failures + 1
		if got, want := l.calls[again+1].Sub(l.calls[again]), 5*time.Millisecond; got != want {
			t.Errorf("first pause after a client: got %v, want %v", got, want)
		}
	})
}

func TestCloseDoesNotWaitForThePauseAfterAFailedAccept(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv, l := zktest.NewServer(), newFaultyListener(1000)
		served := make(chan error, 1)
		go func() { served <- srv.Serve(l) }()
		time.Sleep(10*time.Second + time.Millisecond)
		began := time.Now()
		srv.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: got %v, want nil", err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %v, want no time", took)
		}
	})
}

func TestServeReturnsTheErrorOfAListenerThatIsClosed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv, l := zktest.NewServer(), newFaultyListener(0)
		defer srv.Close()
		served := make(chan error, 1)
		go func() { served <- srv.Serve(closedByHand{l}) }()
		l.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want %v", err, net.ErrClosed)
		}
	})
}

// closedByHand may be closed by Serve once more.
type closedByHand struct{ *faultyListener }

func (closedByHand) Close() error { return nil }

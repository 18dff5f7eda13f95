package nodes_test

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

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// requests are what servers have executed below /services, or on it.
type requests struct {
	mu  sync.Mutex
	all []string
}

func observe(t *testing.T, server *zktest.Server) *requests {
	t.Helper()
	r := &requests{}
	t.Cleanup(server.Observe(func(request zktest.Request) {
		if !strings.HasPrefix(request.Path, "/services") {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, strings.TrimSuffix(request.Op.String(), "2")+" "+request.Path)
	}))
	return r
}

// take returns what was asked since the last time.
func (r *requests) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.all
	r.all = nil
	return taken
}

func (r *requests) want(t *testing.T, want ...string) {
	t.Helper()
	if got := r.take(); !slices.Equal(got, want) {
		t.Errorf("got the requests %q, want %q", got, want)
	}
}

// transactions are what servers have executed on one node, each transaction as one text.
type transactions struct {
	mu  sync.Mutex
	all []string
}

func record(t *testing.T, server *zktest.Server, path string) *transactions {
	t.Helper()
	r := &transactions{}
	t.Cleanup(server.ObserveTransactions(func(transaction zktest.Transaction) {
		var parts []string
		for _, c := range transaction.Changes {
			switch {
			case c.Path != path:
			case c.Kind == zktest.Deleted:
				parts = append(parts, "Deleted")
			default:
				parts = append(parts, fmt.Sprintf("%v=%s", c.Kind, c.Data))
			}
		}
		if len(parts) > 0 {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.all = append(r.all, strings.Join(parts, ","))
		}
	}))
	return r
}

// want checks what was executed since the last time.
func (r *transactions) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.all, want) {
		t.Errorf("got the transactions %q, want %q", r.all, want)
	}
	r.all = nil
}

// wantNoGap checks that there was a node after each transaction.
func (r *transactions) wantNoGap(t *testing.T) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 || slices.ContainsFunc(r.all, func(one string) bool { return strings.HasSuffix(one, "Deleted") }) {
		t.Errorf("got the transactions %q, want some, and a node after each", r.all)
	}
	r.all = nil
}

// warnings is a log.
type warnings struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (w *warnings) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(line)
}

func (w *warnings) option() framework.Option {
	return framework.WithLogger(slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})))
}

func (w *warnings) count(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.log.String(), text)
}

// An exchange is a way to one server, and later to another.
type exchange struct {
	mu   sync.Mutex
	link *zktest.Link
}

func (e *exchange) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	e.mu.Lock()
	link := e.link
	e.mu.Unlock()
	return link.DialContext(ctx, network, address)
}

func (e *exchange) to(link *zktest.Link) {
	e.mu.Lock()
	old := e.link
	e.link = link
	e.mu.Unlock()
	old.Cut()
}

package goframeregistry_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	goframeregistry "github.com/gocurator/curator/examples/adapters/goframe"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
)

const (
	timeout = 20 * time.Second // the session timeout
	prefix  = "/service/default/default/hello/latest"
	dir     = "/microservices/service-default-default-hello-latest"
)

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

func connect(t *testing.T, dial dialer, opts ...framework.Option) *framework.Client {
	t.Helper()
	opts = append(opts, framework.WithDialer(dial), framework.WithSessionTimeout(timeout))
	client, err := framework.NewClient("any:2181", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func registryOf(client *framework.Client, opts ...nodes.Option) gsvcRegistry {
	return goframeregistry.New[gsvcWatcher, gsvcSearchInput](client, goframeregistry.DefaultRoot, newServiceWithKV, opts...)
}

func services(t *testing.T, dial dialer, opts ...nodes.Option) gsvcRegistry {
	t.Helper()
	return registryOf(connect(t, dial), opts...)
}

// hello is the service that the tests are about, at an address.
func hello(address string) *service {
	return &service{name: "hello", version: "latest", endpoints: address, metadata: gsvcMetadata{"protocol": "http", "weight": 3}}
}

func register(t *testing.T, r gsvcRegistry, s gsvcService) {
	t.Helper()
	if got, err := r.Register(t.Context(), s); got != s || err != nil {
		t.Fatalf("Register: got %v, %v, want the service", got, err)
	}
}

func deregister(t *testing.T, r gsvcRegistry, s gsvcService) {
	t.Helper()
	if err := r.Deregister(t.Context(), s); err != nil {
		t.Fatalf("Deregister: got %v, want nil", err)
	}
}

func addresses(found []gsvcService) string {
	var all []string
	for _, s := range found {
		all = append(all, s.GetEndpoints()...)
	}
	return strings.Join(all, " ")
}

func wantServices(t *testing.T, r gsvcRegistry, want string) {
	t.Helper()
	wantFound(t, r, gsvcSearchInput{Prefix: prefix}, want)
}

func wantFound(t *testing.T, r gsvcRegistry, in gsvcSearchInput, want string) {
	t.Helper()
	if got, err := r.Search(t.Context(), in); addresses(got) != want || err != nil {
		t.Errorf("Search of %+v: got %q, %v, want %q", in, addresses(got), err, want)
	}
}

// A follower calls Proceed again and again, as GoFrame's client does.
type follower struct {
	gsvcWatcher
	heard chan string
	errs  chan error
}

func follow(t *testing.T, r gsvcRegistry) *follower {
	t.Helper()
	w, err := r.Watch(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	f, ended := &follower{gsvcWatcher: w, heard: make(chan string, 1000), errs: make(chan error, 1000)}, make(chan struct{})
	go func() {
		defer close(ended)
		for {
			found, err := w.Proceed()
			if err == nil {
				f.heard <- addresses(found)
				continue
			}
			f.errs <- err
			if errors.Is(err, context.Canceled) || errors.Is(err, framework.ErrClosed) {
				return
			}
			time.Sleep(time.Second)
		}
	}()
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("Close: got %v, want nil", err)
		}
		<-ended
	})
	return f
}

// want waits a minute, and compares all that Proceed has returned meanwhile.
func (f *follower) want(t *testing.T, after string, want ...string) {
	t.Helper()
	time.Sleep(time.Minute)
	var got []string
	for range len(f.heard) {
		got = append(got, <-f.heard)
	}
	if !slices.Equal(got, want) {
		t.Errorf("after %s, Proceed returned %q, want %q", after, got, want)
	}
}

// A warnings handler counts records of the level of warnings.
type warnings struct {
	slog.Handler
	count chan string
}

func (w warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (w warnings) Handle(_ context.Context, record slog.Record) error {
	if record.Level == slog.LevelWarn {
		w.count <- record.Message
	}
	return nil
}

package kratosregistry_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-kratos/kratos/v2/registry"

	kratosregistry "github.com/gocurator/curator/examples/adapters/kratos"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
)

const timeout = 20 * time.Second // the session timeout

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

func services(t *testing.T, dial dialer, opts ...nodes.Option) *kratosregistry.Registry {
	t.Helper()
	return kratosregistry.New(connect(t, dial), kratosregistry.DefaultRoot, opts...)
}

// hello is an instance of the service that the tests are about.
func hello(id string) *registry.ServiceInstance {
	return &registry.ServiceInstance{
		ID: id, Name: "hello", Version: "v1", Metadata: map[string]string{"zone": "a"},
		Endpoints: []string{"grpc://10.0.0.1:9000?isSecure=false"},
	}
}

func register(t *testing.T, r *kratosregistry.Registry, service *registry.ServiceInstance) {
	t.Helper()
	if err := r.Register(t.Context(), service); err != nil {
		t.Fatalf("Register: got %v, want nil", err)
	}
}

func deregister(t *testing.T, r *kratosregistry.Registry, service *registry.ServiceInstance) {
	t.Helper()
	if err := r.Deregister(t.Context(), service); err != nil {
		t.Fatalf("Deregister: got %v, want nil", err)
	}
}

func ids(instances []*registry.ServiceInstance) string {
	var found []string
	for _, i := range instances {
		found = append(found, i.ID)
	}
	return strings.Join(found, " ")
}

func wantServices(t *testing.T, r *kratosregistry.Registry, want string) {
	t.Helper()
	if got, err := r.GetService(t.Context(), "hello"); ids(got) != want || err != nil {
		t.Errorf("GetService: got %q, %v, want %q", ids(got), err, want)
	}
}

// A follower calls Next again and again, as Kratos's resolver does.
type follower struct {
	registry.Watcher
	heard chan string
	errs  chan error
}

func follow(t *testing.T, r *kratosregistry.Registry) *follower {
	t.Helper()
	w, err := r.Watch(t.Context(), "hello")
	if err != nil {
		t.Fatal(err)
	}
	f, ended := &follower{Watcher: w, heard: make(chan string, 1000), errs: make(chan error, 1000)}, make(chan struct{})
	go func() {
		defer close(ended)
		for {
			instances, err := w.Next()
			if err == nil {
				f.heard <- ids(instances)
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
		if err := w.Stop(); err != nil {
			t.Errorf("Stop: got %v, want nil", err)
		}
		<-ended
	})
	return f
}

// want waits a minute, and compares all that Next has returned meanwhile.
func (f *follower) want(t *testing.T, after string, want ...string) {
	t.Helper()
	time.Sleep(time.Minute)
	var got []string
	for range len(f.heard) {
		got = append(got, <-f.heard)
	}
	if !slices.Equal(got, want) {
		t.Errorf("after %s, Next returned %q, want %q", after, got, want)
	}
}

// A warnings handler counts records of the level of warnings.
type warnings struct {
	slog.Handler
	count chan string
}

func (w warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (w warnings) Handle(_ context.Context, record slog.Record) error {
	w.count <- record.Message
	return nil
}

package framework

import (
	"context"
	"net"
	"testing"

	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/zktest"
)

// What an operation allocates without a trace is what it allocates where there is no such thing; with one it is more,
// so that the comparison says something.
func TestATraceThatIsNotSetAllocatesNothing(t *testing.T) {
	srv := zktest.New(t)
	allocations := func(opts ...Option) (untraced, all float64) {
		client, err := NewClient("zk", append(opts, WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			return srv.DialContext(ctx, network, address)
		}))...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		nothing := func(context.Context, *live.Session, string, bool) error { return nil }
		run := func(op func(ctx context.Context, op, path string, f try) error) float64 {
			return testing.AllocsPerRun(1000, func() { _ = op(t.Context(), "get", "/a", nothing) })
		}
		untraced, all = run(client.doRetrying), run(client.do)
		for range 4 { // operations allocate more until the client has settled after its connection
			untraced, all = min(untraced, run(client.doRetrying)), min(all, run(client.do))
		}
		return untraced, all
	}
	if untraced, all := allocations(WithTrace(Trace{OrphanFound: func(string) {}})); all != untraced {
		t.Errorf("got %v allocations without a trace of operations, want %v", all, untraced)
	}
	if untraced, all := allocations(WithTrace(Trace{Operation: func(context.Context, Operation) {}})); all <= untraced {
		t.Errorf("got %v allocations with a trace, want more than %v", all, untraced)
	}
}

package framework_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// A creation works at one server and is hung up on by the other, as by one of another kind behind the same list. Each
// is judged by itself, and the one where it has worked is never done without.
func TestWhatOneServerHangsUpOnIsStillAskedOfAnother(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ensemble := zktest.NewEnsemble(2)
		t.Cleanup(func() { ensemble.Close() })
		link := ensemble.NewLink()
		var open atomic.Value // the one address that takes connections
		client, err := framework.NewClient(ensemble.Addrs()[0]+","+ensemble.Addrs()[1],
			framework.WithRetryPolicy(retry.NTimes(20, 10*time.Millisecond)),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				if address != open.Load() {
					return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
				}
				return link.DialContext(ctx, network, address)
			}))
		must(t, err)
		defer client.Close()
		creations := 0
		create := func(server, drops int) (asked map[zktest.Op]int) {
			t.Helper()
			if open.Swap(ensemble.Addrs()[server]) != nil {
				link.Reset()
			}
			asked = map[zktest.Op]int{}
			stop := ensemble.Server(server).Observe(func(r zktest.Request) { asked[r.Op]++ })
			defer stop()
			for nth := range drops {
				ensemble.Server(server).DropRequest(zktest.Match{Op: zktest.OpCreate2, Nth: nth + 1})
			}
			creations++
			if _, _, err := client.Create(t.Context(), fmt.Sprintf("/%d", creations), nil, framework.WithProtection()); err != nil {
				t.Error(err)
			}
			return asked
		}
		create(1, 0)
		if got := create(0, 3); got[zktest.OpCreate2] != 0 || got[zktest.OpCreate] != 1 {
			t.Errorf("got %v executed at the server that hangs up, want a create and no create2", got)
		}
		if got := create(0, 0); got[zktest.OpCreate2] != 0 {
			t.Errorf("got %v there later, want no create2", got)
		}
		if got := create(1, 0); got[zktest.OpCreate2] != 1 || got[zktest.OpCreate] != 0 {
			t.Errorf("got %v at the server where it has worked, want a create2", got)
		}
	})
}

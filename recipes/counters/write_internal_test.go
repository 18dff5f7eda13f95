package counters

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// What a transaction returns, and whether that proves that it was not executed; if not, whether it is sent again.
func TestErrorsThatProveThatAWriteWasNotExecutedAreKnown(t *testing.T) {
	used := &retry.Error{Attempts: 4, Last: framework.ErrSessionLost, Cause: retry.ErrExhausted}
	for _, test := range []struct {
		err               error
		unexecuted, again bool
	}{
		{&framework.TransactionError{Op: "set", Path: "/n", Err: zk.ErrBadVersion}, true, false},
		{used, true, false},
		{&framework.ConnectError{Cause: context.Canceled}, true, false},
		{framework.ErrClosed, true, false},
		{framework.ErrNoChroot, true, false},
		{framework.ErrAuthRefused, true, false},
		{framework.ErrConnectionLost, false, true},
		{fmt.Errorf("%w: %w", framework.ErrConnectionLost, framework.ErrTooLarge), false, true},
		{zk.ErrConnectionClosed, false, true},
		{context.Canceled, false, false},
		{&framework.DisconnectError{Request: "multi", Times: 3, Err: errors.New("EOF")}, false, false},
		{errors.New("an answer that this package has never heard of"), false, false},
	} {
		err := &framework.OpError{Op: "transaction", Path: "/", Err: test.err}
		if got := unexecuted(err); got != test.unexecuted {
			t.Errorf("%v: got unexecuted %v, want %v", err, got, test.unexecuted)
		}
		if got := answerLost(err); got != test.again && !test.unexecuted {
			t.Errorf("%v: got sent again %v, want %v", err, got, test.again)
		}
	}
}

// Version -1 is any to ZooKeeper. What is done for it is tried at other versions here: no node can be brought to -1 by
// fewer than 2³² writes.
func TestTheVersionAfterwardsIsAConditionOnTheOneBefore(t *testing.T) {
	for version, want := range map[int32]int{-1: 2, 0: 1, 7: 1, -2: 1} {
		if got := len(setIf("/n", nil, version)); got != want {
			t.Errorf("version %d: got %d parts, want %d", version, got, want)
		}
	}
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		if err := server.Create("/n", nil); err != nil {
			t.Fatal(err)
		}
		for before := range int32(4) {
			for after := range int32(6) {
				_, err := client.Transaction(t.Context(), setIfAnyLeaves(framework.SetOp("/n", []byte{1}, -1), "/n", after)...)
				stat, _ := server.Stat("/n")
				switch {
				case after == before+1 && (err != nil || stat.Version != after):
					t.Errorf("from %d to %d: got version %d, %v, want it set", before, after, stat.Version, err)
				case after == before+1:
					if err := server.Delete("/n"); err != nil {
						t.Fatal(err)
					}
					if err := server.Create("/n", nil); err != nil {
						t.Fatal(err)
					}
					for range before {
						if err := server.SetData("/n", nil); err != nil {
							t.Fatal(err)
						}
					}
				case !errors.Is(err, zk.ErrBadVersion) || stat.Version != before:
					t.Errorf("from %d to %d: got version %d, %v, want ErrBadVersion", before, after, stat.Version, err)
				}
			}
			if err := server.SetData("/n", nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

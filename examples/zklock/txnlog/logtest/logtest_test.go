package logtest_test

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/examples/zklock/txnlog/logtest"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestALogHasWhatTheServerExecuted(t *testing.T) {
	server, dir := zktest.New(t), t.TempDir()
	var mu sync.Mutex
	var want []zktest.Transaction
	server.ObserveTransactions(func(txn zktest.Transaction) {
		mu.Lock()
		defer mu.Unlock()
		if len(txn.Changes) == 0 {
			txn.Changes = nil
		}
		txn.At = time.UnixMilli(txn.At.UnixMilli())
		want = append(want, txn)
	})
	logtest.Keep(t, server, dir)
	client, err := framework.NewClient(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := locks.Do(t.Context(), locks.NewInterProcessMutex(client, "/locks/a"), func(ctx context.Context) error {
			_, err := client.Set(ctx, "/locks", []byte("x"), -1)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	lease, err := locks.NewInterProcessMutex(client, "/locks/b").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil || lease.Err() == nil { // the session takes the node with it
		t.Fatal(err)
	}
	got, err := txnlog.Read(dir + "/version-2")
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(got) != len(want) || len(got) < 8 {
		t.Fatalf("got %d transactions, want the %d that were executed", len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}

//go:build unix

package integration_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// Contenders that come together at the end of a directory's counter get numbers in no order. None may be let in beside
// another; in the end the directory goes, and later contenders are served.
func TestNoTwoHoldALockAtTheEndOfTheCounterOfARealServer(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	const lastNumber, contenders = 1<<31 - 1 - 1<<16, 16
	for path, test := range map[string]struct{ next, least, most int32 }{
		"/locks/near":   {next: lastNumber - 499, least: 500 - contenders, most: 500},
		"/locks/beyond": {next: 1<<31 - 2}, // two creations may get the same number
	} {
		first := newClient(t, server)
		for _, dir := range []string{"/locks", path} {
			_, _, err := first.Create(t.Context(), dir, nil, framework.WithMode(framework.Container))
			if err != nil && !errors.Is(err, zk.ErrNodeExists) {
				t.Fatal(err)
			}
		}
		// An empty container would go in a second, before the contenders come on a busy machine.
		stranger := path + "/stranger"
		if _, _, err := first.Create(t.Context(), stranger, nil); err != nil {
			t.Fatal(err)
		}
		server.SetCounter(path, test.next)
		c := contest{path: path}
		var group sync.WaitGroup
		for range contenders / 4 {
			client := newClient(t, server)
			for range 4 {
				group.Go(func() { c.contend(t, client) })
			}
		}
		group.Wait()
		if err := first.Delete(t.Context(), stranger, -1); err != nil {
			t.Fatal(err)
		}
		got, refused, overlaps := c.got.Load(), c.refused.Load(), c.overlaps.Load()
		t.Logf("%s: %d granted, %d refused, %d overlapped", path, got, refused, overlaps)
		if overlaps > 0 || refused != contenders || got < test.least || got > test.most {
			t.Errorf("%s: %d granted, want %d to %d; %d refused, want %d; %d overlapped", path, got, test.least, test.most, refused, contenders, overlaps)
		}

		if version := zookeeper.Version(); strings.HasPrefix(version, "3.4.") || strings.HasPrefix(version, "3.5.") {
			// It takes a container whose counter has become negative for one that was never used, and keeps it.
			if err := first.Delete(t.Context(), path, -1, framework.Guaranteed()); err != nil && !errors.Is(err, zk.ErrNoNode) {
				t.Fatal(err)
			}
		}
		var stat *zk.Stat
		var err error
		if !await.Within(patience, func() bool {
			stat, err = first.Exists(t.Context(), path)
			return err == nil && stat == nil
		}) {
			t.Fatalf("%s: got %+v, %v after %v, want no node", path, stat, err, patience)
		}
		lease, err := locks.NewInterProcessMutex(newClient(t, server), path).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}
}

// newClient returns a client whose session and whose operations outlast a restart of the server on a busy machine.
func newClient(t *testing.T, server *zookeeper.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	c, err := framework.NewClient(server.Addr(), append([]framework.Option{
		framework.WithSessionTimeout(time.Minute), framework.WithConnectionTimeout(time.Minute),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

type contest struct {
	path                           string
	inside, overlaps, got, refused atomic.Int32
}

// contend acquires and releases until it is refused.
func (c *contest) contend(t *testing.T, client *framework.Client) {
	mutex := locks.NewInterProcessMutex(client, c.path)
	for {
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			if !errors.Is(err, locks.ErrCounterExhausted) {
				t.Error(err)
			}
			c.refused.Add(1)
			return
		}
		if c.inside.Add(1) > 1 {
			c.overlaps.Add(1)
		}
		c.got.Add(1)
		time.Sleep(time.Millisecond) // long enough for another to be let in beside it
		c.inside.Add(-1)
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}
}

package counters_test

import (
	"errors"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
)

// Nothing is sent.
func TestMisuseIsReportedByEachCallWithAllThatIsWrong(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		requests := server.CountRequests(zktest.Match{Path: "/*"})
		long := counters.NewDistributedAtomicLong
		for want, l := range map[string]*counters.DistributedAtomicLong{
			`counters: counter at "hits": framework: invalid path "hits": must begin with /; client is nil; an option is nil; ` +
				`lock: framework: invalid path "": empty`: long(nil, "hits", nil, counters.WithLock("")),
			`counters: counter at "/": the root is no counter`: long(client, "/"),
			`counters: counter at "/hits": the path of the lock, "/hits", is the counter's or below it`: long(
				client, "/hits", counters.WithLock("/hits")),
			`counters: counter at "/hits": the path of the lock, "/hits/lock", is the counter's or below it`: long(
				client, "/hits", counters.WithLock("/hits/lock")),
			`counters: a counter comes from its constructor`: {},
		} {
			_, errGet := l.Get(t.Context())
			_, _, errAdd := l.Add(t.Context(), 1)
			_, errCompare := l.CompareAndSet(t.Context(), 1, 2)
			errSet := l.Set(t.Context(), 1)
			_, errInitialize := l.Initialize(t.Context(), 1)
			for name, err := range map[string]error{
				"Get": errGet, "Add": errAdd, "CompareAndSet": errCompare, "Set": errSet, "Initialize": errInitialize,
			} {
				if err == nil || err.Error() != want {
					t.Errorf("%s: got %v, want %s", name, err, want)
				}
			}
		}
		_, err := counters.NewDistributedAtomicInteger(client, "hits").Get(t.Context())
		if !errors.Is(err, framework.ErrInvalidPath) {
			t.Errorf("got %v, want ErrInvalidPath", err)
		}
		if n := requests(); n > 0 {
			t.Errorf("got %d requests, want none", n)
		}
	})
}

// The lock of one counter may lie beside it or above, and serve others.
func TestPathsOfLocksThatOnlyLookLikeTheCountersAreTaken(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		for _, lock := range []string{"/numbers", "/numbers/hits-lock", "/numbers/lock"} {
			l := counters.NewDistributedAtomicLong(client, path, counters.WithLock(lock))
			if _, _, err := l.Add(t.Context(), 1); err != nil {
				t.Errorf("%s: got %v, want none", lock, err)
			}
		}
	})
}

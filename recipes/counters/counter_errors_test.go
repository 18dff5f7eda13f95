package counters_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
)

func TestDataOfAnotherLengthAreNoNumber(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		long := counters.NewDistributedAtomicLong(client, path)
		integer := counters.NewDistributedAtomicInteger(client, path)
		for length := 1; length < 20; length++ {
			data := bytes.Repeat([]byte{1}, length)
			put(t, server, data)
			was, _ := server.Stat(path)
			if length != 8 {
				_, err := long.Get(t.Context())
				wantCertain(t, err, counters.ErrNotACounter)
				_, _, err = long.Add(t.Context(), 1)
				wantCertain(t, err, counters.ErrNotACounter)
				_, err = long.CompareAndSet(t.Context(), 1, 2)
				wantCertain(t, err, counters.ErrNotACounter)
			}
			if length != 4 {
				_, _, err := integer.Add(t.Context(), 1)
				wantCertain(t, err, counters.ErrNotACounter)
			}
			if is, _ := server.Stat(path); is != was {
				t.Errorf("%d bytes: got the node changed, from %+v to %+v, want none", length, was, is)
			}
		}
		if ok, err := long.Initialize(t.Context(), 1); ok || err != nil {
			t.Errorf("Initialize: got %v, %v, want false", ok, err)
		}
		_, err := long.Get(t.Context())
		if want := `counters: not a counter: "/numbers/hits" has 19 bytes, want 8 or none`; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if err := long.Set(t.Context(), 5); err != nil {
			t.Errorf("Set: got %v, want the data replaced", err)
		}
		wantNumber(t, server, 5)
	})
}

func TestErrorsOfTheServerAreCertain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, _ := newLong(t, server)
		const read, create = 1, 4
		must(t, server.SetACL(path, zktest.ACL{Perms: read, Scheme: "world", ID: "anyone"}))
		_, _, err := l.Add(t.Context(), 1)
		wantCertain(t, err, zk.ErrNoAuth)
		_, err = l.CompareAndSet(t.Context(), 5, 6)
		wantCertain(t, err, zk.ErrNoAuth)
		wantCertain(t, l.Set(t.Context(), 6), zk.ErrNoAuth)
		must(t, server.SetACL(path, zktest.ACL{Perms: create, Scheme: "world", ID: "anyone"}))
		_, err = l.Get(t.Context())
		wantCertain(t, err, zk.ErrNoAuth)
		remove(t, server)
		must(t, server.SetACL("/numbers", zktest.ACL{Perms: read, Scheme: "world", ID: "anyone"}))
		_, _, err = l.Add(t.Context(), 1)
		wantCertain(t, err, zk.ErrNoAuth)
		_, err = l.Initialize(t.Context(), 1)
		wantCertain(t, err, zk.ErrNoAuth)
	})
}

// A transaction has no path of its own.
func TestAWriteThatFailsNamesTheCounterAndTheOperation(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, _ := newLong(t, server)
		for op, call := range map[string]func() error{
			"add":             func() error { _, _, err := l.Add(t.Context(), 1); return err },
			"compare and set": func() error { _, err := l.CompareAndSet(t.Context(), 5, 6); return err },
			"initialize":      func() error { _, err := l.Initialize(t.Context(), 6); return err },
		} {
			for nth := range 6 { // as many tries as the retry policy allows
				throttled := write
				throttled.Nth = nth + 1
				server.ThrottleRequest(throttled)
			}
			err := call()
			wantCertain(t, err, err)
			if want := fmt.Sprintf("counters: %s at %q: framework: ", op, path); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got the error %v, want it to begin with %s", err, want)
			}
		}
		wantNumber(t, server, 5)
	})
}

func TestCallsOfAClosedClientFail(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		client, _ := newClient(t, server)
		l := counters.NewDistributedAtomicLong(client, path)
		_ = client.Close()
		synctest.Wait()
		_, _, err := l.Add(t.Context(), 1)
		wantCertain(t, err, framework.ErrClosed)
		_, err = l.CompareAndSet(t.Context(), 5, 6)
		wantCertain(t, err, framework.ErrClosed)
		_, err = l.Initialize(t.Context(), 6)
		wantCertain(t, err, framework.ErrClosed)
		if err := l.Set(t.Context(), 6); !errors.Is(err, framework.ErrClosed) {
			t.Errorf("Set: got %v, want ErrClosed", err)
		}
		wantNumber(t, server, 5)
	})
}

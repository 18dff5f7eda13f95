package shared_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/shared"
)

// confirm calls Confirm on another goroutine.
func confirm(ctx context.Context, count *shared.SharedCount) <-chan error {
	confirmed := make(chan error, 1)
	go func() { confirmed <- count.Confirm(ctx) }()
	return confirmed
}

func waits(t *testing.T, confirmed <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-confirmed:
		t.Fatalf("Confirm returned %v, want it to wait", err)
	default:
	}
}

func TestConfirmAsksNothingWhileNothingHasChanged(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		before := server.Counts()[zktest.OpGetData]
		for range 10 {
			wantErr(t, count.Confirm(t.Context()))
		}
		synctest.Wait()
		if n := server.Counts()[zktest.OpGetData] - before; n != 0 || server.WatchCount() != 1 {
			t.Errorf("got %d reads and %d watches, want none and 1", n, server.WatchCount())
		}
	})
}

// A watch of Confirm that stays would keep the server's, which the count's own takes off.
func TestConfirmLeavesNoWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		wantErr(t, count.Confirm(t.Context()))
		wantErr(t, count.Close())
		synctest.Wait()
		if n := server.WatchCount(); n > 0 {
			t.Errorf("got %d watches after Close, want none", n)
		}
	})
}

// No session is waited for.
func TestConfirmOfACountThatIsNotFollowedFailsInAnOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		count := start(t, client, 1)
		link.Cut()
		time.Sleep(sessionTimeout + time.Second)
		began := time.Now()
		wantErr(t, count.Close())
		if err, took := count.Confirm(t.Context()), time.Since(began); !errors.Is(err, shared.ErrNotStarted) || took > 0 {
			t.Errorf("got %v after %v, want %v at once", err, took, shared.ErrNotStarted)
		}
	})
}

// The event is there, and the new value is still to be read.
func TestConfirmWaitsForAChangeThatWasHeardOf(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		answer := server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: path})
		must(t, server.SetData(path, bytesOf(2)))
		synctest.Wait()
		confirmed := confirm(t.Context(), count)
		waits(t, confirmed)
		answer()
		if err := <-confirmed; err != nil || count.Count() != 2 {
			t.Errorf("got %v and count %d, want 2", err, count.Count())
		}
	})
}

func TestConfirmWaitsUntilTheNodeIsReadAfterAnOutage(t *testing.T) {
	for _, outage := range []time.Duration{sessionTimeout / 5, sessionTimeout + time.Second} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, link := newClient(t, server)
			other, _ := newClient(t, server)
			count, theirs := start(t, client, 1), start(t, other, 1)
			link.Cut()
			set(t, theirs, 2)
			time.Sleep(outage)
			confirmed := confirm(t.Context(), count)
			waits(t, confirmed)
			link.Heal()
			if err := <-confirmed; err != nil || count.Count() != 2 {
				t.Errorf("outage of %v: got %v and count %d, want 2", outage, err, count.Count())
			}
		})
	}
}

func TestConfirmAsksAboutANodeThatIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 1)
		must(t, server.Delete(path))
		for range 3 {
			synctest.Wait()
			if err := count.Confirm(t.Context()); err != nil || count.Count() != 1 {
				t.Errorf("got %v and count %d, want the last value, 1", err, count.Count())
			}
		}
		must(t, server.Create(path, bytesOf(7)))
		synctest.Wait()
		if err := count.Confirm(t.Context()); err != nil || count.Count() != 7 {
			t.Errorf("a new node: got %v and count %d, want 7", err, count.Count())
		}
	})
}

func TestConfirmEndsWithTheFollowingAndWithItsContext(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(client *framework.Client, count *shared.SharedCount, stop func())
		want error
	}{
		"count closed":  {func(_ *framework.Client, count *shared.SharedCount, _ func()) { _ = count.Close() }, shared.ErrNotStarted},
		"client closed": {func(client *framework.Client, _ *shared.SharedCount, _ func()) { _ = client.Close() }, framework.ErrClosed},
		"ctx":           {func(_ *framework.Client, _ *shared.SharedCount, stop func()) { stop() }, context.Canceled},
	} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, _ := newClient(t, server)
			count := start(t, client, 1)
			server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: path})
			must(t, server.SetData(path, bytesOf(2)))
			synctest.Wait()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			confirmed := confirm(ctx, count)
			waits(t, confirmed)
			began := time.Now()
			c.end(client, count, stop)
			// Close of the client takes a second.
			if err, took := <-confirmed, time.Since(began); !errors.Is(err, c.want) || took > time.Second {
				t.Errorf("%s: got %v after %v, want %v", name, err, took, c.want)
			}
		})
	}
}

package counters_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
)

func TestAddWhoseContextEndsDuringTheWaitForTheAnswerIsUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, _ := newLong(t, server)
		release := server.HoldRequest(write)
		ctx, cancel := context.WithCancelCause(t.Context())
		done := add(ctx, l, 1)
		synctest.Wait()
		reason := errors.New("had enough")
		cancel(reason)
		wantUnknown(t, (<-done).err, context.Canceled, reason)
		release()
		wantNumber(t, server, 6)
	})
}

func TestAddWhoseContextEndsBeforeTheWriteIsCertain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, link := newLong(t, server)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := l.Add(ctx, 1)
		wantCertain(t, err, context.Canceled)

		server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: path})
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err = l.Add(soon, 1)
		wantCertain(t, err, context.DeadlineExceeded)

		link.Cut()
		soon, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = l.CompareAndSet(soon, 5, 6)
		wantCertain(t, err, context.DeadlineExceeded)
		wantNumber(t, server, 5)
	})
}

// The server is overloaded and refuses the write, and the connection is lost in the pause before the next try.
func TestAddWhoseContextEndsInAnOutageBetweenTriesIsCertain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, link := newLong(t, server)
		server.ThrottleRequest(write)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		done := add(ctx, l, 1)
		synctest.Wait()
		link.Cut()
		got := <-done
		wantCertain(t, got.err, context.DeadlineExceeded)
		if !session.Outage(got.err) {
			t.Errorf("got %v, want an outage", got.err)
		}
		wantNumber(t, server, 5)
	})
}

// Lost races are counted by nothing but time.
func TestAddWhoseContextEndsBetweenRacesIsCertain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, _ := newLong(t, server)
		races := 0
		before(t, server, zktest.OpMulti, func(nth int) {
			races = nth
			number(t, server, 5)
		})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, _, err := l.Add(ctx, 1)
		wantCertain(t, err, context.DeadlineExceeded)
		if want := `counters: add at "/numbers/hits": context deadline exceeded`; err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("got %v, want a minute", took)
		}
		if races < 60 || races > 140 { // pauses are at most a second, and half of it at least
			t.Errorf("got %d races in a minute, want about one a second", races)
		}
		wantNumber(t, server, 5)
	})
}

func TestAnOutageIsCertainBeforeTheWriteAndUnknownAfterIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		client, link := newClient(t, server, framework.WithConnectionTimeout(3*time.Second))
		l := counters.NewDistributedAtomicLong(client, path)
		before(t, server, zktest.OpMulti, func(int) { link.Cut() })
		_, _, err := l.Add(t.Context(), 1)
		wantUnknown(t, err, framework.ErrConnectionLost)
		if !session.Outage(err) {
			t.Errorf("got %v, want the outage in it", err)
		}
		_, _, err = l.Add(t.Context(), 1)
		wantCertain(t, err, err)
		if !session.Outage(err) {
			t.Errorf("got %v, want an outage", err)
		}
	})
}

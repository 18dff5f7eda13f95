package shared_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/shared"
)

func TestAListenerThatBlocksHoldsUpNeitherTheCountNorOtherListeners(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		other, _ := newClient(t, server)
		count, theirs := start(t, client, 0), start(t, other, 0)
		goOn := make(chan struct{})
		var slow, quick tidings
		for range 5 { // among several, the one that blocks is not the last to be called
			count.OnChange(func(n int32) { <-goOn; slow.hear(n) })
		}
		count.OnChange(quick.hear)
		set(t, theirs, 1)
		set(t, theirs, 2)
		wantCount(t, count, 2)
		quick.want(t, 1, 2)
		closed := make(chan error, 1)
		go func() { closed <- count.Close() }()
		synctest.Wait()
		select {
		case err := <-closed:
			wantErr(t, err)
		default:
			t.Error("got Close waiting for a listener, want it returned")
		}
		close(goOn)
		slow.want(t, 1, 1, 1, 1, 1) // no call after Close
	})
}

func TestAListenerMayCloseTheCount(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		count := start(t, client, 0)
		var heard tidings
		ended := make(chan struct{})
		count.OnChange(func(n int32) {
			heard.hear(n)
			_ = count.Close()
			close(ended)
		})
		must(t, count.SetCount(t.Context(), 1))
		select {
		case <-ended:
		case <-time.After(time.Hour):
			t.Fatal("got no return of Close within an hour, want one")
		}
		heard.want(t, 1)
	})
}

func TestAListenerThatPanicsIsLoggedAndHearsTheNextValue(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var log bytes.Buffer
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext),
			framework.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))))
		must(t, err)
		t.Cleanup(func() { _ = client.Close() })
		count := start(t, client, 0)
		var heard tidings
		count.OnChange(func(n int32) {
			heard.hear(n)
			panic("broken listener")
		})
		set(t, count, 1)
		set(t, count, 2)
		heard.want(t, 1, 2)
		if n := strings.Count(log.String(), "a listener of a shared count panicked: broken listener"); n != 2 {
			t.Errorf("%d panics were logged, want 2:\n%s", n, log.String())
		}
	})
}

func TestAListenerHearsNoValueTwiceInARow(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		start(t, client, 7)
		count := shared.NewSharedCount(client, path, 0)
		goOn := make(chan struct{})
		var heard, early tidings
		count.OnChange(early.hear) // before Start, which finds 7
		must(t, count.Start(t.Context()))
		count.OnChange(func(n int32) { heard.hear(n); <-goOn })
		link.Reset()
		time.Sleep(time.Second) // the node is read again
		early.want(t)
		set(t, count, 1)
		synctest.Wait()
		set(t, count, 2)
		synctest.Wait()
		set(t, count, 1) // and back, while the listener blocks
		synctest.Wait()
		close(goOn)
		heard.want(t, 1)
		early.want(t, 1, 2, 1)
	})
}

func TestOnChangeRefusesANilFunction(t *testing.T) {
	defer func() {
		if got, want := recover(), "shared: OnChange: the function is nil"; got != want {
			t.Errorf("got panic %v, want %s", got, want)
		}
	}()
	shared.NewSharedCount(nil, path, 1).OnChange(nil)
}

package nodes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// No call of Set waits any more when the next session comes.
func TestDataThatAreTooLargeAndWereSetWithoutASessionLeaveThoseBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server, framework.WithMaxRequest(4096))
		node := start(t, client, path, "1")
		link.Cut()
		time.Sleep(time.Minute)
		wantErr(t, node.Set(within(t, time.Second), []byte(strings.Repeat("x", 5000))), context.DeadlineExceeded)
		link.Heal()
		time.Sleep(time.Minute)
		wantThere(t, server, client, node, "1")
		if got := string(node.Data()); got != "1" {
			t.Errorf("got data of %d bytes, want 1", len(got))
		}
	})
}

func TestDataThatAreTooLargeAndWereSetWhileStartBlocksLeaveThoseOfTheConstructor(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server, framework.WithMaxRequest(4096))
		makeNode(t, server, path, "other")
		node := newNode(t, client, path, "1")
		started := startSoon(t, node)
		set := setSoon(t.Context(), node, strings.Repeat("x", 5000))
		deleteNode(t, server, path)
		wantErr(t, <-set, framework.ErrTooLarge)
		wantErr(t, <-started)
		wantThere(t, server, client, node, "1")
		wantErr(t, node.Set(t.Context(), []byte("2")))
		wantThere(t, server, client, node, "2")
	})
}

func TestOfTwoSetsOfDataThatAreTooLargeBothFailThoughTheNodeSkipsTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server, framework.WithMaxRequest(4096))
		node := start(t, client, path, "1")
		link.Cut()
		time.Sleep(time.Minute)
		tooLarge := strings.Repeat("x", 5000)
		first, second := setSoon(t.Context(), node, tooLarge), setSoon(t.Context(), node, tooLarge)
		link.Heal()
		wantErr(t, <-first, framework.ErrTooLarge)
		wantErr(t, <-second, framework.ErrTooLarge)
		wantThere(t, server, client, node, "1")
	})
}

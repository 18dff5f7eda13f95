//go:build unix

package integration_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// patience bounds each wait for what must happen.
const patience = time.Minute

// outlasting is a session timeout that outlasts the restart of a server, and refused connections, on a busy machine.
const outlasting = 5 * time.Minute

func isNoAuth(err error) bool { return errors.Is(err, zk.ErrNoAuth) }

func wantRefused(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, framework.ErrAuthRefused) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %v with %q in it", err, framework.ErrAuthRefused, text)
	}
}

// awaitFailure waits until an attempt to connect has failed for a reason.
func awaitFailure(t *testing.T, client *framework.Client, says string) {
	t.Helper()
	var err error
	if !await.Within(patience, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err = client.BlockUntilConnected(ctx)
		return err == nil || strings.Contains(err.Error(), says)
	}) {
		await.Fatalf(t, "an attempt to connect to fail for the right reason: got %v, want %q in it", err, says)
	}
	if err == nil {
		t.Errorf("got a client that is connected, want an error with %q in it", says)
	}
}

// awaitFewerSessions waits until the server has fewer sessions than that.
func awaitFewerSessions(t *testing.T, server *zookeeper.Server, than int) {
	t.Helper()
	var got int
	if !await.Within(patience, func() bool {
		got = strings.Count(server.FourLetter("dump"), "\t0x")
		return got < than
	}) {
		t.Fatalf("the server has %d sessions after %v, want fewer than %d", got, patience, than)
	}
}

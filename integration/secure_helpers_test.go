//go:build unix

package integration_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/zookeeper"
)

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
	defer func() {
		if t.Failed() {
			t.Errorf("got %v, want %q in it", err, says)
		}
	}()
	await(t, "an attempt failed for the right reason", func() bool {
		err = within(t, client, 50*time.Millisecond)
		return err == nil || strings.Contains(err.Error(), says)
	})
	if err == nil {
		t.Error("the client is connected")
	}
}

// awaitFewerSessions waits until the server has fewer sessions than that.
func awaitFewerSessions(t *testing.T, server *zookeeper.Server, than int) {
	t.Helper()
	await(t, fmt.Sprintf("fewer than %d sessions", than), func() bool { return strings.Count(server.FourLetter("dump"), "\t0x") < than })
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

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

func isNoAuth(err error) bool { return errors.Is(err, zk.ErrNoAuth) }

func wantRefused(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, framework.ErrAuthRefused) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %v with %q in it", err, framework.ErrAuthRefused, text)
	}
}

// awaitSessions waits until the server has so many sessions.
func awaitSessions(t *testing.T, server *zookeeper.Server, want int) {
	t.Helper()
	await(t, fmt.Sprintf("%d sessions", want), func() bool { return strings.Count(server.FourLetter("dump"), "\t0x") == want })
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

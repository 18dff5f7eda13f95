//go:build unix

package integration_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// A server that is cut off from its quorum and allowed to serve reads closes the connection on the handshake of every
// client that did not ask for a read-only session, without a word. It does the same when it is not serving at all, so
// the client can only say what it may be.
func TestAReadOnlyServerIsNamedAsWhatItMayBe(t *testing.T) {
	ensemble := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{
		Config: zookeeper.Config{JavaOptions: []string{"-Dreadonlymode.enabled=true"}},
	})
	alone := ensemble.Members()[0]
	for _, other := range ensemble.Members()[1:] {
		other.Kill()
	}
	// It may break off a question while it changes its role.
	await.Until(t, patience, "the server to be read-only", func() bool { return alone.Role() == "read-only" })
	client, err := framework.NewClient(alone.Server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const want = "the server closed the connection without answering the handshake (it is not serving, or read-only for lack of a quorum"
	for wait := time.Second; wait < time.Minute; wait *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		err = client.BlockUntilConnected(ctx)
		cancel()
		if err == nil || strings.Contains(err.Error(), want) {
			break // otherwise the machine may be busy
		}
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

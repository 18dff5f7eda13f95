package lockstest_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// A server may remove a lock's empty directory between the preparation of a law and the create that the law is about.
func TestFaultsOfAnswersPassARefusedCreation(t *testing.T) {
	for name, spoil := range map[string]func(*lockstest.Link) (release func()){
		"dropped": func(l *lockstest.Link) func() { l.DropReply(lockstest.Create); return func() {} },
		"cut":     func(l *lockstest.Link) func() { l.CutAtReply(lockstest.Create); return func() {} },
		"held":    func(l *lockstest.Link) func() { return l.HoldReply(lockstest.Create) },
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.NewServer()
				defer server.Close()
				link := lockstest.NewLink("zktest:2181", server.NewLink().DialContext)
				client, err := framework.NewClient("zktest:2181", framework.WithDialer(link.DialContext))
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				if err := client.BlockUntilConnected(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer spoil(link)()
				_, _, err = client.Create(t.Context(), "/none/node", nil, framework.WithMode(framework.EphemeralSequential))
				if !errors.Is(err, zk.ErrNoNode) || link.Dials() != 1 || link.Refusals(lockstest.Create) != 1 {
					t.Errorf("a creation without a parent: %v, %d connections, %d refusals, want %v, 1, 1",
						err, link.Dials(), link.Refusals(lockstest.Create), zk.ErrNoNode)
				}
			})
		})
	}
}

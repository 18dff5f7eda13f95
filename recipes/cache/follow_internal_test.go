package cache

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// A pausing session acts between a look at a watch and the wait that follows.
type pausing struct {
	session.Session
	pause func()
}

func (p pausing) Done() <-chan struct{} {
	p.pause()
	return p.Session.Done()
}

// The connection is lost, and the root's watch is set on the next one, between the look at another node's watch and the
// wait. So one signal is all that is left of both.
func TestAReadingThatWasCutOffBeginsAgainAtOnceWhenTheRootIsWatched(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t, zktest.WithVersion("3.5"))
		link := server.NewLink()
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(link.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		s, err := client.Session(t.Context())
		if err := session.JoinErrors(err, server.Create("/t", nil), server.Create("/t/a", nil)); err != nil {
			t.Fatal(err)
		}
		c := NewCuratorCache(client, "/t")
		ctx, stop := context.WithCancel(t.Context())
		f, ended, paused := newFollower(c, "/t", stop), make(chan struct{}), false
		if err := c.begin(f); err != nil {
			t.Fatal(err)
		}
		go func() {
			defer close(ended)
			f.followIn(ctx, pausing{s, func() {
				if n, single := f.source.(*nodeSource); single && n.watched["/t/a"] != nil && !paused {
					paused = true
					link.Reset()
					time.Sleep(2 * time.Second)
				}
			}})
		}()
		time.Sleep(3 * time.Second)
		synced := c.Synced()
		_ = c.Close()
		if <-ended; !paused || !synced {
			t.Errorf("got paused %v, synced %v, want both", paused, synced)
		}
	})
}

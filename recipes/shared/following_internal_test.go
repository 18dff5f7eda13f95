package shared

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// The ensemble is replaced by a younger one, whose zxids are lower. The follower takes its value; if the follower comes
// late, Confirm does, and must not return with the old one.
func TestTheValueOfAYoungerEnsembleIsTaken(t *testing.T) {
	for name, confirms := range map[string]bool{"by the follower": false, "by Confirm before the follower": true} {
		t.Run(name, func(t *testing.T) { replaceEnsemble(t, confirms) })
	}
}

func replaceEnsemble(t *testing.T, confirms bool) {
	zktest.Bubble(t, func(t *testing.T) {
		server, successor := zktest.New(t), zktest.New(t)
		var present atomic.Pointer[zktest.Server]
		present.Store(server)
		client, err := framework.NewClient("zktest:2181", framework.WithSessionTimeout(10*time.Second),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				return present.Load().DialContext(ctx, network, address)
			}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		for _, node := range []string{"/a", "/b", "/c"} {
			if err := server.Create(node, nil); err != nil {
				t.Fatal(err)
			}
		}
		count := NewSharedCount(client, "/count", 3)
		if err := count.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if confirms {
			withoutFollower(count)
		}
		if err := successor.Create("/count", encode(1)); err != nil {
			t.Fatal(err)
		}
		old, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		present.Store(successor)
		server.CutAll()
		<-old.Done()
		if confirms {
			err = count.Confirm(t.Context())
		} else {
			time.Sleep(time.Minute)
		}
		if err != nil || count.Count() != 1 {
			t.Errorf("got %v and count %d, want 1, the younger ensemble's", err, count.Count())
		}
		_ = count.Close()
	})
}

// withoutFollower ends the follower of a count, which does not hear of that: the follower comes late.
func withoutFollower(c *SharedCount) {
	c.stop()
	<-c.done
	c.refuse(nil)
}

// A caller that finds no error takes the count for the node's. So the error goes after the value has come: here taking
// the value panics, for want of a Stat, and the error must still be there.
func TestAnErrorLastsUntilTheValueIsTaken(t *testing.T) {
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(zktest.New(t).DialContext))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	count := NewSharedCount(client, "/count", 0)
	count.unfollowed = make(chan struct{}) // as after Start
	refusal := errors.New("refused")
	count.refuse(refusal)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("got a value without a Stat taken, want a panic")
			}
		}()
		count.take(framework.View{Status: framework.StatusPresent, Data: encode(5)})
	}()
	if !errors.Is(count.refused, refusal) {
		t.Errorf("got error %v before the value was taken, want %v", count.refused, refusal)
	}
	count.take(framework.View{Status: framework.StatusPresent, Data: encode(5), Stat: &zk.Stat{Mzxid: 7}})
	if count.refused != nil || count.Count() != 5 {
		t.Errorf("got error %v and count %d after the value was taken, want none and 5", count.refused, count.Count())
	}
}

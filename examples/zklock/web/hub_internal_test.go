package web

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestALockIsReadForAsLongAsAPageShowsIt(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		client, err := framework.NewClient("any:2181", framework.WithDialer(zktest.New(t).DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		h := newHub(Options{Client: client, Root: "/", Every: time.Second})
		defer h.close()
		first, second := h.subscribe("/locks/a"), h.subscribe("/locks/a")
		h.subscribe("/locks/b")
		for _, step := range []struct {
			closed *subscriber
			want   []string
		}{{first, []string{"/locks/a", "/locks/b"}}, {second, []string{"/locks/b"}}} {
			h.unsubscribe(step.closed)
			h.mu.Lock()
			got := slices.Sorted(maps.Keys(h.seen))
			h.mu.Unlock()
			if !slices.Equal(got, step.want) {
				t.Errorf("got the locks %q read, want %q", got, step.want)
			}
		}
	})
}

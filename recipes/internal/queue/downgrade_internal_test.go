package queue

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// The answer to the reader's creation comes late, to a session that is valid again: the writer was lost in between.
func TestDowngradeIsRefusedIfTheWriterIsLostBeforeTheAnswer(t *testing.T) {
	for _, lost := range []bool{false, true} {
		zktest.Bubble(t, func(t *testing.T) {
			server := zktest.New(t)
			client, err := framework.NewClient("any:2181", framework.WithDialer(server.NewLink().DialContext))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			cfg := Config{
				Source: client, Lock: "lock", Dir: "/lock", Marker: WriteMarker, Counts: LockMarkers(),
				Events: Events{Ended: func(_ *Grant, cause error) error { return cause }},
			}
			writers := New(cfg)
			cfg.Marker = ReadMarker
			readers := New(cfg)
			w, _, err := writers.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer w.Drop()
			defer server.Observe(func(r zktest.Request) {
				if lost && r.Op == zktest.OpMulti && strings.HasPrefix(r.Path, "/lock/") {
					go w.end(framework.ErrNotRenewed)
				}
			})()
			server.DelayReply(zktest.Match{Op: zktest.OpMulti}, time.Second)
			r, err := readers.Downgrade(t.Context(), w)
			if !lost {
				if err != nil || r.Err() != nil {
					t.Fatalf("got %v, want a grant", err)
				}
				r.Drop()
				return
			}
			if !errors.Is(err, framework.ErrNotRenewed) {
				t.Errorf("got %v, want the writer's loss", err)
			}
			time.Sleep(time.Second)
			children := server.Children("/lock")
			if slices.ContainsFunc(children, func(name string) bool { return strings.Contains(name, ReadMarker) }) {
				t.Errorf("the reader's node is left: %v", children)
			}
		})
	}
}

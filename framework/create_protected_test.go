package framework_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// Each time the creation reaches the server, the directory has just been removed.
func TestEnterOutlastsADirectoryThatVanishesAgainAndAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		child := zktest.Match{Op: zktest.OpCreate2, Path: "/locks/a/*"}
		proceed := w.Server.Hold(child)
		var wg sync.WaitGroup
		var entry framework.Entry
		var err error
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		wg.Go(func() { entry, err = w.Session().CreateProtected(ctx, "/locks/a", "lock-", nil) })
		for range 50 {
			synctest.Wait()
			for _, dir := range []string{"/locks/a", "/locks"} {
				if w.Server.Exists(dir) {
					wantErr(t, w.Server.Delete(dir))
				}
			}
			next := w.Server.Hold(child)
			proceed()
			proceed = next
			time.Sleep(time.Second)
		}
		proceed()
		wg.Wait()
		if err != nil || !w.Server.Exists(entry.Path) {
			t.Fatalf("got %v, %v", entry, err)
		}
		if n := w.Count(zktest.OpCreate2); n > 52 {
			t.Errorf("%d creations", n)
		}
	})
}

package porting_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/examples/porting"
	"github.com/gocurator/curator/framework"
)

func TestServiceIsFoundFollowedAndGone(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		one, err := porting.Serve(t.Context(), a, "10.0.0.1", 8080)
		must(t, err)
		var seen []string
		orders, err := porting.FollowOrders(t.Context(), b, func(addresses []string) { seen = slices.Clone(addresses) })
		must(t, err)
		wantTexts(t, "at first", of(&seen), "10.0.0.1:8080")
		two, err := porting.Serve(t.Context(), a, "10.0.0.2", 8080)
		must(t, err)
		synctest.Wait()
		if got := len(porting.Addresses(orders)); got != 2 || len(seen) != 2 {
			t.Errorf("got %d instances, %q reported, want two", got, seen)
		}
		must(t, one.Close())
		wantTexts(t, "after one has gone", of(&seen), "10.0.0.2:8080")
		if i, ok := porting.Choose(orders); !ok || i.Address != "10.0.0.2" || string(i.Payload) != `"v1"` {
			t.Errorf("got %+v, %t, want the second instance", i, ok)
		}
		must(t, two.Close())
		synctest.Wait()
		if i, ok := porting.Choose(orders); ok {
			t.Errorf("got %+v, want none", i)
		}
		must(t, orders.Close())
	})
}

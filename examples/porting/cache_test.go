package porting_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/porting"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// written gives a node its data.
func written(t *testing.T, client *framework.Client, path, data string) {
	t.Helper()
	_, err := porting.Put(t.Context(), client, path, []byte(data))
	must(t, err)
	synctest.Wait()
}

// wantTexts compares what got returns when nothing goes on any more.
func wantTexts(t *testing.T, what string, got func() []string, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := got(); !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func of(texts *[]string) func() []string { return func() []string { return *texts } }

func TestNodeCacheIsACacheOfDepthZero(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		var used []string
		settings, err := porting.Settings(t.Context(), a, func(text string) { used = append(used, text) })
		must(t, err)
		wantTexts(t, "without a node", of(&used))
		written(t, b, "/settings", "one")
		written(t, b, "/settings", "two")
		must(t, porting.Clear(t.Context(), b, "/settings"))
		wantTexts(t, "settings", of(&used), "one", "two", "default")
		must(t, settings.Close())
	})
}

func TestPathChildrenCacheIsACacheOfDepthOneWhoseStreamHasItsStates(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		link := server.NewLink()
		connect := func(dial framework.Option) *framework.Client {
			client, err := porting.Connect(t.Context(), "any:2181", dial)
			must(t, err)
			return client
		}
		a, b := connect(framework.WithDialer(link.DialContext)), connect(framework.WithDialer(server.DialContext))
		defer a.Close()
		defer b.Close()

		written(t, b, "/workers/7", "seven")
		var heard []string
		add := func(mark string) func(string) { return func(text string) { heard = append(heard, mark+text) } }
		workers, err := porting.Workers(t.Context(), a, add("+"), add("-"), add(""))
		must(t, err)
		wantTexts(t, "at the start", of(&heard), "+seven", "complete")
		written(t, b, "/workers/7", "SEVEN")
		written(t, b, "/workers/8/below", "")
		written(t, b, "/workers/8", "eight")
		wantTexts(t, "present", func() []string { return porting.Present(workers) }, "SEVEN", "eight")

		heard = nil
		link.Cut()
		wantTexts(t, "cut off", of(&heard), "old, maybe")
		must(t, porting.Clear(t.Context(), b, "/workers/7"))
		written(t, b, "/workers/7", "another seven")
		link.Heal()
		time.Sleep(time.Second)
		wantTexts(t, "a worker that was made again", of(&heard), "old, maybe", "-SEVEN", "+another seven", "complete")
		must(t, workers.Close())
	})
}

func TestTreeCacheHasDepthAndSelectorAsOptions(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		for _, path := range []string{"/orders/eu/17/lines", "/orders/eu/archive/1", "/orders/us/4"} {
			written(t, b, path, "data")
		}
		orders, err := porting.Orders(t.Context(), a)
		must(t, err)
		wantTexts(t, "orders of eu", func() []string { return porting.Region(orders, "eu") }, "17")
		wantTexts(t, "orders of a region that is not there", func() []string { return porting.Region(orders, "asia") })
		check(t, "nodes", orders.Len(), nil, 5) // /orders, eu, 17, us, 4
		check(t, "bytes without data", porting.Bytes(orders), nil, 0)
		must(t, orders.Close())
	})
}

func TestAfterInitializedIsWhatComesAfterSynced(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		ctx, stop := context.WithCancel(t.Context())
		written(t, b, "/tokens/1", "a")
		var changed, deleted []string
		tokens, err := porting.Changes(ctx, a,
			func(before, now string) { changed = append(changed, before+" to "+now) },
			func(before string) { deleted = append(deleted, before) })
		must(t, err)
		stop() // it has bounded the start alone
		check(t, "bytes", porting.Bytes(tokens), nil, 1)
		written(t, b, "/tokens/1", "bc")
		check(t, "bytes", porting.Bytes(tokens), nil, 2)
		must(t, porting.Clear(t.Context(), b, "/tokens/1"))
		wantTexts(t, "changed", of(&changed), "a to bc")
		wantTexts(t, "deleted", of(&deleted), "bc")
		must(t, tokens.Close())
	})
}

package caches_test

import (
	"path"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/bench/caches"
)

func TestTreeHasEachNodeOnceAfterItsParent(t *testing.T) {
	for _, n := range []int{1, 2, 99, 100, 1000, 30_000} {
		known := map[string]bool{"/": true}
		directories := 0
		for _, p := range caches.Tree("/a", n) {
			if known[p] || !known[path.Dir(p)] {
				t.Fatalf("%d nodes: got %s twice, or before its parent", n, p)
			}
			known[p] = true
			if strings.HasPrefix(path.Base(p), "d") {
				directories++
			}
		}
		if got := len(known) - 1; got != n || directories != n/100 {
			t.Errorf("got %d nodes in %d directories, want %d in %d", got, directories, n, n/100)
		}
	}
}

func TestPlantMakesEveryNode(t *testing.T) {
	srv := zktest.New(t)
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(srv.DialContext))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for root, n := range map[string]int{"/one": 1, "/few": 50, "/many": 30_000} {
		tree := caches.Tree(root, n)
		if err := caches.Plant(t.Context(), client, tree); err != nil {
			t.Fatal(err)
		}
		for _, p := range tree {
			if data, ok := srv.Data(p); !ok || len(data) != 100 {
				t.Fatalf("%s: got %d bytes, %v, want 100", p, len(data), ok)
			}
		}
	}
}

package porting_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/porting"
	"github.com/gocurator/curator/framework"
)

func TestPersistentNodeIsThereAgainAfterItWasDeleted(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		var created []string
		node, err := porting.Register(t.Context(), a, "10.0.0.1", func(path string) { created = append(created, path) })
		must(t, err)
		must(t, b.Delete(t.Context(), "/services/10.0.0.1", -1))
		wantTexts(t, "creations", of(&created), "/services/10.0.0.1", "/services/10.0.0.1")
		must(t, porting.Drain(t.Context(), node))
		if data, _, err := b.Get(t.Context(), "/services/10.0.0.1"); err != nil || string(data) != "draining" {
			t.Errorf("got %q, %v, want %q", data, err, "draining")
		}
		must(t, node.Close())
		if stat, err := b.Exists(t.Context(), "/services/10.0.0.1"); stat != nil || err != nil {
			t.Errorf("after Close: got %+v, %v, want no node", stat, err)
		}
	})
}

func TestPersistentTTLNodeStaysForItsTTLAfterItsProgram(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		_, err := porting.Lease(t.Context(), a, "acme")
		must(t, err)
		time.Sleep(10 * time.Hour)
		must(t, a.Close())
		for _, after := range []struct {
			d     time.Duration
			there bool
		}{{30 * time.Minute, true}, {2 * time.Hour, false}} {
			time.Sleep(after.d)
			if stat, err := b.Exists(t.Context(), "/tenants/acme"); stat != nil != after.there || err != nil {
				t.Errorf("%v later: got %+v, %v, want a node: %v", after.d, stat, err, after.there)
			}
		}
	})
}

func TestGroupMembersSeeEachOther(t *testing.T) {
	connected(t, func(t *testing.T, a, b *framework.Client) {
		first, err := porting.Join(t.Context(), a, "one", "10.0.0.1")
		must(t, err)
		second, err := porting.Join(t.Context(), b, "two", "10.0.0.2")
		must(t, err)
		synctest.Wait()
		for _, member := range []*porting.GroupMember{first, second} {
			if got := member.Members(); !slices.Equal(got, []string{"one", "two"}) {
				t.Errorf("got the members %q, want one and two", got)
			}
		}
		must(t, first.Close())
		synctest.Wait()
		if got := second.Members(); !slices.Equal(got, []string{"two"}) {
			t.Errorf("after one has left: got the members %q, want two", got)
		}
		must(t, second.Close())
	})
}

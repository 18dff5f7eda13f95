package nodes

import (
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

const own, former, stranger = 1, 2, 3 // sessions

// seen is what a view shows of a node with the data "1".
func seen(owner int64, version int32) framework.View {
	return framework.View{
		Status: framework.StatusPresent, Current: true, Own: owner == own, Data: []byte("1"),
		Stat: &zk.Stat{EphemeralOwner: owner, Version: version, DataLength: 1},
	}
}

func stale(view framework.View) framework.View {
	view.Current = false
	return view
}

func unreadable(view framework.View) framework.View {
	view.Data = nil
	return view
}

func TestWhatFollowsFromWhatIsSeenOfANode(t *testing.T) {
	for _, c := range []struct {
		name               string
		sight              sight
		data               string
		ephemeral, lasting action
		overEphemeral      action // with Overwriting
		overLasting        action
	}{
		{"unanswered", sight{}, "1", wait, wait, wait, wait},
		{"refused", sight{view: framework.View{Status: framework.StatusFailed}}, "1", wait, wait, wait, wait},
		{"gone", sight{view: framework.View{Status: framework.StatusGone}}, "1", create, create, create, create},
		{"own", sight{view: seen(own, 0), former: true, pending: true}, "1", keep, replace, keep, replace},
		{"own with other data", sight{view: seen(own, 0), former: true, pending: true}, "2", write, replace, write, replace},
		{"own with others' data", sight{view: seen(own, 1), former: true}, "2", keep, replace, keep, replace},
		{"own, changed meanwhile", sight{view: stale(seen(own, 0)), former: true, pending: true}, "2", wait, wait, wait, wait},
		{"own, unreadable", sight{view: unreadable(seen(own, 0)), former: true, pending: true}, "1", write, replace, write, replace},
		{"own, unreadable, to be empty", sight{view: unreadable(seen(own, 0)), former: true, pending: true}, "", write, replace, write, replace},
		{"own, unreadable, written", sight{view: unreadable(seen(own, 1)), former: true}, "1", keep, replace, keep, replace},
		{"former", sight{view: seen(former, 0), former: true, pending: true}, "1", replace, replace, replace, replace},
		{"former, changed meanwhile", sight{view: stale(seen(former, 0)), former: true}, "1", wait, wait, wait, wait},
		{"stranger's", sight{view: seen(stranger, 0), pending: true}, "1", wait, wait, replace, replace},
		{"stranger's, to be set", sight{view: seen(stranger, 0), pending: true}, "2", wait, wait, replace, replace},
		{"lasting", sight{view: seen(0, 0), pending: true}, "1", wait, keep, replace, keep},
		{"lasting, with other data", sight{view: seen(0, 5), pending: true}, "2", wait, write, replace, write},
		{"lasting, with others' data", sight{view: seen(0, 5)}, "2", wait, keep, replace, keep},
		{"lasting, unreadable", sight{view: unreadable(seen(0, 0)), pending: true}, "1", wait, write, replace, write},
	} {
		for mode := framework.Persistent; mode <= framework.PersistentSequentialWithTTL; mode++ {
			for _, overwriting := range []bool{false, true} {
				o := &options{mode: mode, overwriting: overwriting}
				want := c.lasting
				switch {
				case o.ephemeral() && overwriting:
					want = c.overEphemeral
				case o.ephemeral():
					want = c.ephemeral
				case overwriting:
					want = c.overLasting
				}
				if got := decide(c.sight, []byte(c.data), o); got != want {
					t.Errorf("%s, mode %v, overwriting %v: got %d, want %d", c.name, mode, overwriting, got, want)
				}
			}
		}
	}
}

// Every combination of what can be seen and known keeps the rules of the package's documentation.
func TestEveryDecisionKeepsTheRules(t *testing.T) {
	count := 0
	for mode := framework.Persistent; mode <= framework.PersistentSequentialWithTTL; mode++ {
		for bits := range 1 << 7 {
			bit := func(i int) bool { return bits>>i&1 == 1 }
			o := &options{mode: mode, overwriting: bit(0)}
			owner := int64(bits >> 1 & 3) // 0, own, former, stranger
			view := seen(owner, int32(bits>>3&1))
			view.Current = bit(4)
			if bit(5) {
				view = unreadable(view)
			}
			s := sight{view: view, former: owner == own || owner == former, pending: bit(6)}
			for _, data := range []string{"1", "2"} {
				count++
				checkRules(t, s, data, o, decide(s, []byte(data), o))
			}
		}
	}
	if count < 1500 {
		t.Errorf("got %d decisions, want at least 1500", count)
	}
}

func checkRules(t *testing.T, s sight, data string, o *options, got action) {
	t.Helper()
	owner := s.view.Stat.EphemeralOwner
	mine := owner == own || owner == former || owner == 0 && !o.ephemeral()
	right := string(s.view.Data) == data
	for rule, broken := range map[string]bool{
		"what has changed meanwhile is waited for":             !s.view.Current && got != wait,
		"nothing is created where a node is":                   got == create,
		"a stranger's node is left alone unless overwriting":   !mine && !o.overwriting && got != wait,
		"a stranger's node is never kept":                      !mine && (got == keep || got == write),
		"a node that is this client's is not waited for":       mine && s.view.Current && got == wait,
		"only a present session's or a lasting node is kept":   owner == former && (got == keep || got == write),
		"no mode keeps a node of the other kind":               o.ephemeral() == (owner == 0) && (got == keep || got == write),
		"the right data are not written again":                 mine && right && got == write,
		"a node that is kept has the data that were asked for": got == keep && !right && s.pending,
		"a node with others' data is kept until the next Set":  got == write && !s.pending,
		"what is right is not replaced":                        (owner == own && o.ephemeral() || owner == 0 && mine) && got == replace,
	} {
		if broken {
			t.Errorf("%s: got %d for %s", rule, got, describe(s, data, o))
		}
	}
}

func describe(s sight, data string, o *options) string {
	return fmt.Sprintf("mode %v, overwriting %v, data %s, owner %d, %+v, %+v", o.mode, o.overwriting, data, s.view.Stat.EphemeralOwner, s, s.view)
}

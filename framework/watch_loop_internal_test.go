package framework

import (
	"testing"

	"github.com/go-zookeeper/zk"
)

func TestAViewIsNewsIfItsTransactionDiffersOrCannotBeCompared(t *testing.T) {
	present := func(czxid, mzxid, pzxid int64, cversion int32) View {
		return View{Status: StatusPresent, Stat: &zk.Stat{Czxid: czxid, Mzxid: mzxid, Pzxid: pzxid, Cversion: cversion}}
	}
	gone := View{Status: StatusGone}
	for name, c := range map[string]struct {
		a, b            View
		later           int
		data, childrens bool
	}{
		"the same":            {present(1, 1, 1, 0), present(1, 1, 1, 0), 0, false, false},
		"data":                {present(1, 1, 1, 0), present(1, 2, 1, 0), 0, true, false},
		"children":            {present(1, 1, 1, 0), present(1, 1, 2, 1), 0, false, true},
		"children of Keeper":  {present(1, 1, 1, 0), present(1, 1, 1, 1), 0, false, true},
		"another node":        {present(1, 1, 1, 0), present(2, 1, 1, 0), 0, true, true},
		"gone":                {present(1, 1, 1, 0), gone, 0, true, true},
		"there again":         {gone, present(1, 1, 1, 0), 0, true, true},
		"still gone":          {gone, gone, 0, false, false},
		"a younger ensemble":  {present(1, 1, 1, 0), present(1, 1, 1, 0), 1, true, true},
		"and still gone here": {gone, gone, 1, true, true},
	} {
		for children, want := range map[bool]bool{false: c.data, true: c.childrens} {
			n := news{children: children}
			if !n.is(c.a, 0) {
				t.Errorf("%s: the first view is no news", name)
			}
			if got := n.is(c.b, c.later); got != want {
				t.Errorf("%s, children %v: got news %v, want %v", name, children, got, want)
			}
		}
	}
}

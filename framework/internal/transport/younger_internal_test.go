package transport

import (
	"context"
	"strings"
	"testing"
)

func TestWhetherAnEnsembleIsYounger(t *testing.T) {
	for _, c := range []struct {
		addresses string // server/address, in words
		verdicts  string // one letter for each: (b)ehind, (l)evel, (u)nknown, - not tried
		want      bool
	}{
		{"a/a", "b", true},
		{"a/a", "l", false},
		{"a/a", "u", false},
		{"a/a b/b", "bu", false},
		{"a/a b/b", "bb", true},
		{"a/a b/b c/c", "bbu", true},
		{"a/a b/b c/c", "bb-", false}, // the third was not tried yet
		{"a/a b/b c/c", "bbl", false},
		{"a/a b/b c/c", "buu", false},
		{"a/a b/b c/c", "bbb", true},
		{"a/a b/b c/c d/d", "bbuu", false},
		// One name.
		{"h/10.0.0.1 h/10.0.0.2 h/10.0.0.3", "bbu", true},
		{"h/10.0.0.1 h/10.0.0.2 h/10.0.0.3", "buu", false},
		// localhost, where the server listens on one of two.
		{"h/127.0.0.1 h/[::1]", "bu", true},
		{"h/127.0.0.1 h/[::1]", "ub", true},
		{"h/127.0.0.1 h/[::1]", "bl", false},
		{"h/127.0.0.1 h/[::1]", "b-", false},
		// Three servers of one name with two addresses each.
		{"h/10.0.0.1 h/10.0.0.2 h/10.0.0.3 h/[fd::1] h/[fd::2] h/[fd::3]", "bbuuuu", true},
		{"h/10.0.0.1 h/10.0.0.2 h/10.0.0.3 h/[fd::1] h/[fd::2] h/[fd::3]", "buubuu", false},
		{"h/10.0.0.1 h/[fd::1] i/10.0.0.2 i/[fd::2] j/10.0.0.3 j/[fd::3]", "buubuu", true},
		{"h/10.0.0.1 h/[fd::1] i/10.0.0.2 i/[fd::2] j/10.0.0.3 j/[fd::3]", "bbuuuu", false},
	} {
		var all []Address
		verdicts := map[Address]verdict{}
		for i, word := range strings.Fields(c.addresses) {
			server, address, _ := strings.Cut(word, "/")
			a := Address{Server: server + ":1", Dial: address + ":1"}
			all = append(all, a)
			if v, tried := map[byte]verdict{'b': behind, 'l': level, 'u': unknown}[c.verdicts[i]]; tried {
				verdicts[a] = v
			}
		}
		if got := younger(all, 0, verdicts); got != c.want {
			t.Errorf("younger(%s, %s) = %t", c.addresses, c.verdicts, got)
		}
	}
}

// What was found in one search says nothing in the next: a server that was down may be there again.
func TestVerdictsAreOfOneSearch(t *testing.T) {
	r := NewRoute(func(context.Context) []string { return []string{"a", "b", "c"} }, nil)
	for range 3 {
		if _, _, ok := r.next(t.Context()); !ok {
			t.Fatal("got no address, want one")
		}
	}
	r.search()
	all := addresses("a", "b", "c")
	tried := 0
	for range 2 {
		a, _, _ := r.next(t.Context())
		tried++
		if r.behind(a) {
			t.Errorf("the ensemble counts as younger after %d of %d addresses", tried, len(all))
		}
	}
	a, _, _ := r.next(t.Context())
	if !r.behind(a) {
		t.Error("got no younger ensemble although all servers are behind, want one")
	}
}

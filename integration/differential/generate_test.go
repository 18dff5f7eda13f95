//go:build unix

package differential_test

import (
	"fmt"
	"math/rand/v2"
)

// clients is how many there are: few, so that they get into each other's way.
const clients = 4

// script makes a script of n steps from a seed.
func script(seed uint64, n int) []step {
	g := generator{rand.New(rand.NewPCG(seed, 2))}
	steps := make([]step, 0, n)
	client := 0
	for len(steps) < n {
		if g.IntN(3) == 0 { // otherwise the same one goes on, without waiting for its answers
			client = g.IntN(clients)
		}
		s := g.step()
		s.client = client
		s.alone = s.special != request || s.cut > 0 || s.more > 0 || s.op == opAuth || s.op == opClose || opNames[s.op] == "" || s.op == opCheck ||
			s.op == opSASL || s.op == opReconfig || chance(s)
		steps = append(steps, s)
	}
	return steps
}

// chance reports whether what a real server answers to the next request depends on whether this one, which it has
// checked, has been executed yet: until then it goes by the old ACL, and takes a container for what its flags say.
func chance(s step) bool { return s.op == opSetACL || s.op == opCreateContainer && s.n != 4 }

type generator struct{ *rand.Rand }

func pick[T any](g generator, from ...T) T { return from[g.IntN(len(from))] }

// path is one of few, some of which sequential nodes have.
func (g generator) path() string {
	p := root
	for p == root || g.IntN(3) > 0 && len(p) < 20 {
		p += "/" + g.name()
	}
	if g.IntN(100) == 0 {
		p = pick(g, p+"/", "none", root+"/\x00", root+"/../a", "/none"+p, root+"/\U0001f600", root+"/é", root+"/\xff", root)
	}
	return p
}

func (g generator) name() string {
	if g.IntN(6) == 0 {
		return fmt.Sprintf("%s%010d", pick(g, "a", "b", ""), g.IntN(5))
	}
	return pick(g, "a", "b", "c")
}

var open = []entry{{31, "world", "anyone"}}

// These are the digests of u:p and v:q.
var acls = [][]entry{
	{{1, "world", "anyone"}},
	{{31, "auth", ""}},
	{{31, "digest", "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ="}, {4, "world", "anyone"}},
	{{30, "digest", "v:q"}, {15, "world", "anyone"}},
	{{27, "world", "anyone"}, {27, "world", "anyone"}},
	{{31, "ip", "127.0.0.1"}},
	{{31, "ip", "10.0.0.0/8"}, {8, "world", "anyone"}},
	{{31, "ip", "127.0.0.0/8"}, {1, "auth", "x"}},
	{{0, "world", "anyone"}},
	{},
	{{31, "nosuch", "x"}},
	{{31, "digest", "x"}},
}

func (g generator) acl() []entry {
	if g.IntN(5) > 0 {
		return open
	}
	return pick(g, acls...)
}

func (g generator) version() int32 {
	if g.IntN(2) == 0 {
		return -1
	}
	return int32(g.IntN(5)) - 2
}

func (g generator) step() step {
	switch n := g.IntN(1000); {
	case n < 1: // rare, since it takes a third of a second
		return step{special: expire}
	case n < 10:
		return step{special: pick(g, reset, steal, imposter, ahead)}
	case n < 14:
		return step{op: opClose}
	case n < 16:
		return step{op: pick[int32](g, 0, 10, 23, 99, 108, 1000, -1, opCheck, opSASL, opReconfig)}
	case n < 24:
		return step{op: opAuth, path: pick(g, "digest", "digest", "digest", "digest", "ip", "nosuch"), data: pick(g, "u:p", "v:q", "w", "", "super:test")}
	case n < 32:
		s := g.read()
		if g.IntN(2) == 0 {
			s = g.write()
		}
		if g.IntN(2) == 0 {
			s.cut = 1 + g.IntN(30)
		} else {
			s.more = 1 + g.IntN(8)
		}
		return s
	case n < 52:
		return g.quota()
	case n < 450:
		return g.read()
	}
	return g.write()
}

// quota makes and removes quotas, of which it takes three nodes, and looks at what is counted.
func (g generator) quota() step {
	at := quotas + root + "/" + pick(g, "a", "b", "c")
	switch g.IntN(8) {
	case 0, 1:
		return step{op: opCreate, path: at, acl: open}
	case 2, 3:
		limits := fmt.Sprintf("count=%d,bytes=%d=;byteHardLimit=%d;countHardLimit=%d", g.IntN(9)-1, g.IntN(30)-1, g.IntN(30)-1, g.IntN(9)-1)
		return step{op: pick(g, opCreate, opCreate, opSetData), path: at + "/zookeeper_limits", data: limits, acl: open, n: 0}
	case 4, 5:
		return step{op: opCreate, path: at + "/zookeeper_stats", data: pick(g, "", "count=1,bytes=2"), acl: open}
	case 6:
		return step{op: opDelete, path: at + pick(g, "/zookeeper_limits", "/zookeeper_stats", ""), n: -1}
	}
	return step{op: opGetData, path: at + "/zookeeper_stats", watch: g.IntN(2) == 0}
}

func (g generator) create() step {
	s := step{op: pick(g, opCreate, opCreate2, opCreate2), path: g.path(), data: pick(g, "", "d", "data", null), acl: g.acl()}
	s.n = pick[int32](g, 0, 0, 0, 0, 1, 1, 2, 2, 3, 4)
	switch g.IntN(20) {
	case 0:
		s.op, s.n = opCreateContainer, pick[int32](g, 4, 4, 4, 0, 1, 2)
	case 1:
		s.op, s.n, s.ttl = opCreateTTL, pick[int32](g, 5, 5, 6, 0, 4), 1<<39
		if s.n > 4 && g.IntN(2) == 0 { // with other flags an impossible ttl kills a real server
			s.ttl = pick[int64](g, 0, -1, 1<<40)
		}
	case 2:
		s.n = pick[int32](g, -1, 5, 6, 7, 100)
	}
	return s
}

func (g generator) write() step {
	switch n := g.IntN(20); {
	case n < 9:
		return g.create()
	case n < 12:
		return step{op: opDelete, path: g.path(), n: g.version()}
	case n < 15:
		return step{op: opSetData, path: g.path(), data: pick(g, "", "x", "longer data", null), n: g.version()}
	case n < 16:
		return step{op: opSetACL, path: g.path(), acl: g.acl(), n: g.version()}
	case n < 17:
		return step{op: opDeleteContainer, path: g.path()}
	}
	s := step{op: opMulti}
	for range g.IntN(6) {
		p := g.create()
		if p.op == opCreateTTL || g.IntN(2) == 0 {
			p = pick(g, step{op: opDelete, path: g.path(), n: g.version()}, step{op: opSetData, path: g.path(), data: "m", n: g.version()},
				step{op: opCheck, path: g.path(), n: g.version()})
		}
		if g.IntN(4) > 0 { // let more of them succeed
			p.acl = open
			if p.op != opCreate && p.op != opCreate2 && p.op != opCreateContainer {
				p.n = -1
			}
		}
		s.steps = append(s.steps, p)
	}
	if g.IntN(100) == 0 {
		s.steps = append(s.steps, g.read())
	}
	return s
}

func (g generator) read() step {
	switch n := g.IntN(40); {
	case n < 16:
		return step{op: pick(g, opExists, opGetData, opGetChildren, opGetChildren2), path: g.path(), watch: g.IntN(2) == 0}
	case n < 18:
		return step{op: opGetACL, path: g.path()}
	case n < 19:
		return step{op: pick(g, opSync, opGetAllChildrenNumber), path: g.path()}
	case n < 20:
		return step{op: opGetEphemerals, path: pick(g, root, g.path())}
	case n < 24:
		return step{op: opAddWatch, path: pick(g, g.path(), root), n: pick[int32](g, 0, 0, 0, 1, 1, 1, 2, -1)}
	case n < 29:
		s := step{op: pick(g, opCheckWatches, opRemoveWatches), path: pick(g, g.path(), root), n: pick[int32](g, 1, 2, 3, 3, 4, 5, 0, 6)}
		if s.path == "none" { // 3.8 stumbles over it if any client has, or has had, a recursive watch
			s.path = root
		}
		return s
	case n < 31:
		return step{op: pick(g, opPing, opWhoAmI)}
	case n < 35:
		s := step{op: opMultiRead}
		for range g.IntN(4) {
			s.steps = append(s.steps, step{op: pick(g, opGetData, opGetChildren), path: g.path(), watch: g.IntN(2) == 0})
		}
		if g.IntN(50) == 0 {
			s.steps = append(s.steps, g.write())
		}
		return s
	}
	s := step{op: pick(g, opSetWatches, opSetWatches2), since: int64(g.IntN(300))}
	for i := range s.lists {
		for range g.IntN(3) {
			s.lists[i] = append(s.lists[i], g.path())
		}
	}
	return s
}

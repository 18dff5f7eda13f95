package zktest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// random has three clients do what a fixed seed says, on few nodes, so that
// they get into each other's way.
func (s *script) random(seed uint64, steps int) {
	s.section("random")
	r := rand.New(rand.NewPCG(seed, 1))
	path := func() string {
		p := "/r"
		for r.IntN(3) > 0 && len(p) < 8 {
			p += "/" + string(rune('a'+r.IntN(3)))
		}
		return p
	}
	clients := []*client{s.connect(), s.connect(), s.connect()}
	clients[0].create("/r", "", 0)
	for range steps {
		i := r.IntN(3)
		if r.IntN(150) == 0 {
			clients[i].do(OpCloseSession, "", nil)
			clients[i] = s.connect()
		}
		if r.IntN(3) > 0 {
			clients[i].randomWrite(r, path)
		} else {
			clients[i].randomRead(r, path)
		}
		for _, c := range clients {
			c.hear()
		}
	}
}

// hear logs the events that have come, if any.
func (c *client) hear() {
	before := c.s.log.Len()
	c.ping()
	if !bytes.Contains(c.s.log.Bytes()[before:], []byte(" event ")) {
		c.s.log.Truncate(before)
	}
}

func (c *client) randomWrite(r *rand.Rand, path func() string) {
	acls := [][]aclEntry{
		open, open, open,
		{{1, anyone}},
		{{31, identity{"auth", ""}}},
		{{31, identity{"digest", "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ="}}, {4, anyone}},
		{{27, anyone}},
	}
	flags := []int32{0, 0, 0, 1, 2, 3}
	version := func() int32 { return int32(r.IntN(4)) - 1 }
	switch r.IntN(10) {
	case 0, 1, 2:
		c.createAs(OpCreate2, path(), "d", acls[r.IntN(len(acls))], flags[r.IntN(len(flags))], 0)
	case 3:
		c.createAs(OpCreate, path(), "d", open, flags[r.IntN(len(flags))], 0)
	case 4, 5:
		c.delete(path(), version())
	case 6, 7:
		c.set(path(), fmt.Sprint(r.IntN(100)), version())
	case 8:
		c.setACL(path(), acls[r.IntN(len(acls))], version())
	case 9:
		var steps []step
		for range r.IntN(4) {
			op := []Op{OpCreate, OpCreate2, OpDelete, OpSetData, OpCheck}[r.IntN(5)]
			n := version()
			if op == OpCreate || op == OpCreate2 {
				n = flags[r.IntN(len(flags))]
			}
			steps = append(steps, step{op: op, path: path(), data: "m", n: n})
		}
		c.multi(OpMulti, steps...)
	}
}

func (c *client) randomRead(r *rand.Rand, path func() string) {
	switch r.IntN(9) {
	case 0, 1, 2:
		c.get([]Op{OpExists, OpGetData, OpGetChildren2}[r.IntN(3)], path(), true)
	case 3:
		c.get([]Op{OpExists, OpGetData, OpGetChildren}[r.IntN(3)], path(), false)
	case 4:
		c.number(OpAddWatch, path(), int32(r.IntN(2)))
	case 5:
		c.number(OpRemoveWatches, path(), int32(r.IntN(5)+1))
	case 6:
		c.path([]Op{OpGetACL, OpGetEphemerals, OpGetAllChildrenNumber}[r.IntN(3)], path())
	case 7:
		if r.IntN(4) == 0 {
			c.auth("digest", "u:p")
		}
	case 8:
		since := c.s.base + int64(r.IntN(600))
		data, exist, child := []string{path(), path()}, []string{path()}, []string{path()}
		c.do(OpSetWatches, fmt.Sprintf("%q %q %q", data, exist, child), func(e *encoder) {
			e.int64(since)
			e.strings(data)
			e.strings(exist)
			e.strings(child)
		})
	}
}

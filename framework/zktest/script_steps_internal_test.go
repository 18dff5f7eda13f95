package zktest

import (
	"fmt"
	"strings"
	"time"
)

var open = []aclEntry{{31, identity{"world", "anyone"}}}

func (c *client) create(path, data string, flags int32) {
	c.createAs(OpCreate2, path, data, open, flags, 0)
}

func (c *client) createAs(op Op, path, data string, acl []aclEntry, flags int32, ttl int64) {
	c.do(op, fmt.Sprintf("%q %.20q %v flags=%d ttl=%d", path, data, acl, flags, ttl), func(e *encoder) {
		createBody(e, op, path, data, acl, flags, ttl)
	})
}

func createBody(e *encoder, op Op, path, data string, acl []aclEntry, flags int32, ttl int64) {
	e.string(path)
	e.bytes([]byte(data))
	e.acl(acl)
	e.int32(flags)
	if op == OpCreateTTL {
		e.int64(ttl)
	}
}

func (c *client) delete(path string, version int32) {
	c.do(OpDelete, fmt.Sprintf("%q v=%d", path, version), func(e *encoder) { e.string(path); e.int32(version) })
}

func (c *client) set(path, data string, version int32) {
	c.do(OpSetData, fmt.Sprintf("%q %q v=%d", path, data, version), func(e *encoder) {
		e.string(path)
		e.bytes([]byte(data))
		e.int32(version)
	})
}

func (c *client) get(op Op, path string, watch bool) {
	c.do(op, fmt.Sprintf("%q watch=%v", path, watch), func(e *encoder) { e.string(path); e.bool(watch) })
}

func (c *client) path(op Op, path string) {
	c.do(op, fmt.Sprintf("%q", path), func(e *encoder) { e.string(path) })
}

func (c *client) number(op Op, path string, n int32) {
	c.do(op, fmt.Sprintf("%q %d", path, n), func(e *encoder) { e.string(path); e.int32(n) })
}

func (c *client) ping() { c.doXid(-2, OpPing, "", nil) }

func (c *client) auth(scheme, auth string) {
	c.do(OpSetAuth, scheme+" "+auth, func(e *encoder) {
		e.int32(0)
		e.string(scheme)
		e.bytes([]byte(auth))
	})
}

func (c *client) setACL(path string, acl []aclEntry, version int32) {
	c.do(OpSetACL, fmt.Sprintf("%q %v v=%d", path, acl, version), func(e *encoder) {
		e.string(path)
		e.acl(acl)
		e.int32(version)
	})
}

type step struct {
	op    Op
	path  string
	data  string
	n     int32 // flags or version
	ttl   int64
	watch bool
}

func (s step) String() string { return fmt.Sprintf("%v %q %d", s.op, s.path, s.n) }

func (c *client) multi(op Op, steps ...step) {
	c.do(op, fmt.Sprintf("%v", steps), func(e *encoder) {
		for _, s := range steps {
			multiHeader(e, s.op, false, -1)
			switch s.op {
			case OpDelete, OpCheck:
				e.string(s.path)
				e.int32(s.n)
			case OpSetData:
				e.string(s.path)
				e.bytes([]byte(s.data))
				e.int32(s.n)
			case OpGetData, OpGetChildren, OpExists:
				e.string(s.path)
				e.bool(s.watch)
			default:
				createBody(e, s.op, s.path, s.data, open, s.n, s.ttl)
			}
		}
		multiHeader(e, -1, true, -1)
	})
}

func (s *script) run() {
	c := s.connect()
	s.section("fresh server")
	c.ping()
	for _, path := range []string{"/", "", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"} {
		c.get(OpExists, path, false)
		c.get(OpGetChildren2, path, false)
		c.path(OpGetACL, path)
	}
	c.get(OpGetData, "/", false)
	c.get(OpGetData, "/zookeeper/config", false)
	c.create("/s", "", 0)
	s.creates(c)
	s.writes(c)
	s.reads(c)
	s.multis(c)
	s.watches(c)
	s.persistentWatches(c)
	s.restored(c)
	s.acls(c)
	s.random(1, 400)
	s.sessions(c)
	s.oddities()
}

func (s *script) creates(c *client) {
	s.section("create")
	for _, op := range []Op{OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL} {
		for flags := int32(-1); flags <= 7; flags++ {
			c.createAs(op, fmt.Sprintf("/s/%v%d-", op, flags), "x", open, flags, 1000000)
		}
	}
	c.createAs(OpCreateTTL, "/s/ttl0", "", open, 5, 0)
	c.createAs(OpCreateTTL, "/s/ttl-1", "", open, 5, -1)
	c.createAs(OpCreateTTL, "/s/ttlbig", "", open, 5, 1<<40)
	c.createAs(OpCreateTTL, "/s/ttlmax", "", open, 5, 1<<40-1)
	c.createAs(OpCreateTTL, "/s/ttlplain", "", open, 0, 0)
	c.create("/s/a", "data", 0)
	c.create("/s/a", "data", 0)
	c.create("/s/none/a", "", 0)
	c.create("/s/a/", "", 2)
	c.create("/s/", "", 2)
	c.create("/", "", 2)
	c.create("/", "", 0)
	c.create("/s/e", "", 1)
	c.create("/s/e/x", "", 0)
	c.create("/s/e/x", "", 3)
	c.get(OpGetChildren2, "/s", false)
	s.section("create: paths")
	for _, path := range []string{
		"", "s", "s/a", "/s/", "//", "//s", "/s//a", "/s/.", "/s/..", "/s/./a", "/s/../a", "/s/a..", "/s/...", "/s/\x00a", "/s/\x01",
		"/s/\x1e", "/s/\x1f", "/s/ ", "/s/\x7e", "/s/\x7f", "/s/\u0080", "/s/\u009e", "/s/\u009f", "/s/\u00a0", "/s/\ud7ff", "/s/\ue000",
		"/s/\uf8ff", "/s/\uf900", "/s/\uffef", "/s/\ufff0", "/s/\ufffd", "/s/\uffff", "/s/\U0001f600", "/s/\xff", "/none\x00/a",
		"/zookeeper/x", "/zookeeper/quota/x", "/zookeeper/config/x",
	} {
		c.create(path, "", 0)
	}
	s.section("create: ACLs")
	for _, acl := range [][]aclEntry{
		{},
		{{31, identity{"world", "someone"}}},
		{{31, identity{"", ""}}},
		{{31, identity{"nosuch", "x"}}},
		{{31, identity{"auth", ""}}},
		{{31, identity{"digest", "x"}}},
		{{31, identity{"digest", "x:"}}},
		{{31, identity{"digest", ":x"}}},
		{{31, identity{"digest", "x:y:z"}}},
		{{31, identity{"ip", "1.2.3.4"}}},
		{{31, identity{"ip", "1.2.3.4/24"}}},
		{{31, identity{"ip", "1.2.3.4/33"}}},
		{{31, identity{"ip", "1.2.3"}}},
		{{31, identity{"ip", "localhost"}}},
		{{31, identity{"super", ""}}},
		{{0, identity{"world", "anyone"}}},
		{{1, identity{"world", "anyone"}}, {1, identity{"world", "anyone"}}, {3, identity{"world", "anyone"}}},
		{{63, identity{"world", "anyone"}}},
	} {
		c.createAs(OpCreate, "/s/acl", "", acl, 2, 0)
	}
}

func (s *script) writes(c *client) {
	s.section("delete, set, check")
	c.delete("/s", -1)
	c.delete("/s/none", -1)
	c.delete("/none/none", -1)
	for _, path := range []string{"", "s", "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config", "/s/", "/s/\x00"} {
		c.delete(path, -1)
		c.set(path, "x", 7)
		c.multi(OpMulti, step{op: OpCheck, path: path, n: 7})
	}
	c.create("/s/d", "", 0)
	c.set("/s/d", "one", 1)
	c.set("/s/d", "one", 0)
	c.set("/s/d", "two", -1)
	c.set("/s/d", "two", -2)
	c.do(OpSetData, "null", func(e *encoder) { e.string("/s/d"); e.bytes(nil); e.int32(-1) })
	c.get(OpGetData, "/s/d", false)
	c.delete("/s/d", 2)
	c.delete("/s/d", 3)
	c.set("/s/d", "x", -1)
	c.do(OpCreate, "null data", func(e *encoder) { e.string("/s/null"); e.bytes(nil); e.acl(open); e.int32(0) })
	c.get(OpGetData, "/s/null", false)
	c.do(OpCreate, "null ACL", func(e *encoder) { e.string("/s/x"); e.bytes(nil); e.int32(-1); e.int32(0) })
	s.section("truncated requests")
	for _, op := range []Op{
		OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpExists, OpGetData, OpSetData, OpGetACL, OpSetACL, OpGetChildren,
		OpGetChildren2, OpSync, OpMulti, OpMultiRead, OpSetWatches, OpSetWatches2, OpAddWatch, OpCheckWatches, OpRemoveWatches,
		OpGetEphemerals, OpGetAllChildrenNumber, OpReconfig,
	} {
		c.do(op, "empty", nil)
		c.do(op, "half a path", func(e *encoder) { e.int32(5); e.b = append(e.b, "/s"...) })
	}
	c.do(OpGetData, "huge length", func(e *encoder) { e.int32(1 << 30); e.bool(false) })
	c.do(OpGetData, "length -2", func(e *encoder) { e.int32(-2); e.bool(false) })
	c.do(OpGetData, "null path", func(e *encoder) { e.int32(-1); e.bool(false) })
	c.do(OpGetData, "too long", func(e *encoder) { e.string("/s/a"); e.bool(false); e.int32(99) })
	c.ping()
}

func (s *script) reads(c *client) {
	s.section("reads")
	for _, op := range []Op{OpExists, OpGetData, OpGetChildren, OpGetChildren2} {
		for _, path := range []string{"/s/a", "/none", "none", "", "/s/", "/s/\x00"} {
			c.get(op, path, false)
		}
	}
	for _, op := range []Op{OpGetACL, OpSync, OpGetEphemerals, OpGetAllChildrenNumber} {
		for _, path := range []string{"/s/a", "/none", "none", "", "/", "/s", "/s/\x00", "/s/e"} {
			c.path(op, path)
		}
	}
	c.do(OpWhoAmI, "", nil)
}

func (s *script) multis(c *client) {
	s.section("multi")
	c.multi(OpMulti)
	c.multi(OpMulti, step{op: OpCreate, path: "/s/m"}, step{op: OpCreate, path: "/s/m/x-", n: 3}, step{op: OpCreate, path: "/s/m/x-", n: 3},
		step{op: OpSetData, path: "/s/m", data: "m"}, step{op: OpCheck, path: "/s/m", n: 1})
	c.multi(OpMulti, step{op: OpCreate2, path: "/s/m2"}, step{op: OpCreateContainer, path: "/s/m3", n: 4},
		step{op: OpCreate, path: "/s/m4", n: 4}, step{op: OpCreate2, path: "/s/m5", n: 4},
		step{op: OpCreateTTL, path: "/s/m6", n: 5, ttl: 100000}, step{op: OpDelete, path: "/s/m2", n: -1})
	c.multi(OpMulti, step{op: OpCreate, path: "/s/m7", n: 5})
	c.multi(OpMulti, step{op: OpCreate, path: "/s/m8"}, step{op: OpDelete, path: "/s/m", n: -1}, step{op: OpCreate, path: "/s/m9"})
	c.get(OpGetChildren2, "/s/m", false)
	c.multi(OpMulti, step{op: OpCheck, path: "/s/m", n: 0}, step{op: OpCreate, path: "/s/m9"})
	c.multi(OpMulti, step{op: OpCheck, path: "/none", n: 0})
	c.multi(OpMulti, step{op: OpCreate, path: "/s/c-", n: 2}, step{op: OpCreate, path: "/none/x"})
	c.create("/s/after-", "", 2)
	c.multi(OpMulti, step{op: OpGetData, path: "/s/m"})
	c.multi(OpMulti, step{op: OpCreate, path: "/s/m9"}, step{op: OpGetData, path: "/s/m"})
	c.multi(OpMulti, step{op: OpExists, path: "/s/m"})
	c.multi(OpMultiRead)
	c.multi(OpMultiRead, step{op: OpGetData, path: "/s/m"}, step{op: OpGetData, path: "/none"}, step{op: OpGetChildren, path: "/s/m", watch: true})
	c.multi(OpMultiRead, step{op: OpCreate, path: "/s/m9"})
	c.multi(OpMultiRead, step{op: OpExists, path: "/s/m"})
	c.get(OpGetChildren2, "/s", false)
}

func (s *script) watches(c *client) {
	s.section("watches")
	other := s.connect()
	c.get(OpExists, "/s/w", true)
	c.get(OpExists, "/s/w", true)
	c.get(OpGetData, "/s/w", true)
	c.get(OpGetChildren, "/s", true)
	other.create("/s/w", "", 0)
	c.ping()
	other.set("/s/w", "x", -1)
	c.ping()
	c.get(OpGetData, "/s/w", true)
	c.get(OpGetChildren2, "/s/w", true)
	c.get(OpExists, "/s/w", true)
	c.setACL("/s/w", open, -1)
	c.get(OpGetChildren, "/s", true)
	c.delete("/s/w", -1)
	c.ping()
	c.get(OpExists, "/s/w", true)
	c.get(OpGetChildren, "/s", true)
	other.multi(OpMulti, step{op: OpCreate, path: "/s/w"}, step{op: OpSetData, path: "/s/w"}, step{op: OpDelete, path: "/s/w", n: -1})
	c.ping()
	c.get(OpGetChildren, "/", true)
	c.create("/top", "", 0)
	c.delete("/top", -1)
	c.get(OpGetData, "", true)
	c.set("/", "x", -1)
	s.section("watch removal")
	c.create("/s/w", "", 0)
	for _, op := range []Op{OpCheckWatches, OpRemoveWatches} {
		for kind := range int32(7) {
			c.number(op, "/s/w", kind)
		}
	}
	c.get(OpGetData, "/s/w", true)
	c.get(OpGetChildren, "/s/w", true)
	for _, op := range []Op{OpCheckWatches, OpRemoveWatches, OpCheckWatches} {
		for kind := int32(1); kind <= 5; kind++ {
			c.number(op, "/s/w", kind)
		}
	}
	c.set("/s/w", "", -1)
	c.delete("/s/w", -1)
	other.do(OpCloseSession, "", nil)
}

func (s *script) persistentWatches(c *client) {
	s.section("persistent watches")
	c.number(OpAddWatch, "/s/p", -1)
	c.number(OpAddWatch, "/s/p", 2)
	c.number(OpAddWatch, "/s/p", 0)
	c.create("/s/p", "", 0)
	c.get(OpGetData, "/s/p", true)
	c.set("/s/p", "x", -1)
	c.set("/s/p", "x", -1)
	c.create("/s/p/a", "", 0)
	c.get(OpGetChildren, "/s/p", true)
	c.multi(OpMulti, step{op: OpCreate, path: "/s/p/b"}, step{op: OpDelete, path: "/s/p/b", n: -1})
	c.delete("/s/p/a", -1)
	for _, op := range []Op{OpCheckWatches, OpRemoveWatches, OpCheckWatches} {
		for _, kind := range []int32{1, 2, 4, 5, 3} {
			c.number(op, "/s/p", kind)
		}
	}
	c.delete("/s/p", -1)
	c.number(OpAddWatch, "/s/p", 1)
	c.create("/s/p", "", 0)
	c.create("/s/p/a", "", 0)
	c.create("/s/p/a/b", "", 0)
	c.set("/s/p/a/b", "", -1)
	c.get(OpGetData, "/s/p/a/b", true)
	c.get(OpGetChildren, "/s/p/a", true)
	c.delete("/s/p/a/b", -1)
	c.number(OpAddWatch, "/s/p", 0)
	c.create("/s/p/c", "", 0)
	c.number(OpCheckWatches, "/s/p", 4)
	c.number(OpCheckWatches, "/s/p", 5)
	c.number(OpRemoveWatches, "/s/p", 5)
	c.create("/s/p/d", "", 0)
	c.number(OpRemoveWatches, "/s/p", 3)
	c.create("/s/p/e", "", 0)
	c.number(OpAddWatch, "/", 1)
	c.create("/top", "", 0)
	c.delete("/top", -1)
	c.number(OpRemoveWatches, "/", 3)
}

func (s *script) restored(c *client) {
	s.section("set watches")
	for _, path := range []string{"/s/r", "/s/r/data", "/s/r/kids", "/s/r/old"} {
		c.create(path, "", 0)
	}
	since := func(n int64) int64 { return s.base + n }
	lists := func(e *encoder, lists ...[]string) {
		for _, l := range lists {
			e.strings(l)
		}
	}
	d := []string{"/s/r/data", "/s/r/none", "/s/r/old"}
	x := []string{"/s/r/old", "/s/r/later"}
	k := []string{"/s/r/kids", "/s/r/none", "/s/r"}
	c.do(OpSetWatches, "from the beginning", func(e *encoder) { e.int64(since(0)); lists(e, d, x, k) })
	c.doXid(-8, OpSetWatches, "from the end", func(e *encoder) { e.int64(since(1 << 20)); lists(e, d, x, k) })
	c.set("/s/r/data", "", -1)
	c.create("/s/r/kids/x", "", 0)
	c.create("/s/r/later", "", 0)
	c.doXid(-8, OpSetWatches2, "with persistent ones", func(e *encoder) {
		e.int64(since(1 << 20))
		lists(e, nil, nil, nil, []string{"/s/r/old"}, []string{"/s/r/kids"})
	})
	c.set("/s/r/old", "", -1)
	c.set("/s/r/old", "", -1)
	c.create("/s/r/kids/y", "", 0)
	c.do(OpSetWatches, "null lists", func(e *encoder) { e.int64(0); e.int32(-1); e.int32(-1); e.int32(-1) })
	c.do(OpSetWatches, "count too high", func(e *encoder) { e.int64(0); e.int32(1 << 30) })
}

func (s *script) acls(c *client) {
	s.section("ACLs")
	mine := []aclEntry{{31, identity{"auth", ""}}}
	a, b := s.connect(), s.connect()
	a.auth("digest", "u:p")
	a.auth("digest", "u:p")
	a.auth("digest", "second")
	a.doXid(-4, OpSetAuth, "negative xid", func(e *encoder) { e.int32(0); e.string("digest"); e.bytes([]byte("v:q")) })
	a.do(OpWhoAmI, "", nil)
	a.createAs(OpCreate2, "/s/acl", "x", mine, 0, 0)
	a.path(OpGetACL, "/s/acl")
	b.path(OpGetACL, "/s/acl")
	b.get(OpGetData, "/s/acl", true)
	b.get(OpExists, "/s/acl", true)
	b.get(OpGetChildren, "/s/acl", false)
	b.path(OpGetAllChildrenNumber, "/s/acl")
	b.path(OpSync, "/s/acl")
	b.set("/s/acl", "", -1)
	b.set("/s/acl", "", 7)
	b.create("/s/acl/x", "", 0)
	b.setACL("/s/acl", open, -1)
	b.multi(OpMulti, step{op: OpCheck, path: "/s/acl", n: 0})
	b.multi(OpMultiRead, step{op: OpGetData, path: "/s/acl"}, step{op: OpGetChildren, path: "/s/acl"})
	a.set("/s/acl", "new", -1)
	b.ping()
	b.number(OpAddWatch, "/s/acl", 1)
	a.set("/s/acl", "hidden", -1)
	b.ping()
	a.create("/s/acl/open", "", 0)
	b.ping()
	b.number(OpAddWatch, "/s/acl", 0)
	a.create("/s/acl/more", "", 0)
	b.ping()
	a.delete("/s/acl/more", -1)
	b.ping()
	b.delete("/s/acl/open", -1)
	a.setACL("/s/acl", []aclEntry{{1, identity{"world", "anyone"}}, {31, identity{"digest", "u:x"}}}, 7)
	a.setACL("/s/acl", []aclEntry{{1, identity{"world", "anyone"}}, {31, identity{"digest", "u:x"}}}, 0)
	a.path(OpGetACL, "/s/acl")
	a.set("/s/acl", "", -1)
	b.get(OpGetData, "/s/acl", false)
	a.setACL("/s/acl", []aclEntry{}, -1)
	a.setACL("/s/none", open, -1)
	a.setACL("s", open, -1)
	b.createAs(OpCreate2, "/s/ip", "", []aclEntry{{31, identity{"ip", "127.0.0.1"}}}, 0, 0)
	b.get(OpGetData, "/s/ip", false)
	b.createAs(OpCreate2, "/s/net", "", []aclEntry{{31, identity{"ip", "127.0.0.0/8"}}}, 0, 0)
	b.get(OpGetData, "/s/net", false)
	b.createAs(OpCreate2, "/s/far", "", []aclEntry{{31, identity{"ip", "10.0.0.0/8"}}}, 0, 0)
	b.get(OpGetData, "/s/far", false)
	b.set("/zookeeper/config", "x", -1)
	b.auth("digest", "super:test")
	b.do(OpWhoAmI, "", nil)
	b.get(OpGetData, "/s/far", false)
	b.path(OpGetACL, "/s/acl")
	b.set("/s/acl", "super", -1)
	b.createAs(OpCreate2, "/s/superauth", "", mine, 0, 0)
	b.path(OpGetACL, "/s/superauth")
	b.set("/zookeeper/config", "x", 77)
	b.auth("ip", "")
	b.do(OpWhoAmI, "", nil)
	b.auth("nosuch", "x")
	b.ping()
	a.auth("world", "anyone")
	c.ping()
}

func (s *script) sessions(c *client) {
	s.section("sessions")
	for _, timeout := range []int32{1, 0, -5} {
		c := s.open()
		c.hello(0, timeout, 0, make([]byte, 16), timeout != 1)
		c.do(OpCloseSession, "", nil) // before it expires: when is chance
	}
	s.open().hello(0, 1<<30, 0, make([]byte, 16), true)
	s.open().hello(0, 5000, 0, nil, true)
	s.open().hello(0, 5000, 0, []byte("short"), true)
	s.open().hello(1<<60, 5000, 0, make([]byte, 16), true)
	a := s.connect()
	a.create("/s/mine", "", 1)
	a.get(OpExists, "/s/x1", true)
	b := s.open()
	b.hello(0, 10000, a.id, a.pass, false)
	settle()
	a.ping()
	b.ping()
	b.get(OpExists, "/s/mine", false)
	b.create("/s/x1", "", 0)
	d := s.open()
	d.hello(0, 10000, b.id, []byte("wrong password!!"), true)
	settle()
	d.ping()
	b.ping()
	e := s.open()
	e.hello(0, 10000, a.id, a.pass, true)
	c.get(OpExists, "/s/mine", true)
	e.do(OpCloseSession, "", nil)
	settle()
	e.ping()
	c.ping()
	f := s.open()
	f.hello(0, 10000, a.id, a.pass, true)
	g := s.connect()
	g.create("/s/g", "", 1)
	c.get(OpExists, "/s/g", true)
	g.get(OpExists, "/s/g", true)
	g.do(OpCloseSession, "", nil)
	c.ping()
	h := s.connect()
	h.do(OpSASL, "", func(e *encoder) { e.bytes([]byte("token")) })
	h.ping()
	h.do(OpReconfig, "", func(e *encoder) { e.string(""); e.string(""); e.string(""); e.int64(-1) })
	h.ping()
}

// settle gives a real server the time to close connections, which it does
// behind its clients' backs.
func settle() { time.Sleep(200 * time.Millisecond) }

func (s *script) oddities() {
	s.section("unknown and internal requests")
	// Not 20 and -10: a real server lets clients do what is meant for itself.
	for _, op := range []Op{0, 10, OpCheck, 23, 99, 108, -1, 1000} {
		c := s.connect()
		c.do(op, "", func(e *encoder) { e.string("/s") })
		c.ping()
		c.nc.Close()
	}
	s.section("broken frames")
	for _, raw := range []string{
		"\x00\x00\x00\x00", "\x00\x00\x00\x02ab", "\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00", "\xff\xff\xff\xff", "\x7f\xff\xff\xff",
		"\x00\x10\x00\x00" + strings.Repeat("x", 1<<20),
	} {
		c := s.connect()
		s.logf("%s %.12q", c.name, raw)
		c.nc.Write([]byte(raw))
		_, err := c.read()
		s.logf("   %s", fate(err))
	}
	for _, raw := range []string{"\x00\x00\x00\x00", "\x00\x00\x00\x05hello", "\xff\xff\xff\xf0", "\x00\x10\x00\x00", "GET / HTTP/1.0\r\n\r\n"} {
		c := s.open()
		s.logf("%s handshake %q", c.name, raw)
		c.nc.Write([]byte(raw))
		c.nc.SetReadDeadline(time.Now().Add(time.Second))
		_, err := c.r.ReadByte()
		s.logf("   %s", fate(err))
	}
	c := s.connect()
	c.create("/s/max", strings.Repeat("x", 0xfffff-4-4-4-6-4-4-4-4-5-4-6-4-100), 0)
	c.auth("digest", "x:y")
	c.doXid(7, OpSetAuth, "truncated", func(e *encoder) { e.int32(0) })
	c.ping()
}

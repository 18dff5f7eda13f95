package transport

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// This file says what an answer to a request can be. An answer that cannot be ends the connection, with a reason that
// names it, before anything of it is passed on: the session then finds out on the next connection what became of its
// requests.

// garbage is an errGarbage that names what arrived.
func garbage(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errGarbage, fmt.Errorf(format, args...))
}

// A header begins every frame of a server.
type header struct {
	xid  int32
	zxid int64
	code int32
}

// check returns why a decoded answer cannot be one to the call, or nil. session is the connection's.
func (c *Call) check(a *answer, h header, session int64) error {
	switch c.op {
	case opCreate:
		return checkCreatedPath(pathOf(c.body), c.kind, a.path)
	case opCreate2, opCreateContainer, opCreateTTL:
		if err := checkCreatedPath(pathOf(c.body), c.kind, a.path); err != nil {
			return err
		}
		return c.checkCreated(a.path, a.stat, h, session)
	case opGetChildren2:
		return checkListing(pathOf(c.body), a.names, a.stat)
	case opGetData:
		if int(a.stat.DataLength) != len(a.data) {
			return garbage("the Stat of %q counts %d bytes of data, but %d came", pathOf(c.body), a.stat.DataLength, len(a.data))
		}
	case opMulti:
		return checkMulti(c.ops, a.results)
	}
	return nil
}

// pathOf returns the path that the body of a request begins with.
func pathOf(body encoder) []byte {
	d := decoder{rest: body}
	return d.take(int(d.int32()))
}

// checkCreatedPath compares the path in the answer to a create with the path that was asked for.
func checkCreatedPath(asked []byte, kind int32, got string) error {
	if !sequential(kind) && got != string(asked) {
		return garbage("%q was created instead of %q", got, asked)
	}
	if sequential(kind) && (!strings.HasPrefix(got, string(asked)) || !isSequenceNumber(got[len(asked):])) {
		return garbage("%q was created instead of %q and a number", got, asked)
	}
	return nil
}

func sequential(kind int32) bool {
	return kind == PersistentSequential || kind == EphemeralSequential || kind == TTLSequential
}

// isSequenceNumber reports whether s is a signed 32-bit number as a server appends it, by "%010d".
func isSequenceNumber(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	ten, eleven := len(s) == 10 && s[0] != '+' && (s[0] != '-' || n != 0), len(s) == 11 && n <= -1_000_000_000
	return err == nil && (ten || eleven)
}

// checkCreated looks at the Stat of a new node: it is the node's first, of this session, and not from the future. Its
// Czxid is what fencing tokens are made of.
func (c *Call) checkCreated(path string, s *zk.Stat, h header, session int64) error {
	ephemeral := c.kind == Ephemeral || c.kind == EphemeralSequential
	switch {
	case s.Czxid <= 0 || s.Mzxid != s.Czxid || h.zxid > 0 && s.Czxid > h.zxid:
		return garbage("%q was created at zxid %#x, last changed at %#x, by an answer of zxid %#x", path, s.Czxid, s.Mzxid, h.zxid)
	case ephemeral && s.EphemeralOwner != session:
		return garbage("the new node %q belongs to session %#x, this is %#x", path, s.EphemeralOwner, session)
	}
	return nil
}

// checkListing compares a listing with itself: a server takes its names and its Stat at one moment.
func checkListing(path []byte, names []string, s *zk.Stat) error {
	if int(s.NumChildren) != len(names) {
		return garbage("the Stat of %q counts %d children, but %d were listed", path, s.NumChildren, len(names))
	}
	for _, name := range names {
		if name == "" || strings.ContainsAny(name, "/\x00") {
			return garbage("%q was listed with a child named %q", path, name)
		}
	}
	return nil
}

// checkMulti compares the results of a transaction with its parts. All parts succeed, each in its kind, or all are
// errors, of which one at least says why.
func checkMulti(ops []Op, results []OpResult) error {
	if len(results) != len(ops) {
		return garbage("%d results of a transaction of %d parts", len(results), len(ops))
	}
	failures, reasons := 0, 0
	for i, r := range results {
		switch {
		case r.Err != nil:
			failures, reasons = failures+1, reasons+1
		case r.kind == multiEnd:
			failures++
		case r.kind != ops[i].op:
			return garbage("part %d of a transaction is of kind %d, its result of kind %d", i, ops[i].op, r.kind)
		case r.kind == opCreate:
			if err := checkCreatedPath(pathOf(ops[i].body), ops[i].kind, r.Path); err != nil {
				return err
			}
		}
	}
	if failures > 0 && (failures < len(ops) || reasons == 0) {
		return garbage("%d of %d parts of a transaction failed, %d with a reason", failures, len(ops), reasons)
	}
	return nil
}

// checkPath reports whether path can be the path of a node. It is for events, whose paths are not compared with a
// request.
func checkPath(path []byte) error {
	switch {
	case len(path) == 0 || path[0] != '/',
		len(path) > 1 && path[len(path)-1] == '/',
		bytes.Contains(path, []byte("//")),
		bytes.IndexByte(path, 0) >= 0:
		return garbage("an event for the impossible path %q", path)
	}
	return nil
}

// event reads the body of a watch event.
func (d *decoder) event() (WatchEvent, error) {
	kind := zk.EventType(d.int32())
	_ = d.int32() // the connection's state, always "connected"
	path := d.view()
	if err := d.end(); err != nil {
		return WatchEvent{}, err
	}
	if kind < zk.EventNodeCreated || kind > zk.EventNodeChildrenChanged {
		return WatchEvent{}, garbage("an event of the unknown type %d for %q", kind, path)
	}
	if err := checkPath(path); err != nil {
		return WatchEvent{}, err
	}
	return WatchEvent{Type: kind, Path: string(path)}, nil
}

//go:build unix

package differential_test

import (
	"fmt"
	"slices"
	"strings"
)

// What a step is, if not a request.
type special int

const (
	request  special = iota
	expire           // the client falls silent, and the script goes on when its session is over
	reset            // the connection breaks; the session's next request is sent on a new one
	steal            // a second connection takes the session over from the first
	imposter         // a second connection tries to, with a wrong password
	ahead            // a second connection says that it has seen the future
)

var specials = map[special]string{
	expire: "expire", reset: "reset", steal: "steal", imposter: "imposter", ahead: "ahead",
}

// A step is one thing that one of the clients does. It makes sense whatever came before, so that a script can be
// shortened. Paths begin with root, which differs from run to run.
type step struct {
	client  int
	special special
	op      int32
	path    string
	data    string
	acl     []entry
	n       int32 // flags, version, mode …
	ttl     int64
	watch   bool
	steps   []step // a multi's operations
	since   int64  // setWatches' zxid, counted from the beginning of the run
	lists   [5][]string
	cut     int // how many bytes are missing at the end of the request
	more    int // how many are too many
	alone   bool
}

type entry struct {
	perms      int32
	scheme, id string
}

// quotas is where those are kept.
const quotas = "/zookeeper/quota"

// root stands for the directory of a run.
const root = "/R"

func (s step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "c%d ", s.client)
	if s.special != request {
		b.WriteString(specials[s.special])
		return b.String()
	}
	b.WriteString(s.what())
	if s.cut > 0 {
		fmt.Fprintf(&b, " cut=%d", s.cut)
	}
	if s.more > 0 {
		fmt.Fprintf(&b, " more=%d", s.more)
	}
	return b.String()
}

func (s step) what() string {
	name := opNames[s.op]
	if name == "" {
		name = fmt.Sprintf("op(%d)", s.op)
	}
	switch s.op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL:
		return fmt.Sprintf("%s %q %q %v flags=%d ttl=%d", name, s.path, s.data, s.acl, s.n, s.ttl)
	case opDelete, opCheck:
		return fmt.Sprintf("%s %q v=%d", name, s.path, s.n)
	case opSetData:
		return fmt.Sprintf("%s %q %q v=%d", name, s.path, s.data, s.n)
	case opSetACL:
		return fmt.Sprintf("%s %q %v v=%d", name, s.path, s.acl, s.n)
	case opExists, opGetData, opGetChildren, opGetChildren2:
		return fmt.Sprintf("%s %q watch=%v", name, s.path, s.watch)
	case opGetACL, opSync, opGetEphemerals, opGetAllChildrenNumber, opDeleteContainer:
		return fmt.Sprintf("%s %q", name, s.path)
	case opAddWatch, opCheckWatches, opRemoveWatches:
		return fmt.Sprintf("%s %q %d", name, s.path, s.n)
	case opMulti, opMultiRead:
		var parts []string
		for _, p := range s.steps {
			parts = append(parts, p.what())
		}
		return fmt.Sprintf("%s [%s]", name, strings.Join(parts, "; "))
	case opAuth:
		return fmt.Sprintf("%s %s %q", name, s.path, s.data)
	case opSetWatches, opSetWatches2:
		return fmt.Sprintf("%s since=%d %q", name, s.since, s.lists)
	}
	return name
}

// encode appends the body of the request.
func (s step) encode(e *encoder, at func(string) string, base int64) {
	switch s.op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL:
		e.string(at(s.path))
		e.data(s.data)
		s.encodeACL(e)
		e.int32(s.n)
		if s.op == opCreateTTL {
			e.int64(s.ttl)
		}
	case opDelete, opCheck, opAddWatch, opCheckWatches, opRemoveWatches:
		e.string(at(s.path))
		e.int32(s.n)
	case opSetData:
		e.string(at(s.path))
		e.data(s.data)
		e.int32(s.n)
	case opSetACL:
		e.string(at(s.path))
		s.encodeACL(e)
		e.int32(s.n)
	case opExists, opGetData, opGetChildren, opGetChildren2:
		e.string(at(s.path))
		e.bool(s.watch)
	case opGetACL, opSync, opGetEphemerals, opGetAllChildrenNumber, opDeleteContainer:
		e.string(at(s.path))
	case opMulti, opMultiRead:
		for _, p := range s.steps {
			e.int32(p.op)
			e.bool(false)
			e.int32(-1)
			p.encode(e, at, base)
		}
		e.int32(-1)
		e.bool(true)
		e.int32(-1)
	case opAuth:
		e.int32(0)
		e.string(s.path)
		e.string(s.data)
	case opSASL:
		e.string(s.data)
	case opReconfig:
		for range 3 {
			e.string("")
		}
		e.int64(-1)
	case opSetWatches, opSetWatches2:
		e.int64(base + s.since)
		n := 3
		if s.op == opSetWatches2 {
			n = 5
		}
		for _, list := range s.lists[:n] {
			paths := slices.Clone(list)
			for i := range paths {
				paths[i] = at(paths[i])
			}
			e.strings(paths)
		}
	}
}

func (s step) encodeACL(e *encoder) {
	e.int32(int32(len(s.acl)))
	for _, a := range s.acl {
		e.int32(a.perms)
		e.string(a.scheme)
		e.string(a.id)
	}
}

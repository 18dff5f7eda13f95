package zktest

import (
	"slices"
	"strconv"
	"strings"
)

// version is that of the real server whose answers are given.
type version [3]int

// latest patch of a release line, where none is named.
const latest = 1 << 20

var defaultVersion = version{3, 9, 5}

// WithVersion makes the server answer as that release of ZooKeeper does, such
// as "3.8.6" or, for the last of a line, "3.8" (default 3.9.5). What differs:
//
//   - requests that came later are unimplemented: create2, containers and the
//     removal of watches came with 3.5, addWatch, multiRead and getEphemerals
//     with 3.6, whoAmI with 3.7;
//   - before 3.9 a watch replaces another mode of watch of the same client on
//     the same path, watches of one mode cannot be removed by themselves, and
//     an event does not tell its zxid;
//   - before 3.8.4, and before 3.9.2 in its line, exists and events need no
//     permission to read;
//   - before 3.8.4 a create2 within a multi is answered without a Stat.
//
// It panics if the version has another form. 3.9.5 and 3.8.6 are compared
// with recordings of the real thing.
func WithVersion(v string) Option {
	parts := strings.Split(v, ".")
	parsed := version{2: latest}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || len(parts) < 2 || i > 2 {
			panic("zktest: not a version of ZooKeeper: " + strconv.Quote(v))
		}
		parsed[i] = n
	}
	return func(c *config) { c.version = parsed }
}

func (v version) before(other version) bool {
	return slices.Compare(v[:], other[:]) < 0
}

// guarded: what a client may not read is not told by exists and events either.
func (v version) guarded() bool {
	return !v.before(version{3, 8, 4}) && (v.before(version{3, 9, 0}) || !v.before(version{3, 9, 2}))
}

func (v version) knows(op Op) bool {
	switch op {
	case OpCreate2, OpCreateContainer, OpDeleteContainer, OpCreateTTL, OpReconfig, OpCheckWatches, OpRemoveWatches:
		return !v.before(version{3, 5, 0})
	case OpAddWatch, OpSetWatches2, OpMultiRead, OpGetEphemerals, OpGetAllChildrenNumber:
		return !v.before(version{3, 6, 0})
	case OpWhoAmI:
		return !v.before(version{3, 7, 0})
	case OpCheck: // part of a multi or nothing
		return false
	}
	_, known := opNames[op]
	return known
}

// statInMulti: a create2 within a multi is answered with its Stat.
func (v version) statInMulti() bool { return v.guarded() || !v.before(version{3, 9, 0}) }

package zktest

import (
	"slices"
	"strconv"
	"strings"
)

// version is the version of the real server whose answers this one gives.
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
//   - before 3.6 a node's sequence numbers go on with -2147483648 behind
//     2147483647; since then they end there, see WithCommitTime;
//   - before 3.9 a watch replaces another mode of watch of the same client on
//     the same path, watches of one mode cannot be removed by themselves, and
//     an event has no zxid;
//   - before 3.8.4, and before 3.9.2 in its line, exists and events need no
//     permission to read;
//   - before 3.8.4 a create2 within a multi is answered without a Stat.
//
// It panics if the version has another form. 3.9.5 and 3.8.6 are compared
// with recordings of the real thing.
func WithVersion(v string) Option {
	parsed := parseVersion(v)
	return func(c *config) { c.version, c.keeper = parsed, false }
}

// WithKeeper makes the server differ from ZooKeeper where a release of ClickHouse Keeper does, such as "24.8", as far
// as that matters to a client and shows in its sources and pull requests; it was not compared with the real thing:
//
//   - it closes the connection, without an answer, on a request that it does
//     not know: create2 and containers before 26.7, createTTL before 26.6, the
//     removal of watches, setWatches and addWatch before 26.1, and others of
//     ZooKeeper's later requests;
//   - a client that comes back with its session gets another, new one, and its
//     old one ends when its time is up;
//   - a change of a node's data counts in its parent's Cversion, and the
//     removal of a child does not change its parent's Pzxid;
//   - an event of a tree has the path on which the watch was set, not the
//     node's: so it is from 26.1 to 26.8 at least;
//   - a client with several watches that a change concerns gets an event for
//     each, and no event needs permission to read;
//   - the events of setWatches come right behind its answer, not before it.
//
// It panics if the release has another form.
func WithKeeper(release string) Option {
	parsed := parseVersion(release)
	return func(c *config) { c.version, c.keeper = parsed, true }
}

func parseVersion(v string) version {
	parts := strings.Split(v, ".")
	parsed := version{2: latest}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || len(parts) < 2 || i > 2 {
			panic("zktest: not a version of a server: " + strconv.Quote(v))
		}
		parsed[i] = n
	}
	return parsed
}

// knows reports whether the server knows a request.
func (c *config) knows(op Op) bool {
	if !c.keeper {
		return c.version.knows(op)
	}
	switch op {
	case OpCreate2, OpCreateContainer:
		return !c.version.before(version{26, 7, 0})
	case OpCreateTTL:
		return !c.version.before(version{26, 6, 0})
	case OpCheckWatches, OpRemoveWatches, OpSetWatches, OpSetWatches2, OpAddWatch:
		return !c.version.before(version{26, 1, 0})
	case OpDeleteContainer, OpReconfig, OpMultiRead, OpSASL, OpGetEphemerals, OpGetAllChildrenNumber, OpWhoAmI, OpCheck:
		return false
	}
	_, known := opNames[op]
	return known
}

func (v version) before(other version) bool {
	return slices.Compare(v[:], other[:]) < 0
}

// guarded reports whether exists and events, too, hide nodes that a client may not read.
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

// keeperVersion: those from here on are ClickHouse Keeper's, which are years.
var keeperVersion = version{20, 0, 0}

// ending: sequence numbers end at 2147483647.
func (v version) ending() bool { return !v.before(version{3, 6, 0}) && v.before(keeperVersion) }

// statInMulti: a create2 within a multi is answered with its Stat.
func (v version) statInMulti() bool { return v.guarded() || !v.before(version{3, 9, 0}) }

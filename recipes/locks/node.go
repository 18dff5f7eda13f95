package locks

import (
	"strconv"
	"strings"
)

// Names of the nodes that stand in a queue, after Curator's protection prefix "_c_<UUID>-" and before the number.
const (
	mutexMarker = "lock-"
	readMarker  = "__READ__"
	writeMarker = "__WRIT__"
	leaseMarker = "lease-"

	// kazoo's own, after a GUID without dashes. Its WriteLock has the marker of its Lock.
	kazooMarker     = "__lock__"
	kazooReadMarker = "__rlock__"
)

// markers are the nodes that count in the queue of a mutex or a read/write lock. Every other child is ignored.
var markers = []string{mutexMarker, readMarker, writeMarker, kazooMarker, kazooReadMarker}

// A node is a contender's place in a queue, as its name tells.
type node struct {
	name   string
	shared bool // a reader's
	number int32
}

// parseNode takes a child's name apart. extra are further markers that count, as exclusive ones.
//
// Where the number begins is for the marker to say: "lock-2147483647" ends with a positive number, "lock--2147483647" with a
// negative one, although its last ten characters are a number, too.
func parseNode(name string, extra []string) (n node, ok bool) {
	for _, width := range []int{10, 11} {
		head, number, ok := cutWidth(name, width)
		if !ok {
			continue
		}
		for _, marker := range markers {
			if hasMarker(head, marker) {
				return node{name: name, shared: marker == readMarker || marker == kazooReadMarker, number: number}, true
			}
		}
		for _, marker := range extra {
			if hasMarker(head, marker) {
				return node{name: name, number: number}, true
			}
		}
	}
	return node{}, false
}

// parseNodes returns the children that count.
func parseNodes(children, extra []string) []node {
	nodes := make([]node, 0, len(children))
	for _, name := range children {
		if n, ok := parseNode(name, extra); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// hasMarker reports whether a name without its number ends with a marker that stands by itself: "lock-" is none in "block-".
// Markers that begin with an underscore follow a GUID directly in kazoo's names.
func hasMarker(head, marker string) bool {
	before, found := strings.CutSuffix(head, marker)
	return found && (before == "" || before[len(before)-1] == '-' || marker[0] == '_')
}

// isLease reports whether a child is a lease of a semaphore.
func isLease(name string) bool {
	head, _, ok := cutNumber(name)
	return ok && hasMarker(head, leaseMarker)
}

// cutNumber splits off what the server appended to a name that ends, without it, with one of the markers above.
func cutNumber(name string) (head string, number int32, ok bool) {
	head, number, ok = cutWidth(name, 11)
	if ok && (strings.HasSuffix(head, "-") || strings.HasSuffix(head, "_")) { // then this "-" is no marker's
		return head, number, true
	}
	return cutWidth(name, 10)
}

// cutWidth splits off the parent's counter, a signed 32-bit number, as "%010d" prints it: in 10 characters, or in 11 if that is
// not enough. Behind "lock-", "-000000005" and "-2147483648" are negative numbers.
func cutWidth(name string, width int) (head string, number int32, ok bool) {
	if len(name) < width {
		return "", 0, false
	}
	head, digits := name[:len(name)-width], name[len(name)-width:]
	if digits[0] == '+' { // ParseInt takes it
		return "", 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	switch negative := digits[0] == '-'; {
	case err != nil, negative && n == 0, negative && width == 11 && n > -1_000_000_000, !negative && width == 11:
		return "", 0, false
	}
	return head, int32(n), true
}

// ties reports whether another node has n's number. Of two contenders with one number, the one that was created later sees the
// other in the listing that follows its creation.
func (n node) ties(m node) bool { return n.number == m.number && n.name != m.name }

// before reports whether n stands before m. The counter wraps: half of all numbers are before any given one, which is right as
// long as fewer than 2³¹ nodes are created while one of them waits.
func (n node) before(m node) bool { return n.number-m.number < 0 }

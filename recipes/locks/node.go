package locks

import (
	"fmt"
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
func parseNode(name string, extra []string) (n node, ok bool) {
	head, number, ok := cutNumber(name)
	if !ok {
		return node{}, false
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
	return node{}, false
}

// hasMarker reports whether a name without its number ends with a marker that stands by itself: "lock-" is none in "block-".
// Markers that begin with an underscore follow a GUID directly in kazoo's names.
func hasMarker(head, marker string) bool {
	before, found := strings.CutSuffix(head, marker)
	return found && (before == "" || before[len(before)-1] == '-' || marker[0] == '_')
}

// cutNumber splits off what the server appended: the parent's counter, a signed 32-bit number, as "%010d" prints it. Behind
// "lock-", "-000000005" and "-2147483648" are negative numbers, of 10 and of 11 characters.
func cutNumber(name string) (head string, number int32, ok bool) {
	for _, width := range []int{10, 11} {
		if len(name) < width {
			break
		}
		head, digits := name[:len(name)-width], name[len(name)-width:]
		n, err := strconv.ParseInt(digits, 10, 32)
		if err == nil && fmt.Sprintf("%010d", n) == digits {
			return head, int32(n), true
		}
	}
	return "", 0, false
}

// before reports whether n stands before m. The counter wraps: half of all numbers are before any given one, which is right as
// long as fewer than 2³¹ nodes are created while one of them waits.
func (n node) before(m node) bool { return n.number-m.number < 0 }

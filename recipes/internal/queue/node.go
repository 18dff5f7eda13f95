package queue

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Markers stand after Curator's prefix "_c_<UUID>-" and before the number.
const (
	MutexMarker = "lock-"
	ReadMarker  = "__READ__"
	WriteMarker = "__WRIT__"
	LeaseMarker = "lease-"

	// kazoo's, after a GUID without dashes. WriteLock and Lock share one.
	kazooMarker     = "__lock__"
	kazooReadMarker = "__rlock__"
)

// LockMarkers count in the queue of a mutex or a read/write lock; extra ones are exclusive.
func LockMarkers(extra ...string) map[string]bool {
	counts := map[string]bool{}
	for _, marker := range extra {
		counts[marker] = false
	}
	for _, marker := range []string{MutexMarker, WriteMarker, kazooMarker} {
		counts[marker] = false
	}
	counts[ReadMarker], counts[kazooReadMarker] = true, true
	return counts
}

// mayReadOn reports whether a reader may follow with the node's number: see Downgrade.
func mayReadOn(name string) bool { return strings.Contains(name, WriteMarker) }

type marker struct {
	text   string
	shared bool // a reader's
}

// Markers are those that count, the longest first, which wins if several fit. Other children are ignored.
type Markers []marker

func newMarkers(counts map[string]bool) Markers {
	all := make(Markers, 0, len(counts))
	for text, shared := range counts {
		all = append(all, marker{text, shared})
	}
	slices.SortFunc(all, func(a, b marker) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), strings.Compare(a.text, b.text))
	})
	return all
}

// String differs for different markers: no name of a node has a slash.
func (ms Markers) String() string {
	var text strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&text, "%s/%t/", m.text, m.shared)
	}
	return text.String()
}

// A Node is a contender's place in a queue.
type Node struct {
	Name   string
	Shared bool // a reader's
	number int32
}

// Parse takes a child's name apart. The number begins where the marker ends: "lock--2147483647" is negative.
func (ms Markers) Parse(name string) (n Node, ok bool) {
	for _, width := range []int{10, 11} {
		head, number, ok := cutWidth(name, width)
		if !ok {
			continue
		}
		for _, m := range ms {
			if hasMarker(head, m.text) {
				return Node{Name: name, Shared: m.shared, number: number}, true
			}
		}
	}
	return Node{}, false
}

// ParseAll returns the nodes among children.
func (ms Markers) ParseAll(children []string) []Node {
	nodes := make([]Node, 0, len(children))
	for _, name := range children {
		if n, ok := ms.Parse(name); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// Count returns how many of these children are nodes.
func (ms Markers) Count(children []string) int {
	n := 0
	for _, name := range children {
		if _, ok := ms.Parse(name); ok {
			n++
		}
	}
	return n
}

// hasMarker reports whether a name without its number ends with a whole marker ("block-" does not end with "lock-").
// kazoo's markers, with an underscore, follow a GUID directly.
func hasMarker(head, marker string) bool {
	before, found := strings.CutSuffix(head, marker)
	return found && (before == "" || before[len(before)-1] == '-' || marker[0] == '_')
}

// cutNumber splits off the number of a name with a marker.
func cutNumber(name string) (head string, number int32, ok bool) {
	head, number, ok = cutWidth(name, 11)
	if ok && (strings.HasSuffix(head, "-") || strings.HasSuffix(head, "_")) { // then this "-" is no marker's
		return head, number, true
	}
	return cutWidth(name, 10)
}

// cutWidth splits off the parent's counter, an int32 as "%010d" prints it: "-000000005" and "-2147483648" are numbers.
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

// Before reports whether n stands before m. Negative numbers, from beyond the counter's end, are never ours, and ahead.
func (n Node) Before(m Node) bool { return n.number < m.number }

// Compare sorts nodes as Before does.
func (n Node) Compare(m Node) int { return cmp.Compare(n.number, m.number) }

// Follows reports whether n was created right after m.
func (n Node) Follows(m Node) bool { return m.number >= 0 && n.number == m.number+1 }

const (
	// lastNumber is a contender's greatest. The rest is for clients that have yet to hear of the end.
	lastNumber = math.MaxInt32 - 1<<16
	// From firstDoubtful on only a listing decides, because other decisions need later nodes to have greater numbers.
	firstDoubtful = 1 << 30
)

// Exhausted reports by a new node's name whether the counter has ended. Servers that count in 64 bits go beyond int32.
func Exhausted(name string) bool {
	head, number, ok := cutNumber(name)
	whole := strings.HasSuffix(head, "-") || strings.HasSuffix(head, "_") // not the end of a longer number
	return !ok || !whole || number < 0 || number > lastNumber
}

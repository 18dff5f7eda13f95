package journaltest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A place is what a node's name says of its place in a queue. It is taken apart here once more, so that a fault of the
// engine's parser does not hide itself.
type place struct {
	number int64
	shared bool
	writer bool // a reader may follow with its number
}

// placeOf takes a name apart by a view's markers, written as "lock-/false/__READ__/true/". ok is false if the node does
// not belong to the queue.
func placeOf(markers, name string) (p place, ok bool) {
	const digits = 10
	for _, width := range []int{digits, digits + 1} {
		if len(name) < width {
			continue
		}
		head, number := name[:len(name)-width], name[len(name)-width:]
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil || number != fmt.Sprintf("%010d", n) { // as servers print it
			continue
		}
		if shared, ok := markedBy(markers, head); ok {
			return place{number: n, shared: shared, writer: strings.HasSuffix(head, "__WRIT__")}, true
		}
	}
	return place{}, false
}

// markedBy finds the longest marker that a name ends with before its number.
func markedBy(markers, head string) (shared, ok bool) {
	longest := -1
	parts := strings.Split(markers, "/")
	for i := 0; i+1 < len(parts); i += 2 {
		before, found := strings.CutSuffix(head, parts[i])
		whole := before == "" || strings.HasSuffix(before, "-") || strings.HasPrefix(parts[i], "_")
		if found && whole && len(parts[i]) > longest {
			longest, shared, ok = len(parts[i]), parts[i+1] == "true", true
		}
	}
	return shared, ok
}

// isLast reports whether a node has the last number that a directory has, or one that comes after that.
func isLast(name string) bool {
	const digits = 10
	if len(name) < digits {
		return false
	}
	head, number := name[:len(name)-digits], name[len(name)-digits:]
	n, err := strconv.ParseInt(number, 10, 64)
	return err == nil && (n >= math.MaxInt32 || n < 0 || strings.HasSuffix(head, "--"))
}

// ahead reports whether a contender must wait for a node.
func (p place) ahead(me place) bool { return p.number < me.number && (!p.shared || !me.shared) }

package history

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// A line is the contenders of one directory that count for each other, in the order of their numbers. As in
// recipes/internal/queue, numbers decide; negative ones, from beyond the counter's end, are ahead.
type line struct {
	dir       string
	family    Family
	queue     []*contender
	exclusive []*contender // those of queue that are not shared
	most      int          // the most leases that surely counted at one time
	standing  [recipes]int // how many of queue are of each
	mixed     mixture
}

func order(a, b *contender) int {
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.Czxid, b.Czxid), strings.Compare(a.Path, b.Path))
}

func insert(list []*contender, one *contender) []*contender {
	i, _ := slices.BinarySearchFunc(list, one, order)
	return slices.Insert(list, i, one)
}

func remove(list []*contender, one *contender) []*contender {
	if i, found := slices.BinarySearchFunc(list, one, order); found {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// enter takes in a contender. Before the logs have begun it is not known who is let in.
func (l *line) enter(one *contender, now txnlog.Moment, begun bool) {
	l.queue = insert(l.queue, one)
	switch {
	case l.family == Leases:
		l.enterLease(one, now)
		return
	case !one.Kind.Shared():
		l.exclusive = insert(l.exclusive, one)
	default:
		l.takePlace(one)
	}
	l.mix(one)
	if begun && l.mayEnter(one) {
		one.LetIn = now
	}
}

// takePlace gives a reader the token of the writer whose number it has: its holder goes on as a reader.
func (l *line) takePlace(reader *contender) {
	for _, writer := range l.exclusive {
		if writer.number == reader.number && writer.Session == reader.Session {
			reader.Token = writer.Token
		}
	}
}

// mayEnter is the rule: no contender ahead conflicts. Those with the same number, a writer and what it has become, do
// not.
func (l *line) mayEnter(one *contender) bool {
	ahead := l.exclusive
	if !one.Kind.Shared() {
		ahead = l.queue
	}
	return len(ahead) == 0 || ahead[0].number >= one.number
}

// leave takes out a contender, and lets in who may enter now.
func (l *line) leave(one *contender, now txnlog.Moment) {
	if l.family == Leases {
		l.leaveLease(one, now)
		return
	}
	l.queue = remove(l.queue, one)
	l.unmix(one)
	if one.Kind.Shared() {
		if len(l.exclusive) > 0 {
			l.letIn(l.exclusive[0], now)
		}
		return
	}
	l.exclusive = remove(l.exclusive, one)
	for _, next := range l.queue {
		if !l.letIn(next, now) {
			break
		}
	}
}

// letIn reports whether a contender has been let in, now or before.
func (l *line) letIn(one *contender, now txnlog.Moment) bool {
	if one.In() {
		return true
	}
	if !l.mayEnter(one) {
		return false
	}
	one.LetIn = now
	return true
}

// begin lets in what stands first when the logs begin.
func (l *line) begin() {
	for i, one := range l.queue {
		if l.family == Leases {
			l.beginLease(one, i)
		} else if l.mayEnter(one) {
			one.LetIn, one.LetInEarlier = one.Queued, true
		}
	}
}

package txnlog

import (
	"cmp"
	"math"
	"slices"
)

// A cut is a range of zxids of which the logs of several servers do not show that it was executed.
type cut struct {
	first, last int64
	// kind is Deposed if it was not executed, and Unproven if the logs that would show it are missing.
	kind NoteKind
}

// cutsOf goes from one epoch to the one before it. What a leader knew of an earlier epoch stands before its own first
// transaction in the log of a witness: the rest was not executed. Some of that is left in doubt all the same: if most
// servers do not lack it, or a snapshot has it. Without a witness, only what most servers have logged is sure, and
// transactions may be missing: unseen has where. executed are the zxids of snapshots.
func cutsOf(e epochs, executed []int64) (cuts []cut, unseen []span) {
	newer, ok := e.lastEpoch(math.MaxInt64)
	for ok {
		begin := newer << 32
		if end, found := e.witnessed(newer); found {
			c := cut{end + 1, begin, Deposed}
			if anyBetween(executed, end, begin) || !e.mostLack(c) {
				c.kind = Unproven
			}
			cuts = append(cuts, c)
			newer = epoch(end)
			continue
		}
		if newer, ok = e.lastEpoch(newer); ok {
			cuts = append(cuts, cut{max(newer<<32, e.most[newer]+1), begin, Unproven})
			unseen = append(unseen, span{e.lastOf(newer) + 1, begin})
		}
	}
	return cuts, unseen
}

// mostLack reports whether most servers have logged nothing of a range: what they logged before it, or a snapshot from
// before it, is still there.
func (e *epochs) mostLack(c cut) bool {
	lack, have := map[int]struct{}{}, map[int]struct{}{}
	for server, spans := range e.of {
		voter := e.servers[server].voter
		switch i, _ := slices.BinarySearchFunc(spans, c.first, func(s span, zxid int64) int { return cmp.Compare(s.last, zxid) }); {
		case i < len(spans) && spans[i].first <= c.last:
			have[voter] = struct{}{}
		case i > 0 || hasOlder(e.servers[server].snapshots, c.first):
			lack[voter] = struct{}{}
		}
	}
	for voter := range have {
		delete(lack, voter)
	}
	return len(lack) > e.electorate.servers/2
}

// lastEpoch returns the last epoch before another that a log has transactions of.
func (e *epochs) lastEpoch(before int64) (last int64, ok bool) {
	for _, spans := range e.of {
		if i := begin(spans, before); i > 0 {
			last, ok = max(last, epoch(spans[i-1].first)), true
		}
	}
	return last, ok
}

// lastOf returns the last zxid of an epoch that a log has.
func (e *epochs) lastOf(number int64) (last int64) {
	for _, spans := range e.of {
		if i := begin(spans, number); i < len(spans) && epoch(spans[i].first) == number {
			last = max(last, spans[i].last)
		}
	}
	return last
}

// anyBetween reports whether one of the zxids of snapshots is that of a transaction between two others.
func anyBetween(executed []int64, after, before int64) bool {
	for _, zxid := range executed {
		if zxid > after && zxid < before && isTransaction(zxid) {
			return true
		}
	}
	return false
}

// isTransaction reports whether a zxid is that of a transaction. A snapshot at the beginning of an epoch has a zxid
// whose lower half is zero, which no transaction has.
func isTransaction(zxid int64) bool { return uint32(zxid) != 0 }

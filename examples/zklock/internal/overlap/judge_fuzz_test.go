package overlap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/overlap"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// A truth is a hold as it was. Its times lie between transactions, of which there is one each at 1000, 2000 and so on.
type truth struct {
	node    history.Contender
	rec     records.Record
	from    int
	to      int
	process int
}

// known is a zxid that a client may have seen by a time: any transaction before it, from one that it has surely seen.
func known(r *rand.Rand, least int64, by int) int64 {
	newest := int64(by / 1000)
	if newest <= least {
		return least
	}
	return least + r.Int64N(newest-least+1)
}

// invent makes holds that keep no rule, and what clients and servers would have recorded of them.
func invent(r *rand.Rand) (all []truth, limit int) {
	kinds := [][]survey.Kind{{survey.Mutex}, {survey.Reader, survey.Writer}, {survey.Lease}}[r.IntN(3)]
	orderly := r.IntN(2) == 0 // each begins after the one before it was deleted, as of a mutex that works
	limit = 1 + r.IntN(3)
	processes := 1 + 3*r.IntN(2)
	clock := 2000
	for i := range 2 + r.IntN(7) {
		created := int64(clock/1000 + 1)
		from := int(created)*1000 + 1 + r.IntN(3000)
		to := from + 1 + r.IntN(6000)
		deleted := int64(to/1000 + 1 + r.IntN(3))
		one := truth{from: from, to: to, process: r.IntN(processes)}
		how, kept := history.Released, records.Released
		switch r.IntN(4) {
		case 0: // lost, and noticed at some time
			how, kept = history.Expired, records.Lost
			deleted = int64(from/1000 + 1 + r.IntN(9))
		case 1: // lost, and used until the program thought that it released it
			how = history.Expired
			deleted = int64(from/1000 + 1 + r.IntN(9))
		}
		one.node = node(kinds[r.IntN(len(kinds))], created, deleted, how)
		one.node.Node = fmt.Sprint("n", i)
		one.node.Token, one.node.Session = created*100+int64(i), int64(i+1)
		one.rec = records.Record{
			Path: "/a", Node: one.node.Node, Czxid: one.node.Token, Session: records.SessionID(i + 1), How: kept,
			Begin: records.Moment{Zxid: known(r, created, from)}, Process: fmt.Sprint("p", one.process),
		}
		one.rec.End.Zxid = known(r, one.rec.Begin.Zxid, to)
		if kept == records.Lost {
			one.rec.End.Zxid = known(r, one.rec.Begin.Zxid, to+20000)
		}
		for _, before := range all { // what it may have seen go
			if before.node.Ended.Zxid*1000 < int64(from) && r.IntN(2) == 0 {
				one.rec.After = before.node.Node
			}
		}
		offset := []int{0, -7000, 300, 90000}[one.process] // each process has a clock
		one.rec.Begin.Time = midnight.Add(time.Duration(from + offset))
		one.rec.End.Time = midnight.Add(time.Duration(to + offset))
		all = append(all, one)
		clock += r.IntN(4000)
		if orderly {
			clock = max(int(deleted)*1000, clock)
		}
	}
	return all, limit
}

// conflict reports whether holds overlapped that exclude each other.
func conflict(all []truth, limit int) bool {
	for _, a := range all {
		together := 0
		for _, b := range all {
			if a.from < b.from || a.from >= b.to { // count at each begin those that last then
				continue
			}
			if a.node.Kind == survey.Lease || a.node.Node == b.node.Node || !a.node.Kind.Shared() || !b.node.Kind.Shared() {
				together++
			}
		}
		if a.node.Kind != survey.Lease && together > 1 || together > limit {
			return true
		}
	}
	return false
}

// closeSome closes the recorders of some while they hold.
func closeSome(r *rand.Rand, all []truth) {
	for i := range all {
		if one := &all[i]; r.IntN(10) == 0 {
			one.rec.How, one.rec.End = records.Open, records.Moment{Time: one.rec.Begin.Time.Add(time.Duration(r.IntN(one.to - one.from)))}
		}
	}
}

// inputOf is what is known of invented holds, by logs that begin and end anywhere.
func inputOf(r *rand.Rand, all []truth, limit int) overlap.Input {
	in := overlap.Input{Lock: history.Lock{Path: "/a", Limit: limit}, From: 1, To: 1 << 40, LimitKnown: true}
	if r.IntN(4) == 0 {
		in.From = int64(1 + r.IntN(8))
	}
	if r.IntN(4) == 0 {
		in.To = in.From + 6 + int64(r.IntN(20))
	}
	for _, one := range all {
		one.rec.Czxid, one.node.Token = one.node.Czxid, one.node.Czxid
		in.Records = append(in.Records, one.rec)
		if one.node.Ended.Zxid < in.From || one.node.Czxid > in.To {
			continue
		}
		if one.node.Ended.Zxid > in.To {
			one.node.Ended, one.node.How = txnlog.Moment{}, ""
		}
		if one.node.Czxid < in.From {
			one.node.LetIn, one.node.LetInEarlier = txnlog.Moment{}, true
		}
		in.Lock.Contenders = append(in.Lock.Contenders, one.node)
	}
	return in
}

// judged is the verdict on invented holds, and whether it is the truth.
func judged(seed uint64) (verdict overlap.Verdict, truly bool, text func() string) {
	all, limit := invent(rand.New(rand.NewPCG(seed, 1)))
	r := rand.New(rand.NewPCG(seed, 2))
	closeSome(r, all)
	in := inputOf(r, all, limit)
	result := overlap.Judge(in)
	text = func() string {
		var text strings.Builder
		text.WriteString(overlap.Text([]overlap.Result{result}, nil))
		for _, one := range all {
			_, _ = fmt.Fprintf(&text, "%s %s: held %d to %d, node %d to %d %s, process %d, record %+v\n", one.node.Node, one.node.Kind,
				one.from, one.to, one.node.Czxid, one.node.Ended.Zxid, one.node.How, one.process, one.rec)
		}
		return text.String()
	}
	return result.Verdict, conflict(all, limit), text
}

// wronglyApart are seeds of which a hold in turn with the one before it had silenced a third one, which began earlier.
var wronglyApart = []uint64{5808, 24527, 120790, 138023, 151385}

func TestNoVerdictIsWrongOfInventedHolds(t *testing.T) {
	type outcome struct {
		verdict overlap.Verdict
		truly   bool
	}
	seen := map[outcome]int{}
	seeds := slices.Clone(wronglyApart)
	for seed := range uint64(10_000) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		verdict, truly, text := judged(seed)
		seen[outcome{verdict, truly}]++
		if truly && verdict == overlap.Apart || !truly && verdict == overlap.Overlapped {
			t.Fatalf("seed %d: got %q, holds overlapped: %t\n%s", seed, verdict, truly, text())
		}
	}
	t.Log(seen)
	for _, o := range []outcome{{overlap.Apart, false}, {overlap.Overlapped, true}, {overlap.Unknown, true}, {overlap.Unknown, false}} {
		if seen[o] < 30 {
			t.Errorf("only %d of %+v: the test judges too little", seen[o], o)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, seed := range append(wronglyApart, 1) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		if verdict, truly, text := judged(seed); truly && verdict == overlap.Apart || !truly && verdict == overlap.Overlapped {
			t.Errorf("got %q, holds overlapped: %t\n%s", verdict, truly, text())
		}
	})
}

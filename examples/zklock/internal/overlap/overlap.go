// Package overlap lays records of holds, as the clients have written them, over what the servers have executed, and
// says of each pair of holds that exclude each other whether they overlapped.
//
// Order is decided by transactions, never by comparing the clocks of two processes. Of each hold there are four bounds:
// it began after the newest transaction that its client had seen then, or whose effect let it in, and before its node
// was deleted; it ended after the newest transaction that its client had seen by then and, if it was released, before
// its client's own deletion of the node. A hold that was lost has no such deletion. It ended before the node of a later
// hold of the same process was deleted, since the one clock of the process has the order of both; else it has no later
// bound: whether its client noticed in time is not in any log. Then the answer is that the records cannot tell, with
// what the clocks say.
//
// That a hold begins while its node is there is taken for granted: clients check it when they are let in. So is that a
// retained node which its client released had no hold after the last one recorded: a recorder that is closed counts
// what it lacks. Everything else, above all when holds end, is judged by what was recorded, as far as the logs go.
//
// # What stays undecided
//
// The transaction that a client had seen when it noticed a loss says nothing of its lease's end, which was earlier. Nor
// do times of the servers and durations of the client together: leaders' clocks are set while they run. That the
// servers let the next one in no sooner than the lease had ended is what is to be proved.
//
// A record names one node whose end let its hold in, the last that it waited for. A writer that waited for several
// readers, and the holder of a retained node that another contender of its client waited for, can have heard of more
// ends by watch events, which carry no zxid before ZooKeeper 3.9. So some of their pairs are undecided. To name all
// these nodes in locks.AcquireEnd, each contender would have to keep the view that admitted it, in every acquire.
package overlap

import (
	"fmt"
	"math"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// A Verdict says of two or more holds whether they overlapped.
type Verdict string

// The verdicts.
const (
	Apart      Verdict = "did not overlap"
	Overlapped Verdict = "overlapped"
	Unknown    Verdict = "cannot tell"
)

// An Input is what is known of one lock.
type Input struct {
	Lock history.Lock
	// From and To are the oldest and the newest transaction of the logs. Records of older and of newer nodes are not
	// judged, but counted: that is a finding.
	From, To int64
	// LimitKnown says that Lock.Limit is the semaphore's limit. What was held together says nothing of overlaps.
	LimitKnown bool
	Records    []records.Record
}

// A Result is what the records of one lock say.
type Result struct {
	Path    string  `json:"path"`
	Verdict Verdict `json:"verdict"` // the worst: overlapped, then cannot tell
	Holds   int     `json:"holds"`   // that were recorded, and have their node in the logs
	Outside int     `json:"outside"` // records of nodes that are older or newer than the logs
	// MayOverlap is history.Lock's.
	MayOverlap []string  `json:"may_overlap,omitempty"`
	Groups     []Group   `json:"groups"` // that overlapped or may have, at most mostListed of each
	Findings   []Finding `json:"findings"`
	// Overlaps, Unclear and Found count all groups and findings, also those that are not listed; groups until Overlaps
	// is mostCounted.
	Overlaps int `json:"overlaps"`
	Unclear  int `json:"unclear"`
	Found    int `json:"found"`
}

// mostListed bounds the lists of a Result.
const mostListed = 100

// A Group is two holds that exclude each other or, of a semaphore, one more than its limit.
type Group struct {
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
	Holds   []Hold  `json:"holds"`
}

// A Hold is a record laid over its node. Zxids are 0 where there is no bound.
type Hold struct {
	records.Record
	Who string `json:"who,omitempty"`
	// It began after Bounds[0] and before Bounds[1], and ended after Bounds[2] and before Bounds[3].
	Bounds [4]int64 `json:"bounds"`

	kind    survey.Kind
	token   int64
	unclear bool // it was reported that its end is not known
}

// A Finding is something of a record or a node that should not be.
type Finding struct {
	What    string    `json:"what"`
	Node    string    `json:"node"`
	Process string    `json:"process,omitempty"`
	Time    time.Time `json:"time,omitzero"` // by the client's clock, or the servers' if there is no record
}

// never is later than all transactions.
const never = math.MaxInt64

func (h *Hold) beganAfter() int64  { return h.Bounds[0] }
func (h *Hold) beganBefore() int64 { return later(h.Bounds[1]) }
func (h *Hold) endedAfter() int64  { return h.Bounds[2] }
func (h *Hold) endedBefore() int64 { return later(h.Bounds[3]) }

// later is an upper bound as it is compared.
func later(zxid int64) int64 {
	if zxid == 0 {
		return never
	}
	return zxid
}

// Judge says whether the holds of a lock overlapped. It takes memory for the records, and time that is little more than
// proportional to their number unless many overlap. That is bounded: what is then left out is not called apart.
func Judge(in Input) Result {
	j := judge{mostCompared: mostCompared, Result: Result{
		Path: in.Lock.Path, Verdict: Apart, MayOverlap: in.Lock.MayOverlap, Groups: []Group{}, Findings: []Finding{},
	}}
	byKind := j.lay(in)
	j.exclude(byKind[history.Exclusion])
	j.exclude(byKind[history.Latches])
	j.count(byKind[history.Leases], in.Lock.Limit, in.LimitKnown)
	switch {
	case j.Overlaps > 0:
		j.Verdict = Overlapped
	case j.Unclear > 0 || j.Found > 0 || j.Holds == 0:
		j.Verdict = Unknown
	}
	return j.Result
}

type judge struct {
	Result
	older, newer outside
	// compared is how many pairs were compared, of about mostCompared.
	compared, mostCompared int
}

func (j *judge) find(f Finding) {
	if year := f.Time.Year(); year < 0 || year > 9999 { // no JSON has them
		f.Time = time.Time{}
	}
	if j.Found++; len(j.Findings) < mostListed {
		j.Findings = append(j.Findings, f)
	}
}

// outside are records of nodes that are not in the logs.
type outside struct {
	count int
	first *records.Record
}

func (o *outside) add(rec *records.Record) {
	if o.count++; o.first == nil {
		o.first = rec
	}
}

// findOutside finds that holds could not be judged.
func (j *judge) findOutside() {
	for _, o := range []struct {
		outside
		what string
	}{
		{j.older, "%d recorded holds have nodes that are older than the logs, which do not show when these holds ended; the first"},
		{j.newer, "%d recorded holds have nodes that are newer than the logs, which do not show whether these overlapped; the first"},
	} {
		if o.count > 0 {
			j.Outside += o.count
			j.find(Finding{fmt.Sprintf(o.what, o.count), o.first.Node, o.first.Process, o.first.Begin.Time})
		}
	}
}

func (j *judge) report(verdict Verdict, why func() string, holds ...*Hold) {
	listed := &j.Unclear
	if verdict == Overlapped {
		listed = &j.Overlaps
	}
	if *listed++; *listed > mostListed {
		return
	}
	g := Group{Verdict: verdict, Why: why()}
	for _, h := range holds {
		g.Holds = append(g.Holds, *h)
	}
	j.Groups = append(j.Groups, g)
}

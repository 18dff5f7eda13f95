package history

import (
	"iter"
	"path"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
)

// Options say what a History is to have.
type Options struct {
	// From and To bound it: a contender that ended before From, or came after To, is left out. Zero is no bound.
	From, To time.Time
	// Most is how many contenders that have ended are kept, the newest; 0 for all.
	Most int
	// Limit is that of the semaphores; 0 if it is not known.
	Limit int
	// Begin is the first transaction of the logs. Contenders that were created before it are known from a snapshot.
	Begin txnlog.Moment
}

// Of builds a history from transactions in the order of their execution. Nodes that are older than Options.Begin come
// first, as txnlog.Log.Transactions gives them.
func Of(root string, all iter.Seq[zktest.Transaction], o Options) *History {
	b := &builder{o: o, root: root, lines: map[lineKey]*line{}, mixed: map[string]mixture{}, there: map[string]*contender{}}
	for t := range all {
		b.add(t)
	}
	return b.history()
}

// A builder replays transactions.
type builder struct {
	o     Options
	root  string
	lines map[lineKey]*line
	mixed map[string]mixture    // by directory, of queues that are gone
	there map[string]*contender // by path
	ended []*contender          // in this order
	// undated are those that ended in a gap of the logs, since the newest transaction whose time is known.
	undated []*contender
	last    txnlog.Moment
	first   txnlog.Moment
	begun   bool // the nodes that are older than the logs are in
	omit    int
}

// A lineKey is a directory and what queues there: nodes of other families do not count for each other.
type lineKey struct {
	dir    string
	family Family
}

// A contender is a Contender in the making. Gate and ranks are a lease's.
type contender struct {
	Contender
	line   *line
	number int64

	batch  *batch // the leases of its acquire; a place at the gate has one when there are leases
	leased bool   // it stands at the gate of a semaphore, and has become a lease
	ranks  []rank // a lease's, until it counts for sure
	older  bool   // a lease that is older than the logs, and counts
	atGate bool   // a lease that went before the place at the gate
}

func (b *builder) add(t zktest.Transaction) {
	now := txnlog.Moment{Zxid: t.Zxid, At: t.At}
	if !b.begun && t.Zxid >= b.o.Begin.Zxid && !t.At.IsZero() {
		b.begin()
	}
	if !t.At.IsZero() {
		b.keepUndated(now)
	}
	for _, c := range t.Changes {
		switch c.Kind {
		case zktest.Created:
			b.create(t, c, now)
		case zktest.Deleted:
			if one := b.there[c.Path]; one != nil {
				b.end(one, t, now)
			}
		case zktest.DataSet:
			if one := b.there[c.Path]; one != nil && string(c.Data) == revoke {
				one.AskedToLeave = now
			}
		default:
		}
	}
	if t.At.IsZero() { // known from what came later: nothing is known of the time
		return
	}
	b.last = now
	if b.first == (txnlog.Moment{}) {
		b.first = now
	}
}

// revoke is the data by which a contender is asked to leave.
const revoke = "__REVOKE__"

func (b *builder) create(t zktest.Transaction, c zktest.Change, now txnlog.Moment) {
	dir, name := path.Split(c.Path)
	dir = path.Clean(dir)
	parsed, ok := survey.ParseName(name)
	if !ok {
		if name == leaseDirectory { // a semaphore's gate is one before the first lease is there
			b.line(c.Path, Leases)
		}
		return
	}
	if old := b.there[c.Path]; old != nil { // its deletion is in no log
		b.end(old, zktest.Transaction{Zxid: t.Zxid}, now)
	}
	one := &contender{
		Contender: Contender{Path: c.Path, Node: name, Kind: parsed.Kind, By: parsed.By, Session: c.Owner, Who: survey.Cut(survey.Text(c.Data), mostWho)},
		line:      b.line(dir, FamilyOf(parsed.Kind)), number: parsed.Number,
	}
	one.AskedEarlier = !b.begun && string(c.Data) == revoke
	if !t.At.IsZero() {
		one.Queued, one.Czxid, one.Token = now, t.Zxid, t.Zxid
	}
	b.there[c.Path] = one
	if one.line.family == Leases {
		b.takeFromGate(one)
	}
	one.line.enter(one, now, b.begun)
}

// mostWho is how much of a node's data is kept, in characters.
const mostWho = 200

func (b *builder) line(dir string, f Family) *line {
	key := lineKey{dir, f}
	l := b.lines[key]
	if l == nil {
		l = &line{dir: dir, family: f}
		b.lines[key] = l
	}
	return l
}

// begin lets in what stands first when the logs begin.
func (b *builder) begin() {
	b.begun = true
	for _, l := range b.lines {
		if n := len(l.queue); n > 0 && l.family == Leases && l.queue[n-1].batch == nil {
			b.takeUnknownGate(l.queue[n-1])
		}
	}
	for _, l := range b.lines {
		l.begin()
	}
	b.last = b.o.Begin
}

func (b *builder) history() *History {
	if !b.begun {
		b.begin()
	}
	b.keepUndated(b.last)
	kept := b.ended
	if cut := len(kept) - b.o.Most; b.o.Most > 0 && cut > 0 {
		kept, b.omit = kept[cut:], b.omit+cut
	}
	for _, one := range b.there {
		if !one.leased && (b.o.To.IsZero() || !one.Queued.At.After(b.o.To)) {
			kept = append(kept, one)
		}
	}
	return &History{Path: b.root, From: b.first, To: b.last, Omitted: b.omit, Locks: b.sort(kept)}
}

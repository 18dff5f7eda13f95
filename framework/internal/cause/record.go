package cause

// most bounds a record. A ring and the records of a lost term and its session together have at most 16 KB.
const most = 112

// A Record is what a judgement needs of a ring, as it was.
type Record struct {
	Events  []Event // the oldest first
	Servers [servers + 1]string
	Trying  Trying
	Cut     bool // events before these would count, and are not there
}

// Record copies the events before a mark that count for a loss, as far as the ring still has them: those from
// [Loss.Since] on, and before those the newest that says how the connection stood then.
func (r *Ring) Record(mark uint64, l *Loss) Record {
	rec := Record{Servers: r.names, Trying: r.trying}
	mark = min(mark, r.count)
	oldest := max(r.count, size) - size
	if oldest >= mark {
		rec.Cut = oldest > 0
		return rec
	}
	from, first := l.Since(), mark
	for i := mark; i > oldest; i-- {
		if r.events[(i-1)%size].At >= from {
			first = i - 1
		}
	}
	stood := false
	for first > oldest && !stood {
		first--
		stood = r.events[first%size].Kind.stands()
	}
	rec.Cut = oldest > 0 && !stood
	if mark-first > most {
		first, rec.Cut = mark-most, true
	}
	rec.Events = make([]Event, 0, mark-first)
	for i := first; i < mark; i++ {
		rec.Events = append(rec.Events, r.events[i%size])
	}
	return rec
}

// unseen is how much of the time of a loss went before the oldest event, and is not known.
func (r *Record) unseen(l *Loss) int64 {
	switch {
	case !r.Cut:
		return 0
	case len(r.Events) == 0:
		return max(0, l.At-l.From)
	default:
		return max(0, min(r.Events[0].At, l.At)-l.From)
	}
}

// Since is from when on events count, and are evidence.
func (l *Loss) Since() int64 { return min(l.From, l.At) - l.Timeout/4 }

// stands reports whether an event of the kind says how the connection stands after it.
func (k Kind) stands() bool {
	return k != Failed && k != Late && k != Ended
}

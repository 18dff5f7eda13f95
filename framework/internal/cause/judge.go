package cause

import (
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// A Loss is the end of leases, or of a session.
type Loss struct {
	How     How
	At      int64 // when it was noticed
	From    int64 // when the servers last heard from the session, by what leases, or the session, go by
	Until   int64 // when the time was up
	Timeout int64 // the session's
	Heard   bool  // since the pending renewal was sent, its server has answered something else
	Code    Code  // why the connection ended; for Disconnected alone
	// Valid says that leases were valid when a server ended the session.
	Valid bool
	// Throttled, unless it is nil, is asked about a time in which the process did not run: for how long its cgroup was
	// throttled, summed over the processors, in a span around that; false if that is not known.
	Throttled func(from, to int64) (throttled, span int64, known bool)
}

// mention is the shortest throttling that is worth a word.
const mention = int64(100 * time.Millisecond)

// How much of a session timeout must be spent on something before it is named, and how much accounts for a loss by
// itself: leases last at least half of it without a renewal.
const (
	noticeable = 8
	enough     = 2
)

// Judge says why something ended.
func Judge(r Record, l Loss) session.Explanation {
	kind, sentence := judge(&r, &l)
	return session.Explanation{Kind: kind, Sentence: sentence, Evidence: evidence(&r, &l)}
}

func judge(r *Record, l *Loss) (session.LossKind, string) {
	switch {
	case l.How == ClientClosed:
		return session.LossClientClosed, "this client was closed"
	case l.How == AuthRefused:
		return session.LossAuthRefused, r.newest(Failed) + " refused this client's authentication"
	case l.How == Disconnected:
		return session.LossConnectionLost, fmt.Sprintf("the connection to %s was lost: %v", r.newest(Attached), l.Code)
	case l.How == Expired && l.Valid && l.At < l.Until:
		return session.LossSessionEnded, "the servers ended the session, which was valid: an administrator or a restored snapshot does that"
	}
	t := measure(r, l)
	kind, sentence := t.verdict(r, l)
	if kind == session.LossUnknown && l.How == Expired {
		return session.LossSessionEnded, "the servers ended the session: " + sentence
	}
	return kind, sentence
}

// verdict names what the time was spent on.
func (t *tally) verdict(r *Record, l *Loss) (session.LossKind, string) {
	cut := t.unanswered + t.apart + t.late
	stopped := t.stopped >= l.Timeout/noticeable
	switch {
	case t.stopped >= l.Timeout/enough, stopped && t.before < l.Timeout/noticeable/2:
		if t.suspended > t.stopped/2 {
			return session.LossMachineSuspended, "the machine was suspended for " + about(t.slept)
		}
		return session.LossProcessStopped, "this process did not run for at least " + about(t.stood) + t.throttling(l)
	case stopped && cut >= l.Timeout/noticeable:
		_, other := t.network(r, l)
		return session.LossUnknown, fmt.Sprintf("not certain: this process did not run for at least %s, and %s", about(t.stood), other)
	case cut < l.Timeout/noticeable:
		return session.LossUnknown, "no cause was seen"
	}
	return t.network(r, l)
}

// throttling says how far a CPU quota explains that the process did not run.
func (t *tally) throttling(l *Loss) string {
	if l.Throttled == nil || len(t.stops) == 0 {
		return ""
	}
	throttled, span, known := l.Throttled(t.stops[0].from, t.stops[len(t.stops)-1].to)
	if !known || throttled < mention {
		return ""
	}
	return fmt.Sprintf("; its cgroup was throttled for %s in the %s around that, all processors together", about(throttled), about(span))
}

// network names what kept a process that ran from the servers. A server that falls silent before others are not reached
// may as well have been cut off with them: that time goes with the time without a connection.
func (t *tally) network(r *Record, l *Loss) (session.LossKind, string) {
	cut := t.unanswered + t.apart + t.late
	apart := t.apart
	if t.apart >= l.Timeout/noticeable/2 {
		apart += t.unanswered
	}
	switch most := cut * 3 / 5; {
	case t.apart > 0 && apart >= most:
		return t.attempts.verdict(r, l, t)
	case t.late >= most:
		return session.LossAnsweredLate, t.lateness(r)
	case t.unanswered >= most:
		return session.LossNotAnswered, fmt.Sprintf("%s stopped answering %s before", r.Servers[t.silent], about(l.At-t.since))
	}
	_, other := t.attempts.verdict(r, l, t)
	return session.LossUnknown, fmt.Sprintf("not certain: %s, and %s", t.lateness(r), other)
}

func (t *tally) lateness(r *Record) string {
	if t.took > 0 {
		return "renewals were answered only after " + about(t.took)
	}
	return fmt.Sprintf("%s answered, but no renewal within %s", r.Servers[t.silent], about(t.pending))
}

// newest is the server of the newest event of a kind.
func (r *Record) newest(kind Kind) string {
	for _, e := range slices.Backward(r.Events) {
		if e.Kind == kind {
			return r.Servers[e.Server%(servers+1)]
		}
	}
	return "the server"
}

// about prints a duration for people.
func about(ns int64) string {
	d := time.Duration(ns)
	if d >= time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

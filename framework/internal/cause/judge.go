package cause

import (
	"fmt"
	"slices"
	"strings"
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

// What part of a session timeout must be spent on something before it is named, and what part is worth a word beside
// others.
const (
	noticeable = 8
	worth      = 64
)

// looks is how often a session's clock looks in a session timeout, at least.
const looks = 16

// Look is how far apart the looks of a session's clock are, at most. A process that stops just after one is late from
// the next one on, wherever that is: so what may be due far later says nothing of when it stopped.
func Look(timeout time.Duration) time.Duration { return timeout / looks }

// Judge says why something ended.
func Judge(r Record, l Loss) session.Explanation {
	kind, sentence := judge(&r, &l)
	return session.Explanation{Kind: kind, Sentence: sentence, Evidence: evidence(&r, &l)}
}

func judge(r *Record, l *Loss) (session.LossKind, string) {
	switch l.How {
	case ClientClosed:
		return session.LossClientClosed, "this client was closed"
	case AuthRefused:
		return session.LossAuthRefused, r.newest(Failed) + " refused this client's authentication"
	default:
		return measure(r, l).verdict()
	}
}

// A tally is what the time of a loss was spent on: all of it, and what has not healed since.
type tally struct {
	*Record
	*Loss
	all, fresh      *sum
	stops, unhealed []pause // in which the process did not run
	usual           int64   // how long renewals took
	noticed         bool    // process did not run for a noticeable time before the loss
}

// measure cuts the time into pieces, takes out what the process did not see, and adds up.
func measure(r *Record, l *Loss) *tally {
	w := look(r, l)
	t := &tally{Record: r, Loss: l, usual: w.usual}
	var out int64
	for _, p := range pauses(r) {
		in := p.in(stretch{l.From, l.At})
		if in <= 0 {
			continue
		}
		t.stops = append(t.stops, p)
		out += in
		if p.to > w.healed {
			t.unhealed = append(t.unhealed, p)
		}
	}
	t.noticed = out >= max(1, l.Timeout/noticeable)
	pieces := pausing(w.pieces, t.stops, l.Timeout/looks)
	t.all, t.fresh = sumSince(l.From, r, l, pieces, w.tried), sumSince(w.healed, r, l, pieces, w.tried)
	return t
}

// verdict names what the time was spent on.
func (t *tally) verdict() (session.LossKind, string) {
	valid := t.How == Expired && t.Valid && t.At < t.Until
	switch {
	case t.How == Disconnected:
		return session.LossConnectionLost, t.disconnected()
	case valid && !t.noticed:
		return session.LossSessionEnded, "the servers ended the session, which was valid by this client's clock"
	case valid:
		return session.LossUnknown, "not certain: the servers ended the session, which was valid by this client's clock, and " + t.stopped()
	case t.unseen(t.Loss) >= t.all.least:
		return session.LossUnknown, fmt.Sprintf("not certain: of the first %s nothing is recorded any more", about(t.unseen(t.Loss)))
	case t.all.all() < t.all.least && !t.noticed:
		if t.How == Expired {
			return session.LossSessionEnded, "the servers ended the session: no cause was seen"
		}
		return session.LossUnknown, "no cause was seen"
	}
	if kind, sentence := t.named(); kind != session.LossUnknown {
		return kind, sentence
	}
	if parts := t.parts(); len(parts) > 0 {
		return session.LossUnknown, "not certain: " + strings.Join(parts, ", and ")
	}
	return session.LossUnknown, "no cause was seen"
}

// named names what has three fifths of the time, of all and of what has not healed, unless others may have been it.
func (t *tally) named() (session.LossKind, string) {
	most, alone := t.fresh.most()
	if before, now := t.all.most(); !alone || !now || before != most {
		return session.LossUnknown, ""
	}
	if most == stopped {
		return t.pause()
	}
	switch {
	case t.fresh.of[stopped] >= t.all.least:
	case most != slow && t.fresh.again >= t.Timeout/5:
		// A server that takes the session has a leader, and a busy one may answer no ping for a while: servers that do
		// so one after the other may as well be slow.
	case most == silent:
		return session.LossNotAnswered, t.fresh.silent(t.Record)
	case most == slow:
		return session.LossAnsweredLate, t.fresh.lateness(t.Record)
	case most == apart:
		return t.fresh.away(t.Record)
	}
	return session.LossUnknown, ""
}

// pause names a stop, unless answers were missing beside it, or are missing after it for longer than they take.
func (t *tally) pause() (session.LossKind, string) {
	beside, after := t.fresh.beside()
	if beside >= t.all.least/2 || after > 2*t.usual {
		return session.LossUnknown, ""
	}
	if slept := slept(t.unhealed); slept > stood(t.unhealed)/2 {
		return session.LossMachineSuspended, "the machine was suspended for " + about(slept)
	}
	return session.LossProcessStopped, "this process did not run for at least " + about(stood(t.unhealed)) + t.throttling()
}

// disconnected says how a connection was lost. A process that did not run leaves answers unread, and then closes it.
func (t *tally) disconnected() string {
	lost := fmt.Sprintf("the connection to %s was lost: %v", t.newest(Detached), t.Code)
	switch t.Code {
	case Silent, NotRenewed, Overdue:
		if t.noticed && len(t.unhealed) > 0 {
			return lost + ", but this process did not run for at least " + about(stood(t.unhealed))
		}
	default:
	}
	return lost
}

func (t *tally) stopped() string {
	return "this process did not run for at least " + about(stood(t.stops))
}

// parts are what the time was shared by.
func (t *tally) parts() (parts []string) {
	of := &t.all.of
	if t.noticed {
		parts = append(parts, t.stopped())
	}
	if of[perhaps] >= t.all.least {
		parts = append(parts, "this process may not have run for "+about(of[perhaps]))
	}
	if of[slow] >= t.all.worth {
		parts = append(parts, t.all.lateness(t.Record))
	}
	if of[silent] >= t.all.worth {
		parts = append(parts, t.all.silent(t.Record))
	}
	if of[apart] >= t.all.worth {
		_, _, part := t.all.tries.verdict(of[apart])
		parts = append(parts, part)
	}
	return parts
}

func stood(stops []pause) (d int64) {
	for _, p := range stops {
		d += p.to - p.from
	}
	return d
}

func slept(stops []pause) (d int64) {
	for _, p := range stops {
		d += p.slept
	}
	return d
}

// throttling says how far a CPU quota explains that the process did not run.
func (t *tally) throttling() string {
	if t.Throttled == nil || len(t.unhealed) == 0 {
		return ""
	}
	throttled, span, known := t.Throttled(t.unhealed[0].from, t.unhealed[len(t.unhealed)-1].to)
	if !known || throttled < mention {
		return ""
	}
	return fmt.Sprintf("; its cgroup was throttled for %s in the %s around that, all processors together", about(throttled), about(span))
}

// server is the name of a server.
func (r *Record) server(index uint8) string { return r.Servers[index%(servers+1)] }

// newest is the server of the newest event of a kind.
func (r *Record) newest(kind Kind) string {
	for _, e := range slices.Backward(r.Events) {
		if e.Kind == kind {
			return r.server(e.Server)
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

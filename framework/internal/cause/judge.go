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
		return session.LossConnectionLost, fmt.Sprintf("the connection to %s was lost: %v", r.newest(Detached), l.Code)
	case l.How == Expired && l.Valid && l.At < l.Until:
		return session.LossSessionEnded, "the servers ended the session, which was valid by this client's clock"
	case r.unseen(l) >= l.Timeout/noticeable:
		return session.LossUnknown, fmt.Sprintf("not certain: of the first %s nothing is recorded any more", about(r.unseen(l)))
	}
	kind, sentence, seen := measure(r, l).verdict(r, l)
	if !seen && l.How == Expired {
		return session.LossSessionEnded, "the servers ended the session: " + sentence
	}
	return kind, sentence
}

// verdict names what the time was spent on. It names nothing that others share the time with. What has healed is not
// named, but may leave what has not uncertain.
func (t *tally) verdict(r *Record, l *Loss) (kind session.LossKind, sentence string, seen bool) {
	least := l.Timeout / noticeable
	stopped := t.fresh.stopped >= least
	cut := t.fresh.cut()
	switch {
	case stopped && max(t.before, t.after) < least/2 && t.fresh.stopped >= (t.fresh.stopped+t.fresh.hidden+cut)/5*3:
		if t.fresh.suspended > t.fresh.stopped/2 {
			return session.LossMachineSuspended, "the machine was suspended for " + about(slept(t.unhealed)), true
		}
		return session.LossProcessStopped, "this process did not run for at least " + about(stood(t.unhealed)) + t.throttling(l), true
	case cut < least && t.all.stopped < least:
		return session.LossUnknown, "no cause was seen", false
	case cut >= least && !stopped && !t.doubtful:
		if most := t.fresh.most(); most != troubles && t.all.most() == most && (most == late || !t.retaken) {
			if kind, sentence = t.network(r, l, most); kind != session.LossUnknown {
				return kind, sentence, true
			}
		}
	}
	return session.LossUnknown, "not certain: " + strings.Join(t.parts(r, l), ", and "), true
}

// parts are what the time was shared by.
func (t *tally) parts(r *Record, l *Loss) (parts []string) {
	if t.all.stopped >= l.Timeout/noticeable {
		parts = append(parts, "this process did not run for at least "+about(stood(t.stops)))
	}
	if t.all.of[late] >= l.Timeout/worth {
		parts = append(parts, t.lateness(r))
	}
	if d := t.all.of[unanswered]; d >= l.Timeout/worth {
		parts = append(parts, "a server answered nothing for "+about(d))
	}
	if d := t.all.of[apart]; d >= l.Timeout/worth {
		_, part := t.tried.verdict(r, "", d)
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
func (t *tally) throttling(l *Loss) string {
	if l.Throttled == nil || len(t.unhealed) == 0 {
		return ""
	}
	throttled, span, known := l.Throttled(t.unhealed[0].from, t.unhealed[len(t.unhealed)-1].to)
	if !known || throttled < mention {
		return ""
	}
	return fmt.Sprintf("; its cgroup was throttled for %s in the %s around that, all processors together", about(throttled), about(span))
}

// network says what kept a process that ran from the servers.
func (t *tally) network(r *Record, l *Loss, most trouble) (session.LossKind, string) {
	switch most {
	case late:
		return session.LossAnsweredLate, t.lateness(r)
	case unanswered:
		return session.LossNotAnswered, fmt.Sprintf("%s stopped answering %s before", r.server(t.silent), about(l.At-t.since[unanswered]))
	}
	silent := ""
	if t.fresh.led > 0 {
		silent = r.server(t.leader)
	}
	return t.triedSince.verdict(r, silent, l.At-t.since[apart])
}

func (t *tally) lateness(r *Record) string {
	if t.took > 0 {
		return "renewals were answered only after " + about(t.took)
	}
	return fmt.Sprintf("%s answered, but no renewal within %s", r.server(t.silent), about(t.longest()))
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

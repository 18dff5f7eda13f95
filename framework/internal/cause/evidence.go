package cause

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// lines bounds the evidence: the events nearest to the loss.
const lines = 32

// evidence prints the events of the last session timeouts before a loss.
func evidence(r *Record, l *Loss) []string {
	from := l.Since()
	var all []string
	for _, e := range r.Events {
		if e.At < from && e.A < from || e.At > l.At {
			continue
		}
		if text := r.text(e, l); text != "" {
			all = append(all, ago(l.At-e.At)+text)
		}
	}
	if a := r.Trying; a.Active && a.Since <= l.At {
		all = append(all, fmt.Sprintf("%san attempt to connect to %s began: %s", ago(l.At-a.Since), r.Servers[a.Server%(servers+1)], stageTexts[a.Stage%(Authenticating+1)]))
	}
	return all[max(0, len(all)-lines):]
}

var stageTexts = [...]string{"dialing", "waiting for the answer to the handshake", "authenticating"}

// ago is a time before the loss, in milliseconds.
func ago(ns int64) string {
	return fmt.Sprintf("-%.3fs ", time.Duration(max(0, ns)).Seconds())
}

func (r *Record) text(e Event, l *Loss) string {
	server := r.Servers[e.Server%(servers+1)]
	took := about(e.A)
	switch e.Kind {
	case Began:
		return "a session began"
	case Attached:
		return fmt.Sprintf("%s took the session after %s", server, took)
	case Renewed:
		return fmt.Sprintf("a renewal was sent to %s", server)
	case Answered:
		return fmt.Sprintf("%s answered the renewal after %s", server, took)
	case GaveUp:
		if e.N != 0 {
			return fmt.Sprintf("%s had answered something else after the renewal, and then nothing for %s: left", server, took)
		}
		return fmt.Sprintf("%s had answered nothing since the renewal: left", server)
	case Detached:
		if e.N != 0 {
			return fmt.Sprintf("the connection to %s ended, which had answered something else after the renewal, and then nothing for %s: %v",
				server, took, e.Code)
		}
		return fmt.Sprintf("the connection to %s ended: %v", server, e.Code)
	case Failed:
		if e.Times > 1 {
			return fmt.Sprintf("%s attempts to connect to %s failed in %s, the last at %s: %v", times(e.Times), server, about(e.lasted()),
				strings.TrimSpace(ago(l.At-e.A)), e.Code)
		}
		return fmt.Sprintf("an attempt to connect to %s failed: %v", server, e.Code)
	case Late:
		if e.N > 0 {
			return fmt.Sprintf("a timer ran %s late, after a suspension of %s", took, about(e.slept()))
		}
		return fmt.Sprintf("a timer ran %s late", took)
	case Ended:
		return endTexts[How(e.A)%(AuthRefused+1)]
	default:
		return ""
	}
}

func times(n uint8) string {
	if n == math.MaxUint8 {
		return "255 or more"
	}
	return strconv.Itoa(int(n))
}

var endTexts = [AuthRefused + 1]string{
	"leases ended: no renewal was answered in time", "the session was over: no answer for the session timeout",
	"a server said that the session is over", "leases ended with the connection", "the client was closed", "authentication was refused",
}

package cause

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// longestPause is how long the client waits between attempts, at most.
const longestPause = int64(time.Second)

// A try is what attempts at a server that ended alike come to.
type try struct {
	server uint8
	code   Code
	newest int64 // when the newest ended
	time   int64 // how long they lasted, each with the pause before it
	extent int64 // how long it is from the first to the newest
}

// A reach is how far attempts got.
type reach uint8

const (
	away    reach = iota // no connection
	hungUp               // the server closes it on the handshake
	mute                 // it answers no handshake
	refused              // it refuses the client's authentication
	barred               // it answers the handshake, and the session is not taken for another reason
	reaches              // how many there are
)

// reachOf is what an attempt came to that failed so. The other codes stand for no connection.
var reachOf = map[Code]reach{HungUp: hungUp, Silent: mute, Auth: refused, SASL: barred, NoChroot: barred}

// outcomes are the servers, by how far attempts at them got.
type outcomes struct {
	at      [reaches][]string
	lasted  [reaches]int64
	reached int64 // how long attempts lasted that had a connection
	mixed   bool  // attempts at a server ended in several ways, or for a part of the time alone
}

// outcomesOf goes by how long attempts at each server lasted that ended alike. Those that reached it count from the
// first to the newest, since most of the time goes with servers that are not reached.
func outcomesOf(r *Record, tries []try, apart int64) (o outcomes) {
	var by [servers + 1][reaches]try
	var all [servers + 1]int64
	var longest [servers + 1]try
	for _, t := range tries {
		to, server := reachOf[t.code], t.server%(servers+1)
		sum := &by[server][to]
		sum.time, sum.extent = sum.time+max(1, t.time), sum.extent+t.extent
		all[server] += max(1, t.time)
		if to != away {
			o.reached += t.time
		} else if t.time >= longest[server].time {
			longest[server] = t
		}
	}
	for i, name := range r.Servers {
		for to, t := range by[i] {
			switch {
			case t.time == 0 || t.time < enough(all[i]):
				o.mixed = o.mixed || t.time > all[i]-enough(all[i]) && all[i] >= apart/5
				continue
			case reach(to) == away:
				name, t.extent = fmt.Sprintf("%s (%v)", name, longest[i].code), t.time
			}
			o.at[to] = append(o.at[to], name)
			o.lasted[to] = min(o.lasted[to]+t.extent, apart)
		}
	}
	for to := range o.at {
		slices.Sort(o.at[to])
		switch lasted := o.spans(reach(to), apart); {
		case reach(to) == away || lasted >= enough(apart):
		case lasted < apart/5: // a moment, beside what went on
			o.at[to] = nil
		default:
			o.mixed = o.mixed || len(o.at[to]) > 0
		}
	}
	return o
}

// spans is what part of the time is taken for how far attempts got. Those at a server that was reached stand until its
// next turn, which comes after the others had theirs: pauses grow by three tenths each, so with three servers the next
// gap is longer than all before it, but for a second each at most.
func (o *outcomes) spans(to reach, apart int64) int64 {
	lasted := o.lasted[to]
	if to != away {
		lasted += min(lasted*5/4, 3*longestPause)
	}
	return min(apart, lasted)
}

// enough is what part of a time something must have lasted that is named for it.
func enough(all int64) int64 { return all - all/5*2 }

// verdict says what kept the client without a connection for a time. Servers that it reached say more than those that
// it did not: a server that crashes leaves the others without a leader.
func (o *outcomes) verdict(apart int64) (kind session.LossKind, lasted int64, sentence string) {
	kind, lasted = session.LossNotReached, o.lasted[away]
	said := 0
	var parts []string
	part := func(to reach, as session.LossKind, format string) {
		if len(o.at[to]) > 0 {
			parts = append(parts, fmt.Sprintf(format, strings.Join(o.at[to], ", "), about(o.lasted[to])))
			kind, lasted = as, o.spans(to, apart)
			said++
		}
	}
	part(hungUp, session.LossNotServing, "each server that was reached hung up on the handshake for %[2]s, as servers without a leader do: %[1]s")
	part(mute, session.LossNotAnswered, "servers took connections and answered nothing for %[2]s: %[1]s")
	part(refused, session.LossAuthRefused, "servers refused this client's authentication for %[2]s: %[1]s")
	part(barred, session.LossUnknown, "servers answered the handshake, and then this client's authentication failed for %[2]s: %[1]s")
	missed := strings.Join(o.at[away], ", ")
	switch {
	case said > 0 && missed != "":
		parts = append(parts, "not reached: "+missed)
	case said == 0 && missed != "" && lasted >= enough(apart) && !o.mixed:
		if o.reached < apart/5 {
			lasted = apart
		}
		parts = append(parts, fmt.Sprintf("no server was reached for %s: %s", about(lasted), missed))
	case said == 0:
		kind = session.LossUnknown
		if missed != "" {
			missed = ": " + missed
		}
		parts = append(parts, fmt.Sprintf("there was no connection for %s%s", about(apart), missed))
	}
	if said > 1 || o.mixed {
		kind = session.LossUnknown
	}
	return kind, lasted, strings.Join(parts, "; ")
}

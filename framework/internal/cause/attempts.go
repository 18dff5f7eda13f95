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
	n      int
	time   int64 // how long they lasted, each with the pause before it
	extent int64 // how long it is from the first to the newest
}

// attempts are those at each server, by how they ended.
type attempts [servers + 1][codes]try

func (a *attempts) add(server uint8, code Code, t try) {
	if code < codes {
		old := &a[server%(servers+1)][code]
		old.n, old.time, old.extent = old.n+t.n, old.time+t.time, old.extent+t.extent
	}
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

func (c Code) reach() reach {
	switch c {
	case HungUp:
		return hungUp
	case Silent:
		return mute
	case Auth:
		return refused
	case SASL, NoChroot:
		return barred
	default:
		return away
	}
}

// at says how attempts at a server ended for most of their time.
func (a *attempts) at(server int) (to reach, code Code, main try, all int64, tried bool) {
	var by [reaches]try
	for c, t := range a[server] {
		if t.n == 0 {
			continue
		}
		tried = true
		all += t.time
		sum := &by[Code(c).reach()]
		sum.time, sum.extent = sum.time+t.time, max(sum.extent, t.extent)
	}
	for r, t := range by {
		if t.time > main.time {
			to, main = reach(r), t
		}
	}
	longest := int64(-1)
	for c, t := range a[server] {
		if t.n > 0 && (Code(c).reach() == to || all == 0) && t.time > longest {
			code, longest = Code(c), t.time
		}
	}
	return to, code, main, all, tried
}

// outcomes are the servers, by how far attempts at them got.
type outcomes struct {
	at      [reaches][]string
	lasted  [reaches]int64
	reached int64 // how long attempts lasted that had a connection
	mixed   bool  // attempts at a server ended in several ways, or for a part of the time alone
}

func (a *attempts) outcomes(r *Record, apart int64) (o outcomes) {
	for i := range a {
		to, code, main, all, tried := a.at(i)
		for c, t := range a[i] {
			if Code(c).reach() != away {
				o.reached += t.time
			}
		}
		name := r.Servers[i]
		switch {
		case !tried:
		case main.time < enough(all):
			o.mixed = o.mixed || all >= apart/5
		case to == away:
			o.at[away] = append(o.at[away], fmt.Sprintf("%s (%v)", name, code))
			o.lasted[to] = min(o.lasted[to]+main.time, apart)
		default:
			o.at[to] = append(o.at[to], name)
			o.lasted[to] = min(o.lasted[to]+main.extent, apart)
		}
	}
	for to := range o.at {
		slices.Sort(o.at[to])
		switch lasted := o.lasted[to]; {
		case reach(to) == away || lasted >= enough(apart):
		case lasted < apart/5: // a moment, beside what went on
			o.at[to] = nil
		default:
			o.mixed = o.mixed || len(o.at[to]) > 0
		}
	}
	return o
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
			kind, lasted = as, o.lasted[to]
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

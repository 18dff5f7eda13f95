package fourletter

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// A Connection is one of a server's, as cons lists it.
type Connection struct {
	Client       string // its address
	Session      int64
	Timeout      time.Duration // as granted
	LastResponse time.Duration // when it was last answered, on the clock of this server; 0: never
}

// Connections parses the answer to cons. It leaves out other lines, and connections without a session.
func Connections(cons string) (all []Connection) {
	for line := range strings.Lines(cons) {
		before, fields, found := strings.Cut(strings.TrimSpace(line), "(")
		fields, closed := strings.CutSuffix(fields, ")")
		if !found || !closed {
			continue
		}
		if c := (Connection{Client: clientAddress(before)}); c.parse(fields) {
			all = append(all, c)
		}
	}
	return all
}

// clientAddress takes it from what stands before the fields: "/10.0.0.7:51234[1]".
func clientAddress(text string) string {
	if at := strings.LastIndexByte(text, '['); at >= 0 {
		text = text[:at]
	}
	return text[strings.LastIndexByte(text, '/')+1:]
}

// parse reads the fields. ok is false without a session.
func (c *Connection) parse(fields string) (ok bool) {
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "sid":
			c.Session, ok = sessionID(value)
		case "to":
			c.Timeout, _ = milliseconds(value)
		case "lresp":
			c.LastResponse, _ = milliseconds(value)
		}
	}
	return ok
}

// endOfSessions stands behind the sessions in the answer to dump.
const endOfSessions = "ephemeral nodes dump:"

// Sessions is what dump says of them. A follower has their timeouts, and the leader, or a lone server, when they end.
type Sessions struct {
	Timeouts map[int64]time.Duration
	// Ends has the server's local times without their zone: they can be compared with each other alone.
	Ends  map[int64]time.Time
	Whole bool // the list has come to its end
}

// ParseSessions parses the answer to dump.
func ParseSessions(dump string) Sessions {
	s := Sessions{Timeouts: map[int64]time.Duration{}, Ends: map[int64]time.Time{}}
	var end time.Time
	for line := range strings.Lines(dump) {
		line = strings.TrimSpace(line)
		if line == endOfSessions {
			s.Whole = true
			break
		}
		if _, date, found := strings.Cut(line, " expire at "); found {
			end = javaDate(strings.TrimSuffix(date, ":"))
			continue
		}
		id, timeout, listed := strings.Cut(line, "\t")
		session, ok := sessionID(id)
		switch {
		case !ok:
		case listed:
			digits, all := strings.CutSuffix(timeout, "ms") // without that, the answer may end within the number
			if d, ok := milliseconds(digits); ok && all {
				s.Timeouts[session] = d
			}
		case !end.IsZero():
			s.Ends[session] = end
		}
	}
	return s
}

// javaDate parses java.util.Date.toString, "Sat Nov 21 02:37:46 UTC 2026", but not the zone, whose name can mean
// several. It is zero if the text has another form.
func javaDate(text string) time.Time {
	fields := strings.Fields(text)
	if len(fields) != 6 {
		return time.Time{}
	}
	fields = append(fields[:4], fields[5])
	at, err := time.Parse("Mon Jan 2 15:04:05 2006", strings.Join(fields, " "))
	if err != nil {
		return time.Time{}
	}
	return at
}

// sessionID parses a session as Java prints it: with the sign in the first bit. No session is 0.
func sessionID(text string) (id int64, ok bool) {
	digits, found := strings.CutPrefix(text, "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	return int64(n), found && err == nil && n != 0
}

// milliseconds parses a count that is not negative, and that a duration can hold.
func milliseconds(text string) (d time.Duration, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(time.Millisecond) {
		return 0, false
	}
	return time.Duration(n) * time.Millisecond, true
}

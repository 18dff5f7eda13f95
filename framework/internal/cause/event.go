package cause

// An Event is one entry of a [Ring]. Times and durations are in nanoseconds; a time counts from the ring's beginning.
type Event struct {
	At     int64
	A      int64
	N      uint32
	Kind   Kind
	Server uint8 // index in Record.Servers
	Code   Code  // why a connection ended or an attempt failed
	Times  uint8 // how many attempts failed, 255 for more
}

// A Kind says what happened. The comments say what A and N are.
type Kind uint8

// What happened.
const (
	Began    Kind = iota + 1 // a session began
	Attached                 // a server took the session; A: how long its answer took
	Renewed                  // a renewal was written; A: how late
	Answered                 // a renewal was answered; A: after how long
	GaveUp                   // the client left a server for a renewal; A: its silence, N: not 0 if it answered others
	Detached                 // the connection ended; A and N as for GaveUp, if a renewal was waited for
	Failed                   // attempts to connect failed alike; A: when the newest did, N: how many units they lasted
	Late                     // a timer ran late; A: by how much, N: how many units the machine was suspended
	Ended                    // leases or the session ended; A: a How
	kinds                    // how many there are
)

// slept is for how long the machine was suspended, by a [Late].
func (e *Event) slept() int64 { return int64(e.N) * int64(unit) }

// lasted is for how long attempts were made that ended alike, with the pauses before them, by a [Failed].
func (e *Event) lasted() int64 { return int64(e.N) * int64(unit) }

// A Code says why a connection ended, or why an attempt to connect failed.
type Code uint8

// Why a connection ended, or an attempt failed.
const (
	Other       Code = iota
	Refused          // the machine refuses connections on that port
	Timeout          // dialing took too long
	Unreachable      // there is no route to the machine
	NoName           // the name could not be looked up
	TLS              // the TLS handshake failed
	HungUp           // the server closed the connection instead of answering the handshake
	Silent           // the connection stood, and nothing came
	Auth             // the server refuses the client's authentication
	NoChroot         // the chroot does not exist
	Closed           // the server closed the connection
	Reset            // the connection was reset
	Overdue          // the server answered pings, but not an earlier request
	NotRenewed       // the client left it for a renewal
	SASL             // the handshake was answered, and then no authentication came about
	codes            // how many there are
)

var codeTexts = [codes]string{
	"failed", "connection refused", "timed out", "unreachable", "unknown name", "TLS failed", "hung up on the handshake",
	"nothing came", "authentication refused", "no chroot", "closed by the server", "connection reset", "an answer was overdue",
	"no answer to a renewal", "no authentication",
}

func (c Code) String() string {
	if c >= codes {
		c = Other
	}
	return codeTexts[c]
}

// A How says by what leases or a session ended.
type How uint8

// By what leases or a session ended.
const (
	Lapsed       How = iota // leases ended by the clock: no renewal was answered in time
	TimedOut                // the session ended by the clock
	Expired                 // a server said that the session is over
	Disconnected            // the connection ended, under StandardErrorPolicy
	ClientClosed
	AuthRefused
)

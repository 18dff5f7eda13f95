package model

import "github.com/gocurator/curator/recipes/internal/queue"

// A Kind is what a contender wants.
type Kind int8

// Kinds of contenders.
const (
	Mutex Kind = iota
	Reader
	Writer
	Heir  // the reader that the writer before it in the configuration becomes
	Try   // leaves when it is not admitted at once
	Plain // Curator's: it lists after each event, watches its predecessor alone, and not its own node
	Gate  // a semaphore's mutex, whose holder makes the lease that follows it in the configuration
	Lease
)

var markerOf = map[Kind]string{
	Mutex: queue.MutexMarker, Try: queue.MutexMarker, Plain: queue.MutexMarker, Gate: queue.MutexMarker,
	Reader: queue.ReadMarker, Heir: queue.ReadMarker, Writer: queue.WriteMarker, Lease: queue.LeaseMarker,
}

// A Config is a world to explore.
type Config struct {
	Name     string
	Clients  [][]Kind // the contenders of each
	Steady   int8     // so many clients have no faults, and are stay with the leader
	Again    int8     // how often the first contender acquires after its first time
	Two      bool     // a follower, which lags behind the leader
	Unlisted bool     // contenders may enter without a listing
	Start    int32    // how many nodes a new directory has had
	Limit    int8     // the semaphore's
	Raised   int8     // another limit, set at any time; 0 if it stays
	Faults   Faults   // how many may happen
	Off      Off      // what does not hold

	unreduced bool // without isAlone and isNext: every order of steps
}

// Faults are how often things may happen that no contender needs.
type Faults struct {
	Cuts     int8 // a connection is lost, with all that is on its way
	Lates    int8 // at a cut: a server executes a create later
	Lapses   int8 // a client's lease ends; then its session may end
	Hands    int8 // a contender's node is removed by hand
	Sweeps   int8 // an empty directory is removed
	GiveUps  int8 // a contender that waits leaves
	Strange  int8 // a node that is no contender's is created
	Unstored int8 // the servers lose the newest creation
	Unsent   int8 // the server loses an event
}

// Off says what does not hold: rules of the engine, or what servers guarantee.
type Off uint32

// The switches. What each is: doc.go.
const (
	Rule1 Off = 1 << iota
	Rule2
	Rule3
	Rule4
	Rule5
	Rule5Again
	Rule6
	Rule6Listing
	Rule7
	S0
	S1
	S2
	S3
	S4
	S5
	S6
	S7
	CounterEnd
	LeaseFirst
	NewName
	Looks
	LimitInOrder
	Czxid
	OneAtTheGate
)

func (c *Config) off(o Off) bool { return c.Off&o != 0 }

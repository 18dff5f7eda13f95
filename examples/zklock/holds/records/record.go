// Package records writes a record of each hold of a lock, a line of JSON, and reads them back. Laid over the servers'
// transaction logs (zklock history -check), such records say whether two programs held a lock at one time.
//
// A program that has only its own log to go by can do the same in ten lines: see the example of locks.Trace.
package records

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Record is one hold: from the return of Acquire to the end of the lease.
type Record struct {
	Path string `json:"path,omitempty"` // as the servers have it
	Node string `json:"node,omitempty"` // without the directory
	// Session owned the node; 0 if the begin was not recorded, as of all leases but the first of an AcquireN.
	Session SessionID `json:"session,omitempty"`
	Czxid   int64     `json:"czxid,omitempty"` // the fencing token: the zxid of the node's creation; 0 as Session
	Count   int64     `json:"count,omitempty"` // the fencing count: how many holds the node had before
	// After is a node that the client saw go before it was let in; empty without a wait.
	After  string        `json:"after,omitempty"`
	Waited time.Duration `json:"waited,omitempty"` // in nanoseconds
	Begin  Moment        `json:"begin,omitzero"`
	End    Moment        `json:"end,omitzero"`
	How    How           `json:"how,omitempty"`
	Reason string        `json:"reason,omitempty"` // why the hold was lost, or the node could not be removed
	// Process says whose recorder wrote it: host, process id, its start, and letters at random. Its times are of one
	// clock, which is never set; those of two can be compared only as far as their clocks agree.
	Process string `json:"process,omitempty"`
	// Missing counts records before this one that could not be written. A line may have nothing else.
	Missing int64 `json:"missing,omitempty"`
}

// A Moment is the time by the client's clock, and the newest transaction that the client had seen by then.
type Moment struct {
	Time time.Time `json:"time,omitzero"`
	Zxid int64     `json:"zxid,omitempty"` // 0 if it is not known
}

// How says how a hold ended.
type How string

// The ways in which holds end.
const (
	Released   How = "released"
	HandedOver How = "handed over" // the node went to the next contender of the same client
	Retained   How = "retained"    // the node stayed for the client's next contender
	Lost       How = "lost"        // End.Zxid is of when the client noticed, which may be later
	Open       How = "open"        // it had not ended when the recorder was closed
)

// A SessionID is a session's number, in hexadecimal as ZooKeeper's logs have it.
type SessionID int64

// String returns the number as 0x….
func (id SessionID) String() string { return "0x" + strconv.FormatUint(uint64(id), 16) }

// MarshalText is for package json.
func (id SessionID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText is for package json.
func (id *SessionID) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), "0x")
	if !ok {
		return fmt.Errorf("records: session %q has no 0x before it", text)
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return fmt.Errorf("records: session %q: %w", text, err)
	}
	*id = SessionID(n)
	return nil
}

// longestName is how long the names in a record may be: a reader keeps many of them.
const longestName = 1 << 10

// Validate reports what a record cannot be. It is for records that come from a file.
func (r *Record) Validate() error {
	switch {
	case r.Missing < 0:
		return errors.New("records: a negative number of missing records")
	case r.Node == "" && r.Missing > 0:
		return nil
	case r.Node == "" || strings.Contains(r.Node, "/"):
		return fmt.Errorf("records: %q is no node of a lock", r.Node)
	case !strings.HasPrefix(r.Path, "/"):
		return fmt.Errorf("records: path %q does not begin with /", r.Path)
	case r.Czxid < 0 || r.Count < 0 || r.Begin.Zxid < 0 || r.End.Zxid < 0 || r.Waited < 0:
		return fmt.Errorf("records: a negative number in the record of node %s", r.Node)
	case strings.Contains(r.After, "/"):
		return fmt.Errorf("records: %q is no node of a lock", r.After)
	case max(len(r.Path), len(r.Node), len(r.After), len(r.Process)) > longestName:
		return fmt.Errorf("records: a name of more than %d bytes", longestName)
	case r.Process != "" && (r.Begin.Time.IsZero() || r.End.Time.Before(r.Begin.Time)):
		return fmt.Errorf("records: node %s was held from %v to %v, which is no time of one clock", r.Node, r.Begin.Time, r.End.Time)
	}
	switch r.How {
	case Released, HandedOver, Retained, Lost, Open:
		return nil
	default:
		return fmt.Errorf("records: node %s ended in an unknown way: %q", r.Node, r.How)
	}
}

// Package lockopt has what the options of a lock set: locks.Option is a function of Options. So a recipe that stands
// above locks can have a queue of its own in a mutex, a Variant. Package locks exports nothing for that, and programs
// outside of this module cannot name it.
package lockopt

import (
	"strings"

	"github.com/gocurator/curator/recipes/internal/setup"
)

// Options are the settings of one lock.
type Options struct {
	Node    NodeSettings
	Trace   any  // a locks.Trace, whose package imports this one; nil without one
	Callers bool // the log names the caller of a lease that the program drops
	// Waiting, if it is not nil, is called on an acquire's goroutine when its contender has a node and begins to wait.
	// It must not block.
	Waiting func()

	Problems setup.Problems
	Variant  *Variant
}

// NodeSettings are what options say of a lock's nodes and their contenders. A node may serve another lock of the client
// if the settings are equal.
type NodeSettings struct {
	OwnData bool // else the client's default
	Data    string
	extra   string // markers, each with a slash behind it
}

// Bytes are the data of a node, nil for the client's default.
func (s NodeSettings) Bytes() []byte {
	if !s.OwnData {
		return nil
	}
	return []byte(s.Data)
}

// AddMarker makes another client's nodes count. A marker has no slash.
func (s *NodeSettings) AddMarker(marker string) { s.extra += marker + "/" }

// Markers are those that were added.
func (s NodeSettings) Markers() []string {
	return strings.FieldsFunc(s.extra, func(r rune) bool { return r == '/' })
}

// A Variant is a mutex with a marker of its own: only nodes with that marker count, and nothing asks their holders to
// leave.
type Variant struct {
	Marker string
	// Ended, if it is not nil, is called when a lease has ended, before its node is removed. It must not block: it may
	// hold up the end of other leases.
	Ended func()
}

// Set is an option of a mutex that makes it this variant.
func (v Variant) Set(o *Options) { o.Variant = &v }

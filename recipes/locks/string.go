package locks

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework/session"
)

// String names the lock and the node. A nil Lease is "<nil>".
func (l *Lease) String() string {
	if l == nil {
		return "<nil>"
	}
	if err := l.missing(); err != nil {
		return bare(err)
	}
	if l.grant != nil {
		return fmt.Sprintf("lease on %q (%s)", l.recipe.path, l.grant.Name)
	}
	return fmt.Sprintf("lease of a multi-lock: %v", l.parts)
}

// Format is String by every verb.
func (l *Lease) Format(f fmt.State, verb rune) { session.Format(f, verb, l) }

// LogValue is String.
func (l *Lease) LogValue() slog.Value { return slog.StringValue(l.String()) }

type releasedError Lease // so that a release allocates nothing for it

func (e *releasedError) Error() string { return "locks: " + (*Lease)(e).String() + " was released" }

func (e *releasedError) Is(target error) bool { return target == ErrReleased }

func (l *Lease) errReleased() error { return (*releasedError)(l) }

// String names the node, quotes the beginning of its data, and says whether the participant holds.
func (p Participant) String() string {
	return fmt.Sprintf("participant at %q (token %d, holds: %t, %d bytes: %.40q)", p.Path, p.Token, p.Holds, len(p.Data), p.Data)
}

package leader

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework/session"
)

// Without these methods package fmt would read fields that change meanwhile.

// String names the election and the id, and says whether the selector leads.
func (s *LeaderSelector) String() string {
	return fmt.Sprintf("leader selector %q (id %q, leads: %t)", s.path, s.id, s.HasLeadership())
}

// Format is String by every verb.
func (s *LeaderSelector) Format(f fmt.State, verb rune) { session.Format(f, verb, s) }

// LogValue is String.
func (s *LeaderSelector) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(s)) }

// String names the election and the id, and says whether the latch leads.
func (l *LeaderLatch) String() string {
	return fmt.Sprintf("leader latch %q (id %q, leads: %t)", l.path, l.id, l.HasLeadership())
}

// Format is String by every verb.
func (l *LeaderLatch) Format(f fmt.State, verb rune) { session.Format(f, verb, l) }

// LogValue is String.
func (l *LeaderLatch) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(l)) }

// String names the id and the node, and says whether the participant leads.
func (p Participant) String() string {
	return fmt.Sprintf("participant %.40q at %q (token %d, leads: %t)", p.ID, p.Path, p.Token, p.IsLeader)
}

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
func (s *LeaderSelector) Format(f fmt.State, verb rune) { session.FormatText(f, verb, s.String()) }

// LogValue is for package slog.
func (s *LeaderSelector) LogValue() slog.Value {
	if s == nil {
		return slog.StringValue("<nil>")
	}
	return logValue(s.path, s.id, s.HasLeadership())
}

// String names the election and the id, and says whether the latch leads.
func (l *LeaderLatch) String() string {
	return fmt.Sprintf("leader latch %q (id %q, leads: %t)", l.path, l.id, l.HasLeadership())
}

// Format is String by every verb.
func (l *LeaderLatch) Format(f fmt.State, verb rune) { session.FormatText(f, verb, l.String()) }

// LogValue is for package slog.
func (l *LeaderLatch) LogValue() slog.Value {
	if l == nil {
		return slog.StringValue("<nil>")
	}
	return logValue(l.path, l.id, l.HasLeadership())
}

func logValue(path, id string, leads bool) slog.Value {
	return slog.GroupValue(slog.String("path", path), slog.String("id", id), slog.Bool("leads", leads))
}

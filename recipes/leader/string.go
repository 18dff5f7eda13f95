package leader

import (
	"fmt"
	"log/slog"
)

// Without these methods package fmt would read fields that change meanwhile.

// String names the election and the id, and says whether the selector leads.
func (s *LeaderSelector) String() string {
	return fmt.Sprintf("leader selector %q (id %q, leads: %t)", s.path, s.id, s.HasLeadership())
}

// GoString is String.
func (s *LeaderSelector) GoString() string { return s.String() }

// LogValue is for package slog.
func (s *LeaderSelector) LogValue() slog.Value { return logValue(s.path, s.id, s.HasLeadership()) }

// String names the election and the id, and says whether the latch leads.
func (l *LeaderLatch) String() string {
	return fmt.Sprintf("leader latch %q (id %q, leads: %t)", l.path, l.id, l.HasLeadership())
}

// GoString is String.
func (l *LeaderLatch) GoString() string { return l.String() }

// LogValue is for package slog.
func (l *LeaderLatch) LogValue() slog.Value { return logValue(l.path, l.id, l.HasLeadership()) }

func logValue(path, id string, leads bool) slog.Value {
	return slog.GroupValue(slog.String("path", path), slog.String("id", id), slog.Bool("leads", leads))
}

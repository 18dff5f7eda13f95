package counters

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework/session"
)

// String names the node. It does not read the number.
func (l *DistributedAtomicLong) String() string {
	return fmt.Sprintf("atomic long at %q", l.counter.path)
}

// Format is String by every verb.
func (l *DistributedAtomicLong) Format(f fmt.State, verb rune) { session.Format(f, verb, l) }

// LogValue is String.
func (l *DistributedAtomicLong) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(l)) }

// String names the node. It does not read the number.
func (i *DistributedAtomicInteger) String() string {
	return fmt.Sprintf("atomic integer at %q", i.counter.path)
}

// Format is String by every verb.
func (i *DistributedAtomicInteger) Format(f fmt.State, verb rune) { session.Format(f, verb, i) }

// LogValue is String.
func (i *DistributedAtomicInteger) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(i)) }

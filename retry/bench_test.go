package retry_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/retry"
)

// What an operation pays for being retried when it succeeds at once, as nearly all do.
func BenchmarkDo(b *testing.B) {
	policy := retry.ExponentialBackoff(time.Second, 3)
	succeed := func(context.Context) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		if err := retry.Do(b.Context(), policy, succeed); err != nil {
			b.Fatal(err)
		}
	}
}

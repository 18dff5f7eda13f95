package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/retry"
)

func TestContextErrorIsTheCauseAndTheContextsError(t *testing.T) {
	reason := errors.New("reason")
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	late, cancelLate := context.WithDeadlineCause(t.Context(), time.Now(), reason)
	defer cancelLate()
	plain, cancelPlain := context.WithCancel(t.Context())
	cancelPlain()
	wrapped, cancelWrapped := context.WithCancelCause(t.Context())
	cancelWrapped(fmt.Errorf("reason: %w", context.Canceled))

	tests := []struct {
		name string
		ctx  context.Context
		text string
		is   []error
		not  []error
	}{
		{"canceled with a cause", canceled, "reason", []error{reason, context.Canceled}, []error{context.DeadlineExceeded}},
		{"late with a cause", late, "reason", []error{reason, context.DeadlineExceeded}, []error{context.Canceled}},
		{"canceled", plain, "context canceled", []error{context.Canceled}, []error{context.DeadlineExceeded}},
		{"cause has it already", wrapped, "reason: context canceled", []error{context.Canceled}, []error{reason}},
	}
	for _, tt := range tests {
		err := retry.ContextError(tt.ctx)
		if err == nil || err.Error() != tt.text {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
		for _, want := range tt.is {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v is not %v", tt.name, err, want)
			}
		}
		for _, other := range tt.not {
			if errors.Is(err, other) {
				t.Errorf("%s: %v is %v", tt.name, err, other)
			}
		}
	}
	if err := retry.ContextError(t.Context()); err != nil {
		t.Errorf("of a context that lasts: %v", err)
	}
}

func TestDoReportsTheContextsErrorNextToItsCause(t *testing.T) {
	reason := errors.New("reason")
	for name, before := range map[string]bool{"before the first try": true, "after a try": false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if before {
			cancel(reason)
		}
		err := retry.Do(ctx, retry.NTimes(3, time.Hour), func(context.Context) error {
			cancel(reason)
			return errFlaky
		})
		if !errors.Is(err, reason) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v is not both the cause and context.Canceled", name, err)
		}
	}
}

package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

func TestAPaceEndsWithItsContext(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var pace retry.Pace
		rounds, began := 0, time.Now()
		for pace.Wait(ctx, 0) == nil {
			rounds++
		}
		if d := time.Since(began); d != 10*time.Second || rounds < 12 || rounds > 30 {
			t.Errorf("%d rounds in %v", rounds, d)
		}
		if err := pace.Wait(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

package watches

import (
	"slices"
	"testing"
	"time"
)

func TestWatchesAreReadAgainWhenTheWaitHasDoubled(t *testing.T) {
	const timeout = time.Minute
	for _, c := range []struct{ read, due time.Duration }{
		{0, timeout},
		{timeout / 2, 3 * timeout / 2},
		{timeout, 2 * timeout},
		{2 * timeout, 4 * timeout},
		{63 * timeout, 126 * timeout},
		{64 * timeout, 128 * timeout},
		{1000 * timeout, 1064 * timeout},
	} {
		if got := readDue(start, start.Add(c.read), timeout).Sub(start); got != c.due {
			t.Errorf("read after %v: got the next read after %v, want %v", c.read, got, c.due)
		}
	}
}

func TestAWatchIsReadLaterAndLater(t *testing.T) {
	o := inState("set")
	var got []time.Duration
	for now := start; len(got) < 5; {
		wait := o.table.ReadLate(now)
		if o.take(); o.asked > 0 {
			got = append(got, now.Sub(start))
			o.answer(Found)
			o.asked = 0
		}
		now = now.Add(wait)
	}
	want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}
	if !slices.Equal(got, want) {
		t.Errorf("got reads after %v, want %v", got, want)
	}
}

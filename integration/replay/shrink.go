package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
)

// shrink returns a part of a list that still fails and would not without any one of its elements. It drops halves, then
// smaller and smaller parts, at last one by one. If fails returns an error, shrink returns the part that it has.
func shrink[T any](list []T, fails func(list []T) (bool, error)) ([]T, error) {
	for size := max(1, len(list)/2); ; {
		dropped := false
		for from := 0; from < len(list); {
			fewer := slices.Concat(list[:from], list[min(from+size, len(list)):])
			still, err := fails(fewer)
			if err != nil {
				return list, err
			}
			if still {
				list, dropped = fewer, true
			} else {
				from += size
			}
		}
		if size == 1 && !dropped {
			return list, nil
		}
		size = max(1, size/2)
	}
}

// shrinkFaults searches for a small part of the faults with which the test still fails, under the given schedule or one
// of the first few. It returns the failure of the smallest such part, or nil if even all faults, given back, make no
// test fail. all is false if the time was up before it had tried all parts.
func (r *replayer) shrinkFaults(ctx context.Context, faults [][]byte, schedule uint64) (best *outcome, all bool, err error) {
	inTime, cancel := context.WithTimeout(ctx, r.shrinkTime)
	defer cancel()
	fails := func(part [][]byte) (bool, error) {
		for _, all := range []numbers{{schedule, schedule}, {1, r.tries}} {
			o, err := r.search(inTime, all, bytes.Join(part, nil))
			if err != nil {
				return false, err
			}
			if o != nil && !o.hangs {
				best = o
				return true, nil
			}
		}
		return false, nil
	}
	given, err := fails(faults)
	if given && err == nil {
		_, err = shrink(faults, fails)
	}
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return best, false, nil
	}
	return best, true, err
}

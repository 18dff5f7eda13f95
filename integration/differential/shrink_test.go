//go:build unix

package differential_test

import "time"

// shrink makes a script that fails shorter for as long as that works: by leaving steps out, then by making them
// simpler.
func shrink(steps []step, fails func([]step) bool, within time.Duration) []step {
	deadline := time.Now().Add(within)
	try := func(shorter []step) bool {
		if time.Now().After(deadline) || !fails(shorter) {
			return false
		}
		steps = shorter
		return true
	}
	for size := len(steps) / 2; size > 0; size /= 2 {
		for at := len(steps) - size; at >= 0; at -= size {
			at = min(at, len(steps)-size)
			if at < 0 {
				break
			}
			try(append(append([]step(nil), steps[:at]...), steps[at+size:]...))
		}
	}
	for i := range steps {
		for _, simpler := range simpler(steps[i]) {
			shorter := append([]step(nil), steps...)
			shorter[i] = simpler
			try(shorter)
		}
	}
	return steps
}

// simpler returns what a step could be instead.
func simpler(s step) (list []step) {
	with := func(change func(*step)) {
		c := s
		change(&c)
		list = append(list, c)
	}
	if !s.alone {
		with(func(c *step) { c.alone = true })
	}
	for i := range s.steps {
		with(func(c *step) { c.steps = append(append([]step(nil), s.steps[:i]...), s.steps[i+1:]...) })
	}
	for i, list := range s.lists {
		for j := range list {
			with(func(c *step) { c.lists[i] = append(append([]string(nil), list[:j]...), list[j+1:]...) })
		}
	}
	if s.acl != nil {
		with(func(c *step) { c.acl = open })
	}
	return list
}

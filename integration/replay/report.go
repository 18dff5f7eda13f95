package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
)

// printf prints to the output. There is no use in saying that it failed.
func (r *replayer) printf(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format, args...) }

// report prints a failure: what the test said, its history, and how to run it again.
func (r *replayer) report(o *outcome) {
	if o.hangs {
		r.printf("schedule %d hangs: it has not ended after %v of real time\n\n", o.schedule, r.limit)
	} else {
		r.printf("schedule %d fails\n\n", o.schedule)
	}
	r.printf("%s\n", o.output)
	r.drawFailed(o)
	r.printf("again: %s\n", r.again(o.schedule, r.faultsFile))
}

// reportPassed prints what -v adds.
func (r *replayer) reportPassed(o outcome) {
	r.printf("schedule %d passes\n\n%s\n", o.schedule, o.output)
	for _, s := range sections(o.history) {
		r.printf("%s, seed %d:\n\n%s\n", s.test, s.seed, draw(s.events))
	}
}

func (r *replayer) drawFailed(o *outcome) {
	if s, found := failedSection(o.history); found {
		r.printf("%s, seed %d:\n\n%s\n", s.test, s.seed, draw(s.events))
	}
}

// reportShrunk shrinks the faults of a failure, and prints those that are left.
func (r *replayer) reportShrunk(ctx context.Context, first *outcome) error {
	s, found := failedSection(first.history)
	faults := s.faults()
	if !found || len(faults) == 0 || r.shrinkTime <= 0 {
		return nil
	}
	best, all, err := r.shrinkFaults(ctx, faults, first.schedule)
	if err != nil {
		return err
	}
	if best == nil {
		r.printf("\nThe %d faults, given back, fail under none of %d schedules (-tries).\n", len(faults), 1+r.tries)
		return nil
	}
	left := bytes.Count(best.faults, []byte("\n"))
	if left == len(faults) {
		r.printf("\nNone of the %d faults can be dropped.\n", left)
		return nil
	}
	file, err := os.CreateTemp("", "faults-*.jsonl")
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(best.faults); err != nil {
		return err
	}
	r.printf("\n%d of %d faults are enough, under schedule %d:\n\n", left, len(faults), best.schedule)
	r.printf("%s\n", best.faults)
	if !all {
		r.printf("The time for shrinking was up before all parts had been tried (-shrink).\n\n")
	}
	r.printf("%s\n", best.output)
	r.drawFailed(best)
	r.printf("again: %s\n", r.again(best.schedule, file.Name()))
	return nil
}

package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
)

// A Target is what this library means to reach in one case.
type Target struct {
	Case

	What    string
	Impl    string
	Against string // another client, in the same round; empty for a figure by itself
	Metric  Metric
	AtLeast float64 // the lower bound, if there is one
	AtMost  float64 // the upper bound, if there is one
}

const away = 2 * time.Millisecond

// Targets are all of them, for the cases that there are.
func (r *Results) Targets() []Target {
	var targets []Target
	add := func(t Target) { targets = append(targets, t) }
	rate := func(workload string, delay time.Duration, impl, against string, least float64) {
		add(Target{Case{workload, delay, false}, "acquisitions", impl, against, Rate, least, 0})
	}
	for _, delay := range []time.Duration{0, away} {
		rate("uncontended", delay, plan.Ours, plan.Floor, 0.95)
		rate("own16", delay, plan.Ours, plan.Floor, 0.97)
	}
	rate("uncontended", 0, plan.Ours, plan.Reference, 1.25)
	rate("uncontended", away, plan.Ours, plan.Reference, 1.45)
	for _, delay := range []time.Duration{0, away} {
		rate("own16", delay, plan.Ours, plan.Reference, 1.5)
		rate("one16", delay, plan.Ours, plan.Reference, 1.5)
		rate("mp4", delay, plan.Ours, plan.Reference, 2)
		rate("semaphore", delay, plan.Ours, plan.Reference, 1.8)
		rate("semmutex", delay, plan.Ours, plan.Reference, 1.8)
		rate("read", delay, plan.Ours, plan.Reference, 1.3)
		rate("write", delay, plan.Ours, plan.Reference, 1.3)
	}
	// What goroutines that hand a lock to each other reached before locks could be retained.
	rate("one16", 0, plan.Retained, plan.Reference, 62)
	rate("one16", away, plan.Retained, plan.Reference, 1100)
	rate("uncontended", 0, plan.Retained, "redsync", 20)
	rate("uncontended", away, plan.Retained, "redsync", 500)
	for delay, most := range map[time.Duration]float64{0: 0.7, away: 0.55} {
		add(Target{Case{"mp4", delay, false}, "hand-over p50", plan.Ours, plan.Reference, HandOverP50, 0, most})
	}
	for _, workload := range []string{"uncontended", "own16", "one16", "mp4"} {
		add(Target{Case{workload, 0, false}, "client CPU", plan.Ours, plan.Reference, ClientCPU, 0, 0.5})
	}
	for _, c := range r.Cases() {
		w, _ := plan.Named(c.Workload)
		if c.retention() {
			least := 0.95
			if w.Think > 0 { // then chance has a part in how many acquisitions a window has
				least = 0.9
			}
			rate(c.Workload, c.Delay, plan.Retained, plan.Ours, least)
			continue
		}
		for _, other := range []string{"zk.Lock", "etcd"} {
			if other == "zk.Lock" || w.Contended {
				add(Target{c, "acquisitions", plan.Ours, other, Rate, 1, 0})
			}
		}
		if c.Workload == "fair16" {
			add(Target{c, "wait p99", plan.Ours, "redsync", WaitP99, 0, 0.1})
			add(Target{c, "wait p99", plan.Ours, "redislock", WaitP99, 0, 0.1})
			add(Target{c, "most/fewest", plan.Ours, "", Fairness, 0, 1.05})
			// No target compares speed with NATS and Postgres: the one wakes all waiters, the other has locks in one
			// server's memory. Waiters are to be served as evenly as by Postgres, which has a queue, and sooner than by
			// NATS.
			add(Target{c, "most/fewest", plan.Ours, "postgres", Fairness, 0, 1.05})
			add(Target{c, "most/fewest", plan.Ours, "nats", Fairness, 0, 1})
			add(Target{c, "wait p99", plan.Ours, "nats", WaitP99, 0, 0.5})
		}
	}
	return targets
}

// Measured returns the target's figure, NaN if there is none, and whether it is met.
func (r *Results) Measured(t Target) (value float64, met bool) {
	if t.Against == "" {
		value = r.Spread(t.Case, t.Impl, t.Metric).Median
	} else {
		value = r.Ratio(t.Case, t.Impl, t.Against, t.Metric).Median
	}
	if t.AtMost > 0 {
		return value, value <= t.AtMost
	}
	return value, value >= t.AtLeast
}

// Check writes each target with what was measured, and returns how many were missed. Those without a figure are left
// out.
func (r *Results) Check(w io.Writer) (missed int, err error) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) {
		if _, e := fmt.Fprintf(table, format+"\n", args...); e != nil {
			err = e
		}
	}
	c := r.Conditions
	line("%d cores (%s), %s: another machine has other figures.\n", c.Cores, c.CPU, c.commit())
	line("case\tclient\twhat\ttarget\tmeasured\t")
	unmeasured := 0
	for _, t := range r.Targets() {
		value, met := r.Measured(t)
		if math.IsNaN(value) {
			unmeasured++
			continue
		}
		verdict := "met"
		if !met {
			verdict = "MISSED"
			missed++
		}
		bound := fmt.Sprintf("≥ %.2f", t.AtLeast)
		if t.AtMost > 0 {
			bound = fmt.Sprintf("≤ %.2f", t.AtMost)
		}
		if t.Against != "" {
			bound += " × " + t.Against
		}
		line("%s\t%s\t%s\t%s\t%s\t%s", t.Case, t.Impl, t.What, bound, digits(value), verdict)
	}
	for _, left := range r.Residue {
		if left.Impl != plan.Ours && left.Impl != plan.Retained {
			continue
		}
		verdict, lock := "met", "free"
		if left.Failed != "" || left.Found.Left > 0 || left.Found.Ended == 0 {
			verdict = "MISSED"
			missed++
		}
		if left.Contended {
			lock = "held"
		}
		line("contexts end, lock %s\t%s\tlocks left\t≤ 0\t%d of %d\t%s", lock, left.Impl, left.Found.Left, left.Found.Ended, verdict)
	}
	line("\n%d missed, %d not measured", missed, unmeasured)
	return missed, errors.Join(err, table.Flush())
}

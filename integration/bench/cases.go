//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
)

// A task is one client in one case.
type task struct {
	report.Case

	workload plan.Workload
	impl     plan.Impl
	worker   string // a program that takes the place of the one of the client's language; empty for none
}

// contests returns the cases that are wanted, each with its clients.
func (o options) contests() ([][]task, error) {
	var contests [][]task
	for _, id := range o.workloads {
		if _, ok := plan.Named(id); !ok {
			return nil, fmt.Errorf("no workload is called %q", id)
		}
	}
	for _, id := range o.impls {
		if _, ok := plan.Client(id); !ok {
			return nil, fmt.Errorf("no client is called %q", id)
		}
	}
	for _, text := range o.delays {
		delay, err := time.ParseDuration(text)
		if err != nil {
			return nil, err
		}
		for _, w := range plan.Workloads {
			if !o.workloads.takes(w.ID) {
				continue
			}
			cases := []report.Case{{Workload: w.ID, Delay: delay}}
			if w.Disk && o.disk != "" && delay == 0 {
				cases = append(cases, report.Case{Workload: w.ID, Disk: true})
			}
			for _, c := range cases {
				if o.piece == nil || o.piece.Takes(c.Workload, c.Delay, c.Disk) {
					contests = append(contests, o.contest(w, c))
				}
			}
		}
	}
	return contests, nil
}

func (o options) contest(w plan.Workload, c report.Case) []task {
	var tasks []task
	for _, i := range plan.Impls {
		if o.impls.takes(i.ID) && i.RunsAt(w, c.Disk) {
			tasks = append(tasks, task{Case: c, workload: w, impl: i})
		}
	}
	return tasks
}

// estimate says how long contests take if no run is repeated.
func (o options) estimate(contests [][]task) time.Duration {
	sum := time.Duration(0)
	for _, t := range slices.Concat(contests...) {
		sum += around(t) + o.warmupOf(t) + startTime + t.workload.Window(o.window)
	}
	return sum * time.Duration(o.rounds)
}

// around is how long processes take to start and to end, and with them their sessions, as it was measured on two
// processors.
func around(t task) time.Duration {
	const once = 100 * time.Millisecond
	each := map[string]time.Duration{plan.Go: 50 * time.Millisecond, plan.Python: 300 * time.Millisecond, plan.Java: 800 * time.Millisecond}
	return once + time.Duration(t.workload.Processes)*each[t.impl.Language]
}

// order returns the tasks of a round. Those that are compared stay together, so that they have the same weather; who
// begins is another one in each round.
func order(contests [][]task, round int) []task {
	var tasks []task
	for i := range contests {
		contest := contests[(i+round)%len(contests)]
		for j := range contest {
			tasks = append(tasks, contest[(j+round)%len(contest)])
		}
	}
	return tasks
}

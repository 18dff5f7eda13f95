package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

const hanging = `package user_test

import (
	"sync"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
)

func TestDeadlock(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		mu.Lock()
		mu.Lock()
	})
}

func TestSpin(t *testing.T) {
	for {
	}
}
`

func TestSchedulesThatHangAreReported(t *testing.T) {
	needNode(t)
	user(t, "user_test.go", []byte(hanging))
	started := time.Now()
	status, output := command(t, ".", "-run", "TestDeadlock", "-schedule", "3", "-limit", "5m")
	if status != failed || !strings.Contains(output, "zktest: TestDeadlock hangs: 5m0s of real time have passed") {
		t.Errorf("a deadlock in a bubble: got the exit code %d and\n%s\nwant the watchdog's words", status, output)
	}
	if took := time.Since(started); took > 4*time.Minute {
		t.Errorf("the watchdog took %v, want five minutes of the schedule's own time, which pass in none", took)
	}
	started = time.Now()
	status, output = command(t, ".", "-run", "TestSpin", "-limit", "20s", "-j", "1") // time to begin on a busy machine
	if took := time.Since(started); took > 4*time.Minute {
		t.Errorf("a loop was ended after %v, want twenty seconds and what it takes to start", took)
	}
	if status != failed || !strings.Contains(output, "schedule 1 hangs: it has not ended after 20s of real time") ||
		!strings.Contains(output, "=== RUN   TestSpin") {
		t.Errorf("a loop: got the exit code %d and\n%s\nwant a schedule that hangs", status, output)
	}
	if status, output := command(t, ".", "-run", "TestNone"); status != unable || !strings.Contains(output, "no test of . matches -run TestNone") {
		t.Errorf("no test: got the exit code %d and\n%s\nwant that no test matches", status, output)
	}
}

func TestInterruptedScheduleEndsItsProcess(t *testing.T) {
	needNode(t)
	user(t, "user_test.go", []byte(hanging))
	r := &replayer{config: config{pkg: ".", workers: 1, limit: time.Minute}, out: t.Output(), dir: t.TempDir()}
	if err := r.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer r.hosts.close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	o, err := r.hosts.execute(ctx, job{schedule: 1, arguments: []string{"-test.run", "TestSpin"}})
	if !errors.Is(err, context.DeadlineExceeded) || o.hangs {
		t.Errorf("got %+v, %v; want that it was interrupted", o, err)
	}
	if p := <-r.hosts.idle; p != nil {
		t.Errorf("the process %d is still there", p.cmd.Process.Pid)
	}
	r.hosts.idle <- nil
	if o, err = r.hosts.execute(t.Context(), job{schedule: 1, arguments: []string{"-test.run", "^$"}}); err != nil || o.code != 0 {
		t.Errorf("the next schedule: got %+v, %v; want that it passes", o, err)
	}
}

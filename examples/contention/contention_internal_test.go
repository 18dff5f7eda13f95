package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

// inBubble runs the program on its server in memory, where time costs nothing.
func inBubble(t *testing.T, wantStatus int, args ...string) (stdout, stderr string) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		var out, errs bytes.Buffer
		if status := run(t.Context(), args, &out, &errs, false); status != wantStatus {
			t.Errorf("status %d, want %d; %s", status, wantStatus, &errs)
		}
		stdout, stderr = out.String(), errs.String()
	})
	return stdout, stderr
}

func TestWorkersHoldOneAfterTheOther(t *testing.T) {
	stdout, stderr := inBubble(t, 0, "-workers=10", "-rounds=3", "-hold=20ms", "-json")
	got := turns(t, decode(t, []byte(stdout)))
	if len(got) != 30 || stderr != "" {
		t.Errorf("%d holds, want 30; %s", len(got), stderr)
	}
	for _, turn := range got {
		if turn.end.Event != released || turn.end.Token != turn.acquired.Token || turn.end.Worker != turn.acquired.Worker {
			t.Errorf("%+v ended with %+v", turn.acquired, turn.end)
		}
	}
}

func TestCrashedHolderLosesTheLockBeforeTheNextIsLetIn(t *testing.T) {
	stdout, _ := inBubble(t, 0, "-crash=3", "-session=1s", "-rounds=2", "-json")
	got := turns(t, decode(t, []byte(stdout)))
	if want := 10*2 - 1; len(got) != want { // worker 3 has no second round
		t.Errorf("%d holds, want %d", len(got), want)
	}
	at := lossAt(t, got)
	if got[at].end.Worker != 3 {
		t.Errorf("worker %d lost it", got[at].end.Worker)
	}
	next := got[at+1].acquired
	if next.Ahead != got[at].acquired.Node || !next.Time.After(got[at].end.Time) {
		t.Errorf("%+v, then %+v", got[at], next)
	}
}

func TestOnlyWorkerCrashes(t *testing.T) {
	stdout, _ := inBubble(t, 0, "-crash=1", "-workers=1", "-json")
	if got := turns(t, decode(t, []byte(stdout))); len(got) != 1 || got[0].end.Event != lost {
		t.Errorf("%+v", got)
	}
}

func TestPipedOutputIsPlain(t *testing.T) {
	stdout, _ := inBubble(t, 0, "-workers=2", "-crash=1", "-session=1s")
	for _, want := range []string{
		"2 workers contend for /examples/contention on a server in memory.",
		": waits for lock-0000000000, 1 ahead\n",
		"lock-0000000000: HOLDS, token ",
		"worker 1: its connection is cut\n",
		"worker 1: connection SUSPENDED\n",
		": LOST after ",
		"2 holds in ",
		"No two overlapped. First come, first served.",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if strings.ContainsAny(stdout, "\x1b█") {
		t.Errorf("decorated:\n%s", stdout)
	}
}

func TestInterruptLetsGoAndProvesNothing(t *testing.T) {
	for _, crash := range []string{"-crash=0", "-crash=1"} { // waiting, holding, and cut off
		zktest.Bubble(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(2*time.Second, func() { cancel(&demo.StopError{Signal: syscall.SIGTERM}) })
			var stdout, stderr bytes.Buffer
			begun := time.Now()
			status := run(ctx, []string{"-workers=3", "-hold=1500ms", "-session=1m", crash}, &stdout, &stderr, false)
			if status != 143 || !strings.Contains(stderr.String(), "stopped by a signal") ||
				!strings.Contains(stdout.String(), "\ninterrupted\n") {
				t.Errorf("%s: got status %d\n%s%s", crash, status, &stdout, &stderr)
			}
			if took := time.Since(begun); took > 4*time.Second {
				t.Errorf("%s: took %v", crash, took)
			}
		})
	}
}

func TestBadFlagsAreRefusedAllAtOnce(t *testing.T) {
	_, stderr := inBubble(t, 2, "-workers=0", "-rounds=0", "-hold=-1s", "-session=0", "-crash=1", "-path=x/")
	for _, want := range []string{"-workers 0", "-rounds 0", "-hold -1s", "-session 0s", "-crash 1", "-path"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %q", want, stderr)
		}
	}
	for _, args := range [][]string{{"-workers=ten"}, {"-unknown"}, {"-zk=:::"}} {
		if _, stderr := inBubble(t, 2, args...); stderr == "" {
			t.Errorf("%v: nothing said", args)
		}
	}
	if stdout, _ := inBubble(t, 0, "-h"); !strings.Contains(stdout, "-crash N") {
		t.Errorf("help: %q", stdout)
	}
}

func TestServerThatIsNotThereIsNamed(t *testing.T) {
	stdout, stderr := inBubble(t, 1, "-zk=127.0.0.1:1", "-json") // refused at once, so the bubble's clock goes on
	if stdout != "" || !strings.Contains(stderr, "127.0.0.1:1") {
		t.Errorf("%q, %q", stdout, stderr)
	}
}

func TestCheckFindsWhatMustNotBe(t *testing.T) {
	begun := time.Now()
	at := func(from, until int, token int64) *hold {
		return &hold{
			token: token,
			from:  begun.Add(time.Duration(from) * time.Second), until: begun.Add(time.Duration(until) * time.Second),
		}
	}
	for name, test := range map[string]struct {
		holds []*hold
		want  string
	}{
		"none":          {nil, ""},
		"in turn":       {[]*hold{at(2, 3, 2), at(0, 1, 1)}, ""},
		"back to back":  {[]*hold{at(0, 1, 1), at(1, 2, 2)}, ""},
		"overlap":       {[]*hold{at(0, 2, 1), at(1, 3, 2)}, "OVERLAP of 1s"},
		"long overlap":  {[]*hold{at(0, 9, 1), at(1, 2, 2), at(3, 4, 3)}, "OVERLAP of 8s"},
		"out of turn":   {[]*hold{at(0, 1, 2), at(2, 3, 1)}, "OUT OF TURN"},
		"no end is now": {[]*hold{at(0, 1, 1), {token: 2, from: begun.Add(time.Second)}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := check(test.holds)
			if test.want == "" && err != nil || test.want != "" && !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

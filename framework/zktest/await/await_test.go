package await_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// planted, in the environment of a process that a test started, is what that is to execute.
const planted = "AWAIT_PLANTED"

const short = 20 * time.Millisecond

func never() bool { return false }

// plants are tests that fail, and how.
var plants = map[string]struct {
	test func(t *testing.T)
	want []string
	not  string
}{
	"Until": {
		func(t *testing.T) { await.Until(t, short, "the end of the world", never) },
		[]string{"await_test.go:", ": timed out waiting for the end of the world (20ms)\n"},
		"went on",
	},
	"Receive": {
		func(t *testing.T) { await.Receive(t, short, "a word", make(chan string)) },
		[]string{"await_test.go:", ": timed out waiting for a word (20ms)\n"},
		"went on",
	},
	"Fatalf": {
		func(t *testing.T) { await.Fatalf(t, "%d events, got %d", 2, 1) },
		[]string{"await_test.go:", ": timed out waiting for 2 events, got 1\n"},
		"went on",
	},
	"Errorf": {
		func(t *testing.T) { await.Errorf(t, "%d events", 2) },
		[]string{"await_test.go:", ": timed out waiting for 2 events\n", "went on"},
		"panic",
	},
	"after a failure": {
		func(t *testing.T) {
			t.Error("a wrong value")
			await.Until(t, short, "the end of the world", never)
		},
		[]string{"a wrong value", "waited too long for the end of the world"},
		await.TimedOut,
	},
	"in a bubble": {
		func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) { await.Until(t, time.Hour, "the end of the world", never) })
		},
		[]string{"waited too long for the end of the world"},
		await.TimedOut,
	},
	"Context": {
		func(t *testing.T) {
			ctx, cancel := await.Context(t.Context(), t, short, "the end of the world")
			defer cancel()
			<-ctx.Done()
			t.Error(fmt.Errorf("a call: %w", context.Cause(ctx)))
		},
		[]string{": timed out waiting for the end of the world (20ms)\n", ": a call: timed out waiting for the end of the world (20ms)\n"},
		"panic",
	},
	"Context after a failure": {
		func(t *testing.T) {
			t.Error("a wrong value")
			ctx, cancel := await.Context(t.Context(), t, short, "the end of the world")
			defer cancel()
			<-ctx.Done()
			t.Error(context.Cause(ctx))
		},
		[]string{"a wrong value", "waited too long for the end", "waited too long for the end"},
		await.TimedOut,
	},
	"Context in a bubble": {
		func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				ctx, cancel := await.Context(t.Context(), t, time.Hour, "the end of the world")
				defer cancel()
				<-ctx.Done()
				t.Error(context.Cause(ctx))
			})
		},
		[]string{"waited too long for the end", "waited too long for the end"},
		await.TimedOut,
	},
	"Context at the end of a test": {
		func(t *testing.T) {
			first, _ := await.Context(t.Context(), t, time.Millisecond, "the end of the world")
			for range 1000 {
				_, _ = await.Context(t.Context(), t, time.Millisecond, "the end of the world")
			}
			<-first.Done() // the others expire while the test ends
		},
		[]string{await.TimedOut},
		"panic",
	},
}

func TestFailuresSayThatTheTestHasWaitedTooLong(t *testing.T) {
	for name, p := range plants {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(planted) == name {
				p.test(t)
				t.Log("went on")
				return
			}
			run := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run="+run) //nolint:gosec // this program
			cmd.Env = append(os.Environ(), planted+"="+name, "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			rest := string(out)
			if err == nil || strings.Contains(rest, p.not) {
				t.Fatalf("it passed, or there is %q in\n%s", p.not, rest)
			}
			for _, want := range p.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("no %q in its place in\n%s", want, out)
				}
				rest = after
			}
		})
	}
}

func TestWaitsEndWithWhatTheyWaitFor(t *testing.T) {
	looks := 0
	await.Until(t, time.Minute, "the third look", func() bool { looks++; return looks == 3 })
	if looks != 3 {
		t.Errorf("got %d looks, want 3", looks)
	}
	words := make(chan string, 1)
	words <- "hello"
	if got := await.Receive(t, time.Minute, "a word", words); got != "hello" {
		t.Errorf("got %q, want hello", got)
	}
}

func TestWithinAsksOnceMoreWhenTheTimeIsUp(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		begun := time.Now()
		if !await.Within(time.Hour+time.Millisecond, func() bool { return time.Since(begun) > time.Hour }) {
			t.Error("got false, want true")
		}
	})
}

// After a stall both have come, and a select takes either.
func TestReceiveTakesWhatHasComeWithTheEndOfItsTime(t *testing.T) {
	for range 100 {
		words := make(chan string, 1)
		words <- "hello"
		if got := await.Receive(t, 0, "a word", words); got != "hello" {
			t.Fatalf("got %q, want hello", got)
		}
	}
}

func TestContextEndsWithItsParentAndWithoutAFailure(t *testing.T) {
	parent, end := context.WithCancelCause(t.Context())
	ctx, cancel := await.Context(parent, t, time.Hour, "nothing")
	defer cancel()
	cause := errors.New("enough")
	end(cause)
	<-ctx.Done()
	if got := context.Cause(ctx); !errors.Is(got, cause) {
		t.Errorf("got cause %v, want %v", got, cause)
	}
}

package run

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// A stoppable lease ends when the test says so.
type stoppable struct {
	until func() time.Time
	done  chan struct{}
}

func (s stoppable) ValidUntil() time.Time { return s.until() }
func (s stoppable) Done() <-chan struct{} { return s.done }
func (s stoppable) Err() error            { return errors.New("lost") }

func TestWatchmanReturnsForEachReasonToLeave(t *testing.T) {
	shut := make(chan struct{})
	close(shut)
	for name, c := range map[string]struct {
		done, asked, input <-chan struct{}
		signal             os.Signal
		stay               bool
		want               int
	}{
		"the lease ends":             {done: shut, want: 99},
		"standard input ends":        {input: shut, want: 0},
		"another process asks":       {asked: shut, want: 0},
		"TERM":                       {signal: syscall.SIGTERM, want: exitSignal + int(syscall.SIGTERM)},
		"asked in vain, then INT":    {asked: shut, stay: true, signal: syscall.SIGINT, want: exitSignal + int(syscall.SIGINT)},
		"asked in vain, then a loss": {asked: shut, stay: true, done: shut, want: 99},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				var errs bytes.Buffer
				w := &watchman{
					teller: &teller{command: "hold", errs: &errs}, plan: plan{grace: time.Second, margin: time.Second}, leave: !c.stay, lost: 99,
				}
				end := time.Now().Add(time.Hour)
				lease := stoppable{func() time.Time { return end }, make(chan struct{})}
				signals := make(chan os.Signal, 1)
				time.AfterFunc(time.Minute, func() {
					if c.done != nil {
						close(lease.done)
					}
					if c.signal != nil {
						signals <- c.signal
					}
				})
				if got := w.watch(lease, c.asked, c.input, signals); got != c.want {
					t.Errorf("got status %d, want %d", got, c.want)
				}
				if text := errs.String(); (c.asked != nil) != strings.Contains(text, "another process asks") {
					t.Errorf("got %q, want a line if another process asks, and none otherwise", text)
				}
			})
		})
	}
}

// The lease is not renewed for a while; its holder hears of that once, and of the renewal.
func TestWatchmanSaysThatTheLeaseIsAboutToEnd(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var errs bytes.Buffer
		w := &watchman{teller: &teller{command: "hold", errs: &errs}, plan: plan{grace: 2 * time.Second, margin: time.Second}, lost: 99}
		begin := time.Now()
		lease := stoppable{func() time.Time {
			if since := time.Since(begin); since < 20*time.Second {
				return begin.Add(22 * time.Second) // warned at 19 s
			}
			return begin.Add(40 * time.Second) // renewed at 20 s, warned at 37 s
		}, make(chan struct{})}
		time.AfterFunc(40*time.Second, func() { close(lease.done) })
		if got := w.watch(lease, nil, nil, nil); got != 99 {
			t.Errorf("got status %d, want 99", got)
		}
		want := []string{"the lock ends in 3s", "the servers answer again", "the lock ends in 3s", "the lock is lost"}
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("got %q, want %d lines", lines, len(want))
		}
		for i, line := range lines {
			if !strings.Contains(line, want[i]) {
				t.Errorf("got %q as line %d, want %q in it", line, i, want[i])
			}
		}
	})
}

func TestWhatCannotBeReadDoesNotEnd(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		text := ended(strings.NewReader("some\ntext\n"))
		failing := ended(readerFunc(func([]byte) (int, error) { return 0, syscall.EIO }))
		synctest.Wait()
		for name, c := range map[string]struct {
			done <-chan struct{}
			want bool
		}{"a text": {text, true}, "an input that fails": {failing, false}} {
			got := false
			select {
			case <-c.done:
				got = true
			default:
			}
			if got != c.want {
				t.Errorf("%s: got ended %v, want %v", name, got, c.want)
			}
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestWrongUseOfHoldIsRefused(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"ZOOKEEPER": "zk1:2181", "HOME": "/nonexistent"}[name]
	}
	for _, c := range []struct{ args, says string }{
		{"", "no path"},
		{"/locks/a -- true", "zklock hold runs no command"},
		{"-on-revoke term /locks/a", "want leave or ignore"},
		{"-semaphore 0 /locks/a", "want at least 1"},
		{"-min-hold 1s /locks/a", "not defined"},
	} {
		_, err := parseHold(strings.Fields(c.args), getenv)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: got error %v, want %q in it", c.args, err, c.says)
		}
	}
	j, err := parseHold([]string{"/locks/b", "-try", "/locks/a"}, getenv)
	if err != nil || strings.Join(j.paths, " ") != "/locks/a /locks/b" || !j.try {
		t.Errorf("got %+v, %v, want both paths in one order, and a try", j, err)
	}
}

package zktest

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestBubbleHangsWhenItsTimeStandsStill(t *testing.T) {
	every := func(looks int) func(int) time.Duration {
		return func(i int) time.Duration { return time.Duration(i/looks+1) * time.Second }
	}
	still := func(int) time.Duration { return 0 }
	for _, tt := range []struct {
		name     string
		seen     func(look int) time.Duration
		cpu      time.Duration // processor time that is used between two looks
		want     movement
		wantLook int
	}{
		{"no time", still, 0, hangsIdle, 3},
		{"none after a start", func(i int) time.Duration { return min(time.Duration(i), 1) }, 0, hangsIdle, 5},
		{"some time", every(3), 0, moves, 50},
		{"time that is too slow", every(4), 0, hangsIdle, 4},
		{"no time, and it spins", still, 2 * time.Second, hangsBusy, 2},
		{"some time, and it works", every(2), 2 * time.Second, moves, 50},
		{"time that is too slow for how it works", every(3), 2 * time.Second, hangsBusy, 3},
		{"many processors", func(i int) time.Duration { return min(time.Duration(i), 1) }, time.Minute, hangsBusy, 4},
		{"many processors that work", every(2), time.Minute, moves, 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := progress{limits: limits{looks: 3, busyLooks: 2, cpu: 4 * time.Second}, cpu: time.Hour}
			got, look := moves, 0
			for look < 50 && got == moves {
				look++
				got = p.look(tt.seen(look-1), time.Hour+time.Duration(look)*tt.cpu)
			}
			if got != tt.want || look != tt.wantLook {
				t.Errorf("got %v at look %d, want %v at look %d", got, look, tt.want, tt.wantLook)
			}
		})
	}
}

func TestProcessorTimeGrows(t *testing.T) {
	begun, limit := cpuTime(), time.Now().Add(time.Minute)
	if begun == 0 {
		if os.Getenv("CURATOR_INTEGRATION") == "required" {
			t.Fatal("got no processor time, want some")
		}
		t.Skip("it cannot be known here")
	}
	for cpuTime() < begun+10*time.Millisecond {
		if time.Now().After(limit) {
			t.Fatalf("got %v after a minute of work, want 10 ms more than %v", cpuTime(), begun)
		}
	}
}

// plants are ways to hang. TestBubbleNamesTheTestThatHangs executes each in a process of its own.
var plants = map[string]struct {
	limits limits
	hang   func(t *testing.T)
	want   string
}{
	"blocked for ever": {
		limits{virtual: 24 * time.Hour, looks: 1e9, cpu: time.Hour},
		func(*testing.T) { select {} },
		"24h0m0s of virtual time",
	},
	"a loop in virtual time": {
		limits{virtual: time.Hour, looks: 1e9, cpu: time.Hour},
		func(t *testing.T) {
			for t.Context().Err() == nil {
				time.Sleep(time.Second / 3)
			}
		},
		"1h0m0s of virtual time",
	},
	"waiting for a mutex": {
		limits{virtual: 24 * time.Hour, looks: 20, cpu: time.Hour},
		func(*testing.T) {
			var mu sync.Mutex
			mu.Lock()
			mu.Lock()
		},
		"200ms of real time",
	},
	"waiting for something outside": {
		limits{virtual: 24 * time.Hour, looks: 20, cpu: time.Hour},
		func(*testing.T) {
			r, w, _ := os.Pipe()
			defer w.Close()
			_, _ = r.Read(make([]byte, 1))
		},
		"200ms of real time",
	},
	"two goroutines that keep each other busy": {
		limits{virtual: 24 * time.Hour, looks: 20, cpu: time.Hour},
		func(*testing.T) {
			ball := make(chan int)
			go func() {
				for n := range ball {
					ball <- n + 1
				}
			}()
			for n := 0; ; n = <-ball {
				ball <- n
			}
		},
		"200ms of real time",
	},
	"a loop that waits for nothing": {
		limits{virtual: 24 * time.Hour, looks: 1e9, cpu: 200 * time.Millisecond},
		func(t *testing.T) {
			for n := 0; t.Context().Err() == nil; n++ {
				runtime.KeepAlive(n)
			}
		},
		"200ms of processor time",
	},
	"requests without end": {
		limits{virtual: 24 * time.Hour, looks: 20, cpu: time.Hour},
		func(t *testing.T) {
			nc, err := New(t).Dial("", "", 0)
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, nc) }()
			var hello, ping encoder
			hello.int32(44)
			hello.int32(0)
			hello.int64(0)
			hello.int32(1000)
			hello.int64(0)
			hello.bytes(make([]byte, 16))
			_, err = nc.Write(hello.b)
			ping.int32(8)
			ping.int32(pingXid)
			ping.int32(int32(OpPing))
			for err == nil {
				_, err = nc.Write(ping.b)
			}
			t.Fatal(err)
		},
		"200ms of real time",
	},
}

// planted, in the environment of a process that a test started, is what that is to execute.
const planted = "ZKTEST_PLANTED"

// inProcess runs this test alone in a process of its own.
func inProcess(t *testing.T, plant string) (out string, err error) {
	t.Helper()
	name := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.timeout=5m", "-test.run="+name) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), planted+"="+plant)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

func TestBubbleNamesTheTestThatHangs(t *testing.T) {
	for name, p := range plants {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(planted) == name {
				newWatchdog(p.limits).run(t, 10*time.Millisecond, p.hang)
				return
			}
			out, err := inProcess(t, name)
			if err == nil {
				t.Fatalf("it passed:\n%s", out)
			}
			rest := out
			for _, want := range []string{"--- FAIL: " + t.Name(), "zktest: " + t.Name() + " hangs: " + p.want, "synctest bubble", ".init.func"} {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("no %q in its place in\n%s", want, out)
				}
				rest = after
			}
		})
	}
}

// Bubble ends as synctest.Test does: what happens to the test inside happens to the one outside.
func TestBubbleEndsAsItsTest(t *testing.T) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T)
		want []string
		not  string
	}{
		{"passes", func(*testing.T) {}, []string{"went on", "PASS"}, "FAIL"},
		{"fails", func(t *testing.T) { t.Error("inside") }, []string{"inside", "--- FAIL: TestBubbleEnds"}, "went on"},
		{"is skipped", func(t *testing.T) { t.Skip("inside") }, []string{"went on", "PASS"}, "FAIL"},
		{"panics", func(*testing.T) { panic("inside") }, []string{"panic: inside"}, "went on"},
		{
			"leaves a goroutine", func(*testing.T) { go func() { select {} }() },
			[]string{"--- FAIL: TestBubbleEnds", "panic: deadlock: main bubble goroutine has exited but blocked goroutines remain"},
			"went on",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if os.Getenv(planted) == tt.name {
				Bubble(t, tt.test)
				t.Log("went on")
				return
			}
			out, _ := inProcess(t, tt.name)
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if strings.Contains(out, tt.not) {
				t.Errorf("%q in\n%s", tt.not, out)
			}
		})
	}
}

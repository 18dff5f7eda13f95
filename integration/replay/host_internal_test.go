package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// simulation prepares one of recipes/locks.
func simulation(t *testing.T) *replayer {
	t.Helper()
	inRoot(t)
	c, err := parse([]string{"./recipes/locks", "-run", "TestSimulation/^stormy$", "-seed", "7"}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	r := &replayer{config: c, out: t.Output(), dir: t.TempDir()}
	if err := r.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.hosts.close)
	return r
}

// Processes that have run other schedules before, in another order, give the same.
func TestTheSameNumberGivesTheSameOutput(t *testing.T) {
	needNode(t)
	r := simulation(t)
	first, histories := map[uint64]outcome{}, map[string]bool{}
	for _, number := range []uint64{1, 2, 3, 4, 5, 6, 7, 8, 8, 3, 2, 7} {
		got, err := r.hosts.execute(t.Context(), job{schedule: number, arguments: r.arguments(true, false)})
		if err != nil {
			t.Fatal(err)
		}
		if got.code != 0 || bytes.Count(got.history, []byte("\n")) < 50 {
			t.Fatalf("schedule %d: got the exit code %d, want 0, and a history:\n%s%s", number, got.code, got.output, got.history)
		}
		histories[string(got.history)] = true
		want, repeated := first[number]
		if !repeated {
			first[number] = got
			continue
		}
		if !bytes.Equal(got.output, want.output) {
			t.Errorf("schedule %d: got the output\n%s\nwant\n%s", number, got.output, want.output)
		}
		if !bytes.Equal(got.history, want.history) {
			t.Errorf("schedule %d: got the history\n%s\nwant\n%s", number, got.history, want.history)
		}
	}
	if len(histories) < 2 {
		t.Error("got the same history under 8 schedules, want different ones")
	}
}

const looking = `package user_test

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"
)

func TestLook(t *testing.T) {
	wd, err := os.Getwd()
	t.Log(wd, err, os.Environ(), os.Args, os.Getpid(), os.Getuid(), os.TempDir(), t.TempDir())
	t.Log(time.Now(), rand.Text(), map[int]int{1: 1}, time.Local)
	if err := os.WriteFile(os.TempDir()+"/written", []byte("x"), 0o600); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(os.TempDir())
	t.Log(entries, err)
	if text, err := os.ReadFile(wd + "/go.mod"); err != nil || !strings.HasPrefix(string(text), "module example.com/user") {
		t.Errorf("the module's file: %s, %v", text, err)
	}
	<-time.After(time.Hour)
	t.Log(time.Now())
}
`

func TestTheProgramSeesNothingOfThisMachine(t *testing.T) {
	needNode(t)
	user(t, "user_test.go", []byte(looking))
	r := &replayer{config: config{pkg: ".", workers: 1, limit: time.Minute}, out: t.Output(), dir: t.TempDir()}
	if err := r.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	var outputs []string
	for _, number := range []uint64{3, 4, 3} {
		o, err := r.hosts.execute(t.Context(), job{schedule: number, arguments: r.arguments(false, false)})
		if err != nil || o.code != 0 {
			t.Fatalf("got %v and the exit code %d, want 0:\n%s", err, o.code, o.output)
		}
		outputs = append(outputs, string(o.output))
	}
	r.hosts.close()
	r.hosts = newHosts(r.hosts.command, r.home, t.TempDir(), 1, time.Minute)
	defer r.hosts.close()
	t.Setenv("HOME", t.TempDir())
	o, err := r.hosts.execute(t.Context(), job{schedule: 3, arguments: r.arguments(false, false)})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(outputs[0], r.home) {
		t.Errorf("got the path %s in\n%s", r.home, outputs[0])
	}
	for _, got := range []string{outputs[2], string(o.output)} {
		if got != outputs[0] {
			t.Errorf("got\n%s\nwant\n%s", got, outputs[0])
		}
	}
	if outputs[0] == outputs[1] {
		t.Errorf("got the same under two schedules, want different random texts:\n%s", outputs[0])
	}
}

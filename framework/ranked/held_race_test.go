//go:build race

package ranked_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// playing is the variable that makes a test play its story in this process, which that may end.
const playing = "RANKED_STORY"

// playAlone plays the story of this test in a process of its own, and returns what that has printed and its error.
// ok is false in that process.
func playAlone(t *testing.T, story func()) (output string, err error, ok bool) {
	t.Helper()
	if os.Getenv(playing) != "" {
		var wg sync.WaitGroup
		wg.Go(story) // not on the test's goroutine: most of the library is on others
		wg.Wait()
		return "", nil, false
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	top, sub, _ := strings.Cut(t.Name(), "/")
	command := exec.CommandContext(t.Context(), program, "-test.run", "^"+top+"$/^"+sub+"$")
	command.Env = append(os.Environ(), playing+"=1")
	text, err := command.CombinedOutput()
	return string(text), err, true
}

func TestAWrongOrderEndsTheProcess(t *testing.T) {
	tests := map[string]struct {
		play func(o *outer, b *table, l, other *leaf)
		want string
	}{
		"an outer one under an inner": {func(_ *outer, b *table, l, _ *leaf) {
			l.mu.Lock()
			b.mu.Lock()
			b.mu.Unlock()
			l.mu.Unlock()
		}, "ranked_test.table (rank 500) was locked while ranked_test.leaf (rank 700) was held"},
		"two of a rank": {func(_ *outer, _ *table, l, other *leaf) {
			l.mu.Lock()
			other.mu.Lock()
			other.mu.Unlock()
			l.mu.Unlock()
		}, "ranked_test.leaf (rank 700) was locked while ranked_test.leaf (rank 700) was held"},
		"unlocked in the order of locking": {func(_ *outer, b *table, l, _ *leaf) {
			l.mu.Lock()
			b.mu.Lock()
			l.mu.Unlock()
			b.mu.Unlock()
		}, "ranked_test.table (rank 500) was locked while ranked_test.leaf (rank 700) was held"},
		"after another was unlocked out of order": {func(_ *outer, b *table, l, other *leaf) {
			b.mu.Lock()
			l.mu.Lock()
			b.mu.Unlock()
			other.mu.Lock()
			other.mu.Unlock()
			l.mu.Unlock()
		}, "ranked_test.leaf (rank 700) was locked while ranked_test.leaf (rank 700) was held"},
		"right, the suspected one's later lock": {func(o *outer, _ *table, l, _ *leaf) {
			l.mu.Lock()
			var beside sync.WaitGroup
			suspected := make(chan struct{})
			beside.Go(func() {
				o.mu.Lock()
				o.mu.Unlock()
				close(suspected)
				l.mu.Lock()
				l.mu.Unlock()
			})
			<-suspected
			l.mu.Unlock()
			beside.Wait()
		}, ""},
		"between right ones": {func(o *outer, b *table, l, _ *leaf) {
			b.mu.Lock()
			o.mu.Lock()
			l.mu.Lock()
			l.mu.Unlock()
			o.mu.Unlock()
			b.mu.Unlock()
		}, "ranked_test.outer (rank 100) was locked while ranked_test.table (rank 500) was held"},
		"the first of two": {func(o *outer, b *table, l, _ *leaf) {
			l.mu.Lock()
			o.mu.Lock()
			b.mu.Lock()
			b.mu.Unlock()
			o.mu.Unlock()
			l.mu.Unlock()
		}, "ranked_test.outer (rank 100) was locked while ranked_test.leaf (rank 700) was held"},
		"under a recover": {func(_ *outer, b *table, l, _ *leaf) {
			defer func() { _ = recover() }()
			l.mu.Lock()
			defer l.mu.Unlock()
			b.mu.Lock()
			defer b.mu.Unlock()
		}, "ranked_test.table (rank 500) was locked while ranked_test.leaf (rank 700) was held"},
	}
	for name, test := range tests {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			output, err, ok := playAlone(t, func() { test.play(new(outer), new(table), new(leaf), new(leaf)) })
			if !ok {
				return
			}
			// The stacks name the test, though it was another goroutine.
			for _, want := range []string{test.want, "TestAWrongOrderEndsTheProcess", "held_race_test.go"} {
				if (err != nil) != (test.want != "") || err != nil && !strings.Contains(output, want) {
					t.Errorf("got error %v and output %s\nwant an error unless it is right, and %q", err, output, want)
				}
			}
		})
	}
}

// The detector must see no order between goroutines but that of the mutexes they share: it would find few races.
func TestMutexesHideNoRace(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared=%v", shared), func(t *testing.T) {
			var mine, others leaf
			second := &others
			if shared {
				second = &mine
			}
			output, err, ok := playAlone(t, func() {
				n := 0
				done := make(chan struct{})
				var wg sync.WaitGroup
				wg.Go(func() {
					n++
					mine.mu.Lock()
					mine.mu.Unlock()
					close(done)
				})
				wg.Go(func() {
					runtime.RaceDisable() // this one comes later, which the detector does not know
					<-done
					runtime.RaceEnable()
					second.mu.Lock()
					second.mu.Unlock()
					n++
				})
				wg.Wait()
			})
			if raced := strings.Contains(output, "DATA RACE"); ok && raced == shared {
				t.Errorf("got a report of a race: %v, error %v and output %s\nwant one unless the mutex is shared", raced, err, output)
			}
		})
	}
}

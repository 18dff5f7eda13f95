package web

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func TestStampOfFilesChangesWithEachOfThem(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	put := func(name, content string, at time.Time) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "version-2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := stampOf([]string{dir}, time.Now()); got != "" {
		t.Errorf("got %q of no file, want nothing", got)
	}
	seen := map[string]string{}
	for _, step := range []struct {
		what, name, content string
		at                  time.Time
		same                bool
	}{
		{"the first", "log.1", "a", old, false},
		{"a later time", "log.1", "a", old.Add(time.Nanosecond), false},
		{"another size", "log.1", "ab", old, false},
		{"another log", "version-2/log.2", "a", old, false},
		{"a snapshot", "version-2/snapshot.2", "a", old, false},
		{"another file", "version-2/acceptedEpoch", "1", old, true},
	} {
		put(step.name, step.content, step.at)
		got := stampOf([]string{dir}, time.Now())
		if before, known := seen[got]; got == "" || known != step.same {
			t.Errorf("%s: got %q, which was that of %q", step.what, got, before)
		}
		seen[got] = step.what
	}
	put("log.1", "ab", time.Now())
	if got := stampOf([]string{dir}, time.Now()); got != "" {
		t.Errorf("a log that was written now: got %q, want nothing", got)
	}
	if got := stampOf([]string{filepath.Join(dir, "log.1")}, time.Now().Add(time.Hour)); got != "" {
		t.Errorf("a file in place of a directory: got %q, want nothing", got)
	}
}

func TestFilesThatHaveNotChangedAreNotReadOnceMore(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		h, readings := reader(0)
		for _, step := range []struct {
			stamp string
			want  int
		}{{"a", 1}, {"a", 1}, {"b", 2}, {"b", 2}, {"", 3}, {"", 4}, {"b", 5}} {
			h.stamp = func() string { return step.stamp }
			if got := h.ask(t.Context(), "/a"); readings() != step.want || got.More != step.want || got.Reading != "" {
				t.Errorf("%q: got %+v after %d readings, want %d", step.stamp, got, readings(), step.want)
			}
			time.Sleep(pastRest)
		}
		if got := h.ask(t.Context(), "/b"); got.More != 6 {
			t.Errorf("another lock: got %+v, want a reading", got)
		}
	})
}

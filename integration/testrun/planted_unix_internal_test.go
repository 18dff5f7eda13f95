//go:build unix

package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
)

// TestMain has this test binary stand in for testrun when go test starts it as -exec.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == registering {
		main()
	}
	os.Exit(m.Run())
}

// Here go test is real, and so are the tests that fail.
func TestPlantedFailuresAreTakenForWhatTheyAre(t *testing.T) {
	for _, tt := range []struct {
		name     string
		in       string // a package, if not planted
		status   int
		failures []string // one after the other, in the file of that name
		repeats  bool
		repeated string // in the list
		printed  string
	}{
		{name: "TestWaitsTooLongOnce", repeats: true, repeated: "timed out waiting for a second run (10ms)"},
		{
			name: "TestWaitsTooLongAlways", status: 1, repeats: true,
			failures: []string{"timed out waiting for what never comes (10ms)", "alone, it passed 0 of 3 repeats", "timed out waiting for what never comes"},
		},
		{
			name: "TestWaitsTooLongInABinaryThatLeaks", in: "./testdata/leaks", status: 1,
			failures: []string{"timed out waiting for what never comes (10ms)"}, printed: "leak: 3 goroutines are left",
		},
		{name: "TestIsWrongOnce", status: 1, failures: []string{"got 1, want 2", "--- FAIL: TestIsWrongOnce"}},
		{
			name: "TestHangsAfterAFailure", status: 1, failures: []string{"got 1, want 2", "printed nothing for too long"},
			printed: "planted.TestHangsAfterAFailure", // in the stacks
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PLANTED", tt.name)
			t.Setenv("PLANTED_DIR", t.TempDir())
			dir, list := t.TempDir(), filepath.Join(t.TempDir(), "list.txt")
			var printed, errs strings.Builder
			args := []string{"-dir", dir, "-list", list, "-silence", "2s", cmp.Or(tt.in, "./testdata/planted"), "--", "-count=1"}
			if got := run(t.Context(), args, &printed, &errs); got != tt.status || errs.Len() > 0 {
				t.Errorf("got status %d, want %d; errors %q; it printed\n%s", got, tt.status, errs.String(), printed.String())
			}
			rest := read(t, filepath.Join(dir, "failures"))
			for _, want := range tt.failures {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("no %q in its place in the failures\n%s", want, read(t, filepath.Join(dir, "failures")))
				}
				rest = after
			}
			if tt.failures == nil && rest != "" {
				t.Errorf("got failures\n%swant none", rest)
			}
			if got := strings.Contains(printed.String(), "waited too long: alone, 3 times\n"); got != tt.repeats {
				t.Errorf("got repeats %v, want %v; it printed\n%s", got, tt.repeats, printed.String())
			}
			if !strings.Contains(printed.String(), tt.printed) {
				t.Errorf("no %q in what it printed\n%s", tt.printed, printed.String())
			}
			for _, file := range []string{list, filepath.Join(dir, "repeated")} {
				got := read(t, file)
				if tt.repeated == "" && got != "" || !strings.Contains(got, tt.repeated) {
					t.Errorf("%s: got\n%swant %q", filepath.Base(file), got, tt.repeated)
				}
			}
		})
	}
}

func TestARunThatIsEndedLeavesNoTestBinary(t *testing.T) {
	t.Setenv("PLANTED", "TestHangsAfterAFailure")
	t.Setenv("PLANTED_DIR", t.TempDir())
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var printed, errs strings.Builder
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"-dir", dir, "-list", filepath.Join(dir, "list.txt"), "-silence", "0", "./testdata/planted", "--", "-count=1"}, &printed, &errs)
	}()
	var files []string
	await.Until(t, 10*time.Minute, "the test binary", func() bool {
		files, _ = filepath.Glob(filepath.Join(dir, "processes", "*"))
		return len(files) == 1
	})
	pid, err := strconv.Atoi(filepath.Base(files[0]))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := await.Receive(t, 2*time.Minute, "the run to end", ended); got != 1 || !strings.Contains(errs.String(), context.Canceled.Error()) {
		t.Errorf("got status %d and %q, want 1 and that it was ended; it printed\n%s", got, errs.String(), printed.String())
	}
	if !await.Within(time.Minute, func() bool { return syscall.Kill(pid, 0) != nil }) {
		t.Errorf("the test binary, process %d, lives on", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// read returns a file, which need not exist.
func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(content)
}

func TestArgumentsThatAreWrongAreRefused(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(bad, []byte("what\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want int
		says string
	}{
		{[]string{"-h"}, 0, "-silence"},
		{[]string{"./..."}, 2, "-dir and -list are needed"},
		{[]string{"-what"}, 2, "flag provided but not defined"},
		{[]string{"-dir", t.TempDir(), "-list", bad}, 2, "list.txt:1"},
		{[]string{"-dir", t.TempDir(), "-list", bad + "x", "./testdata/planted", "--", "-nosuchflag"}, 1, ""},
		{[]string{"-dir", t.TempDir(), "-list", bad + "x", "./nosuchpackage"}, 1, ""},
	} {
		var printed, errs strings.Builder
		if got := run(t.Context(), tt.args, &printed, &errs); got != tt.want || !strings.Contains(errs.String(), tt.says) {
			t.Errorf("%v: got status %d and %q, want %d and %q; it printed\n%s", tt.args, got, errs.String(), tt.want, tt.says, printed.String())
		}
	}
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The last commit is compared with the working tree, for a moment: the figures mean nothing, but both have some.
func TestCompareSmoke(t *testing.T) {
	if os.Getenv("CURATOR_INTEGRATION") == "" {
		t.Skip("CURATOR_INTEGRATION is not set: not starting servers")
	}
	t.Setenv("TMPDIR", t.TempDir())
	var wrong []string
	for _, window := range windows {
		var out strings.Builder
		err := compare(t.Context(), []string{
			"-base", "HEAD", "-workloads", "uncontended,mp4", "-rounds", "2", "-window", window, "-warmup", "300ms", "-foreign", "1", "-least", "0",
		}, &out)
		t.Logf("\n%s", out.String())
		if wrong = withoutIntervals(out.String(), "uncontended", "mp4"); err != nil {
			wrong = append(wrong, err.Error())
		}
		if len(wrong) == 0 {
			break
		}
	}
	for _, text := range wrong {
		t.Error(text)
	}
	if left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// withoutIntervals says which workloads have no row with two intervals in a table.
func withoutIntervals(table string, workloads ...string) (wrong []string) {
	for _, workload := range workloads {
		row := ""
		for line := range strings.Lines(table) {
			if strings.HasPrefix(line, "| "+workload+" |") {
				row = line
			}
		}
		if strings.Count(row, "..") != 2 || !strings.HasSuffix(row, "| yes |\n") {
			wrong = append(wrong, fmt.Sprintf("%s: got the row %q, want two intervals", workload, row))
		}
	}
	return wrong
}

// The program is what the commit has, not what the working tree has.
func TestBuildTakesTheFilesOfTheCommit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "base")
	top, err := tool("git", "rev-parse", "--show-toplevel").run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, err := tool("git", "status", "--porcelain").in(top).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := checkOut(t.Context(), top, "HEAD", dir); err != nil {
		t.Fatal(err)
	}
	wanted, err := tool("git", "rev-parse", "HEAD^{tree}").in(top).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	taken, err := tool("git", "write-tree").in(top).with("GIT_INDEX_FILE=" + dir + ".index").run(t.Context())
	if err != nil || taken != wanted {
		t.Errorf("the tree (%v): got %s, want %s", err, taken, wanted)
	}
	want, err := tool("git", "show", "HEAD:go.mod").in(top).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || strings.TrimSpace(string(got)) != want {
		t.Errorf("go.mod of the commit (%v): got %q, want %q", err, got, want)
	}
	if after, err := tool("git", "status", "--porcelain").in(top).run(t.Context()); err != nil || after != before {
		t.Errorf("the working tree (%v): got %q, want it as before: %q", err, after, before)
	}
}

func TestWhatCannotBeComparedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no base":             {nil, "usage: compare -base commit"},
		"one round":           {[]string{"-base", "HEAD", "-rounds", "1"}, "an interval needs two"},
		"a word":              {[]string{"-base", "HEAD", "word"}, "usage: compare -base commit"},
		"an unknown workload": {[]string{"-base", "HEAD", "-workloads", "gone"}, `no workload is called "gone"`},
		"an unknown commit":   {[]string{"-base", "gone"}, `"gone" is no commit`},
		"an option":           {[]string{"-base", "--all"}, "is no commit"},
	} {
		err := compare(t.Context(), c.args, new(strings.Builder))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestBothBeginAsOften(t *testing.T) {
	begun := make(map[string]int)
	for round := range 10 {
		begun[turns(round)[0]]++
	}
	if begun["base"] != 5 || begun["head"] != 5 {
		t.Errorf("got %v, want 5 each", begun)
	}
}

package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func parsed(t *testing.T, text string) *budget {
	t.Helper()
	b, err := parseBudget(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAMalformedBudgetIsAnErrorWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"# comment\n\nlines of code\n": `budget.txt:3: "lines of code" is not of the form`,
		"lines -5\n":                   "budget.txt:1: ",
		"lines 1,000\n":                "budget.txt:1: ",
		"5\n":                          "budget.txt:1: ",
		"lines 5 # why\n":              "budget.txt:1: ",
		"lines 5 # raised:\n":          "budget.txt:1: ",
		"a 1\nb 2\na 3\n":              `budget.txt:3: "a" has a limit in line 1 already`,
		"lines 99999999999999999999\n": "budget.txt:1: ",
		"a 1\nb\nc 2\nd\n":             "budget.txt:4: ",
	} {
		if _, err := parseBudget(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}

func TestFiguresAndLimitsMatch(t *testing.T) {
	b := parsed(t, "# comment\na of b  1\nold  2\n")
	if err := b.match([]figure{{"a of b", 1}, {"old", 2}}); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	err := b.match([]figure{{"a of b", 1}, {"new", 2}})
	for _, want := range []string{`budget.txt:3: no figure is called "old"`, `the figure "new" has no limit`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

func TestAFigureAboveItsLimitFails(t *testing.T) {
	b := parsed(t, "equal 200\nabove 200\nless 200\nmuch less 200\nzero 0\n")
	figures := []figure{{"zero", 0}, {"equal", 200}, {"above", 201}, {"less", 199}, {"much less", 198}}
	err := b.exceeded(figures)
	if want := `integration/budget.txt:2: "above" is 201, which is 1 above its limit of 200`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if err := b.exceeded(figures[3:]); err != nil {
		t.Errorf("got error %v, want none", err)
	}
	const want = "figure           now      limit\n" +
		"equal            200        200\n" +
		"above            201        200  above\n" +
		"less             199        200\n" +
		"much less        198        200  the limit can be lowered\n" +
		"zero               0          0\n"
	if got := b.table(figures); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWriteLowersLimitsAndNeverRaisesOne(t *testing.T) {
	b := parsed(t, "# Comments stay.\n\nfallen 1000\n  risen 5 # raised: it was asked for\n# So do these.\nsame 7\n")
	b.lower([]figure{{"fallen", 90}, {"risen", 6}, {"same", 7}, {"new", 12}})
	const want = "# Comments stay.\n\nfallen  90\nrisen    5  # raised: it was asked for\n# So do these.\nsame     7\nnew     12\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	again := parsed(t, want)
	if got := again.String(); got != want {
		t.Errorf("got\n%s\nafter reading what was written, want\n%s", got, want)
	}
}

func TestALimitRisesOnlyWithANewReason(t *testing.T) {
	before := parsed(t, "same 1\nlower 2\nexplained 3\nsilent 4\nold reason 5 # raised: once\nnew reason 6 # raised: once\n")
	after := parsed(t, "same 1\nlower 1\nexplained 9 # raised: feature A\nsilent 9\nold reason 9 # raised: once\n"+
		"new reason 9 # raised: feature B\nnew 9\n")
	explained, err := after.rises(before)
	const wantExplained = `integration/budget.txt:3: the limit of "explained" rose from 3 to 9: feature A` + "\n" +
		`integration/budget.txt:6: the limit of "new reason" rose from 6 to 9: feature B`
	if got := strings.Join(explained, "\n"); got != wantExplained {
		t.Errorf("got\n%s\nwant\n%s", got, wantExplained)
	}
	const want = `integration/budget.txt:4: the limit of "silent" rose from 4 to 9; say why behind it, as "# raised: reason"` + "\n" +
		`integration/budget.txt:5: the limit of "old reason" rose from 5 to 9; say why behind it, as "# raised: reason"`
	if err == nil || err.Error() != want {
		t.Errorf("got error\n%v\nwant\n%s", err, want)
	}
}

func commit(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {
		"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-q", "--allow-empty", "-m", "test",
	}} {
		command := exec.CommandContext(t.Context(), "git", args...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func TestLimitsAreComparedWithARevision(t *testing.T) {
	dir := t.TempDir()
	commit(t, dir)
	write(t, filepath.Join(dir, budgetFile), "a 1\n")
	commit(t, dir)
	after := parsed(t, "a 2\n")
	for since, want := range map[string]string{
		"": "", "HEAD~1": "", "HEAD": `the limit of "a" rose from 1 to 2`, "gone": "git ls-tree: fatal: Not a valid object name gone",
	} {
		err := settings{dir: dir, since: since}.compare(after, io.Discard)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("since %q: got error %v, want %q", since, err, want)
		}
	}
	var out bytes.Buffer
	err := settings{dir: dir, since: "HEAD"}.compare(parsed(t, "a 2 # raised: why\n"), &out)
	if err != nil || !strings.Contains(out.String(), "rose from 1 to 2: why") {
		t.Errorf("got %v and %q, want the rise with its reason", err, out.String())
	}
}

func TestWriteKeepsWhatIsAboveItsLimitAndFails(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, budgetFile)
	write(t, name, "above 1\nbelow 9\n")
	measure := func() ([]figure, error) { return []figure{{"above", 2}, {"below", 3}, {"new", 4}}, nil }
	err := settings{dir: dir}.budget(measure, io.Discard)
	if want := `the figure "new" has no limit`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
	err = settings{dir: dir, write: true}.budget(measure, io.Discard)
	if want := `"above" is 2, which is 1 above its limit of 1`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("-write: got error %v, want one with %q", err, want)
	}
	text, err := os.ReadFile(name)
	if want := "above  1\nbelow  3\nnew    4\n"; err != nil || string(text) != want {
		t.Errorf("-write wrote %q (%v), want %q", text, err, want)
	}
	write(t, name, "above  2\nbelow  3\nnew    4\n")
	var out bytes.Buffer
	if err := (settings{dir: dir}).budget(measure, &out); err != nil || !strings.Contains(out.String(), "below           3          3\n") {
		t.Errorf("got %v and\n%s\nwant no error and a table", err, out.String())
	}
}

func TestFlags(t *testing.T) {
	var help bytes.Buffer
	if err := run([]string{"-h"}, io.Discard, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-since") {
		t.Errorf("-h: got %v and %q, want %v and all flags", err, help.String(), flag.ErrHelp)
	}
	for _, args := range [][]string{{"-gone"}, {"word"}, {"-write=x"}} {
		var errs bytes.Buffer
		if err := run(args, io.Discard, &errs); !errors.Is(err, errUsage) || errs.Len() == 0 {
			t.Errorf("%v: got %v and %q, want %v and its reason", args, err, errs.String(), errUsage)
		}
	}
}

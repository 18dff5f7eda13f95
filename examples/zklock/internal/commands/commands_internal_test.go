package commands

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/doctor"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// So that help, completion and the man page do not offer it.
func TestWhereNoCommandCanBeEndedInTimeRunIsNotListed(t *testing.T) {
	for _, c := range all(false) {
		if c.Name == "run" {
			t.Error("got run among the commands, want it left out")
		}
	}
	if got, want := len(all(false)), len(all(true))-1; got != want {
		t.Errorf("got %d commands, want %d", got, want)
	}
	var page bytes.Buffer
	overview(&page, false)
	if strings.Contains(page.String(), "zklock run") || !strings.Contains(page.String(), "zklock hold") {
		t.Errorf("got\n%s\nwant hold without run", page.String())
	}
	page.Reset()
	overview(&page, true)
	if !strings.Contains(page.String(), "zklock run /locks") {
		t.Errorf("got\n%s\nwant an example of run", page.String())
	}
}

func TestManualsFitIntoEightyColumns(t *testing.T) {
	var overview, completion bytes.Buffer
	Overview(&overview)
	completion.WriteString(CompletionHelp)
	pages := map[string]string{"overview": overview.String(), "completion": completion.String()}
	for _, c := range All() {
		var page, errs bytes.Buffer
		if status := c.Main([]string{"-h"}, &page, &errs); status != 0 || errs.Len() > 0 {
			t.Errorf("zklock %s -h: status %d and %q, want 0 and nothing", c.Name, status, errs.String())
		}
		pages[c.Name] = page.String()
		for _, want := range []string{"zklock " + c.Name, "Examples:", "-zk ", "-tls-ca", "xit status"} {
			if (c.Name == "version" || c.Name == "history") && strings.HasPrefix(want, "-") { // they talk to no server
				continue
			}
			if !strings.Contains(page.String(), want) {
				t.Errorf("the manual of %s lacks %q", c.Name, want)
			}
		}
	}
	for name, page := range pages {
		for line := range strings.Lines(page) {
			if wide := len([]rune(strings.TrimRight(line, "\n"))); wide > 80 {
				t.Errorf("%s: %d columns: %s", name, wide, line)
			}
		}
	}
}

func TestManPageHasEveryCommandAndFlag(t *testing.T) {
	var page bytes.Buffer
	Man(&page)
	for _, c := range All() {
		if !strings.Contains(page.String(), `.SH "ZKLOCK `+strings.ToUpper(c.Name)+`"`) {
			t.Errorf("no section on %s", c.Name)
		}
	}
	for _, want := range []string{`\-lost\-exit\-code`, `\-every`, `\-longest`, "ZKLOCK_CONFIG"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	for line := range strings.Lines(page.String()) {
		if strings.HasPrefix(line, "'") {
			t.Errorf("troff would take this for a request: %q", line)
		}
	}
}

func TestWordsAreCompleted(t *testing.T) {
	t.Setenv("ZOOKEEPER", "")
	t.Setenv("HOME", "/nonexistent")
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"w"}, "who watch"},
		{[]string{"re"}, "revoke"},
		{[]string{"run", "-se"}, "-semaphore -session"},
		{[]string{"completion", ""}, "bash zsh fish"},
		{[]string{"run", "/a", "--", "-"}, ""},
		{[]string{"nonsense", "-"}, ""},
		{[]string{"who", "/"}, ""}, // no servers
		{[]string{"his"}, "history"},
		{[]string{"history", "-l"}, "-lanes -last -limit -longest"},
		{nil, ""},
	} {
		var out bytes.Buffer
		Complete(c.words, &out)
		if got := strings.Join(strings.Fields(out.String()), " "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.words, got, c.want)
		}
	}
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func contender(state, node, who string) survey.Contender {
	return survey.Contender{State: state, Node: node, Path: "/l/" + node, Who: who, Since: noon.Add(-time.Minute), Token: 7, Session: 9}
}

func TestCompareTellsWhatHappened(t *testing.T) {
	before := &survey.Lock{Contenders: []survey.Contender{
		contender("holds", "1", "a"), contender("waits", "2", "b"), contender("waits", "3", "c"),
	}}
	after := &survey.Lock{Contenders: []survey.Contender{contender("holds", "3", "c"), contender("waits", "4", "d")}}
	for _, c := range []struct {
		old, now *survey.Lock
		want     string
	}{
		{nil, before, "came a, let in a, came b, came c"},
		{before, after, "gone b, left a, let in c, came d"},
		{after, after, ""},
		{after, &survey.Lock{}, "gone d, left c"},
	} {
		var got []string
		for _, change := range survey.Compare(c.old, c.now, noon) {
			got = append(got, change.What+" "+change.Who)
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestFrameFitsTheTerminal(t *testing.T) {
	lock := &survey.Lock{Path: "/" + strings.Repeat("long", 40), Kind: "read/write+semaphore"}
	for i := range 50 {
		lock.Contenders = append(lock.Contenders, contender(survey.WaitsToRead, fmt.Sprint(i), strings.Repeat("who ", 40)))
	}
	w := &watcher{lock: lock, at: noon, now: noon, trouble: strings.Repeat("x", 200), rate: 123456.7, recent: survey.Compare(nil, lock, noon)}
	for _, rows := range []int{5, 10, 24, 60} {
		frame := w.frame(rows)
		if len(frame) > rows {
			t.Errorf("%d lines for %d rows", len(frame), rows)
		}
		for _, line := range frame {
			if wide := len([]rune(line)); wide > 80 {
				t.Errorf("%d columns: %s", wide, line)
			}
		}
	}
	if text := strings.Join(w.frame(24), "\n"); !strings.Contains(text, "… and ") {
		t.Errorf("the frame does not say how many are left out:\n%s", text)
	}
}

func TestTablesFitIntoEightyColumns(t *testing.T) {
	lock := &survey.Lock{Path: "/l", Kind: "mutex", Contenders: []survey.Contender{contender("holds", "1", strings.Repeat("who ", 40)), contender(survey.WaitsToRead, "2", strings.Repeat("who ", 40))}}
	lock.Contenders[0].Session = -1
	rows := []row{{Path: "/l", Kind: "read/write", Holding: 10000, Waiting: 10000, Who: strings.Repeat("who ", 40)}}
	for _, table := range []string{whoTable(lock, noon, false, 80), lsTable("/", rows, 80)} {
		for line := range strings.Lines(table) {
			if wide := len([]rune(strings.TrimRight(line, "\n"))); wide > 80 {
				t.Errorf("%d columns: %s", wide, line)
			}
		}
	}
}

func TestShortDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 1500 * time.Millisecond: "1.5s", 7*time.Minute + 2*time.Second: "7m02s", 25 * time.Hour: "25h00m",
		100 * 24 * time.Hour: "100d00h",
	} {
		if got := short(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestReportBeginsWithTheWorst(t *testing.T) {
	text := report([]doctor.Finding{
		{Level: doctor.OK, About: "a", What: "fine"},
		{Level: doctor.Wrong, About: "/l", What: strings.Repeat("very ", 30) + "wrong\x1b[2J", Advice: strings.Repeat("do ", 40)},
		{Level: doctor.Look, About: "b", What: "odd"},
	})
	order := []int{strings.Index(text, "WRONG"), strings.Index(text, "LOOK"), strings.Index(text, "OK ")}
	if !slices.IsSorted(order) || order[0] < 0 || strings.Contains(text, "\x1b") {
		t.Errorf("got\n%s", text)
	}
	for line := range strings.Lines(text) {
		if wide := len([]rune(strings.TrimRight(line, "\n"))); wide > 80 {
			t.Errorf("%d columns: %s", wide, line)
		}
	}
}

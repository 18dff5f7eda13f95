//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/playground/internal/build"
	"github.com/gocurator/curator/examples/playground/internal/play"
	"github.com/gocurator/curator/examples/programs/browsertest"
)

var record = flag.Bool("record", false, "write a run of the first scenario to web/recording.json")

// files is the directory of the page's files, which are made once.
var files struct {
	once sync.Once
	dir  string
	err  error
}

// buildFiles makes the files, unless a test has done so already.
func buildFiles(t testing.TB) (dir string) {
	t.Helper()
	if os.Getenv("CURATOR_INTEGRATION") == "" {
		t.Skip("CURATOR_INTEGRATION is not set")
	}
	files.once.Do(func() {
		files.dir, files.err = os.MkdirTemp("", "playground-test-") //nolint:usetesting // all tests have it
		if files.err == nil {
			files.err = build.Write(context.Background(), ".", files.dir)
		}
	})
	if files.err != nil {
		t.Fatal(files.err)
	}
	return files.dir
}

func TestMain(m *testing.M) {
	status := m.Run()
	if files.dir != "" {
		_ = os.RemoveAll(files.dir)
	}
	os.Exit(status)
}

// site serves the files.
func site(t testing.TB) (address string) {
	t.Helper()
	server := httptest.NewServer(http.FileServerFS(os.DirFS(buildFiles(t))))
	t.Cleanup(server.Close)
	return server.URL
}

// browsers bounds how many browsers run at one time: each has a process for each worker.
var browsers = make(chan struct{}, 3)

// browse shows a scenario in a browser.
func browse(t testing.TB, scenario string) *browsertest.Page {
	t.Helper()
	address := site(t)
	browsers <- struct{}{}
	t.Cleanup(func() { <-browsers }) // when the browser has ended
	path, err := browsertest.Find()
	if err != nil {
		t.Fatal(err) // CURATOR_INTEGRATION says that there is one
	}
	page := browsertest.Start(t, path)
	t.Cleanup(func() {
		if problems := page.Problems(); len(problems) > 0 {
			t.Errorf("the page's scripts threw %q", problems)
		}
	})
	page.Size(390, 844)
	page.Open(address + "/#" + scenario)
	return page
}

// live waits until the processes run.
func live(page *browsertest.Page) {
	page.Until("the processes", "globalThis.playground && playground.world() && playground.world().begun >= 0")
}

// act does something to a worker, or to the server.
func act(t *testing.T, page *browsertest.Page, action string, worker int) {
	t.Helper()
	if done, err := page.Eval(fmt.Sprintf("playground.act(%q, %d)", action, worker)); err != nil || done != "true" {
		t.Fatalf("%s %d: got %s, %v, want true", action, worker, done, err)
	}
}

// events are what has happened so far, in the order of their times.
func events(t testing.TB, page *browsertest.Page) (list []play.Event) {
	t.Helper()
	text, err := page.Eval("JSON.stringify(playground.recorded)")
	if err == nil {
		err = json.Unmarshal([]byte(text), &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(list, func(a, b play.Event) int { return cmp.Compare(a.At, b.At) })
	return list
}

// reports lists events of some kinds, as "kind worker".
func reports(list []play.Event, kinds ...string) (names []string) {
	for _, e := range list {
		if slices.Contains(kinds, e.Kind) {
			names = append(names, fmt.Sprint(e.Kind, " ", e.Worker))
		}
	}
	return names
}

// happened waits until an event has come so often.
func happened(page *browsertest.Page, kind string, worker, times int) {
	page.Until(fmt.Sprintf("%d × %s of worker %d", times, kind, worker),
		fmt.Sprintf("playground.recorded.filter((e) => e.kind === %q && (e.worker ?? 0) === %d).length >= %d", kind, worker, times))
}

// inOrder fails unless reports come in an order, with others between them.
func inOrder(t *testing.T, list []play.Event, want ...string) {
	t.Helper()
	left := want
	for _, e := range list {
		if len(left) > 0 && fmt.Sprint(e.Kind, " ", e.Worker) == left[0] {
			left = left[1:]
		}
	}
	if len(left) > 0 {
		t.Errorf("got %q, want in this order %q", reports(list, play.Acquired, play.Released, play.Lost, play.Expired, "kill", "suspend", "resume"), want)
	}
}

// alone fails if two holds overlapped that must not.
func alone(t *testing.T, page *browsertest.Page) {
	t.Helper()
	got, err := page.Eval(`(() => {
		const board = playground.board();
		board.lanes.forEach((lane, i) => lane.asleep || board.endHold(i + 1, board.end)); // holds are compared when they have ended
		return board.overlaps;
	})()`)
	if err != nil || got != "0" {
		t.Errorf("got %s holds that overlapped, %v, want 0", got, err)
	}
}

// news is an expression that says whether the page has a sentence.
func news(text string) string {
	return fmt.Sprintf("document.getElementById('news').textContent.includes(%q)", text)
}

func TestHolderThatIsCutOffKnowsBeforeAnotherIsLetIn(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=3&hold=4000&session=8000&late=2000&do=0.5@holds1:cut:1")
	live(page)
	happened(page, play.Acquired, 2, 1)
	inOrder(t, events(t, page), "acquired 1", "lost 1", "expired 1", "acquired 2")
	page.Until("what it means", news("after the lease before had ended by its holder's clock. G2"))
	act(t, page, "join", 1)
	happened(page, play.Acquired, 1, 2)
	alone(t, page)
}

func TestSuspendedProcessExecutesNothing(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=3&hold=4000&session=8000&late=2000&do=0.5@holds1:suspend:1")
	live(page)
	happened(page, play.Acquired, 2, 1)
	act(t, page, "resume", 1)
	happened(page, "runs", 1, 1)
	text, err := page.Eval("JSON.stringify(playground.recorded)") // in the order in which they came
	if err != nil {
		t.Fatal(err)
	}
	var list []play.Event
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	from := slices.IndexFunc(list, func(e play.Event) bool { return e.Kind == "suspend" })
	to := slices.IndexFunc(list, func(e play.Event) bool { return e.Kind == "resume" })
	if from < 0 || to < from {
		t.Fatalf("got %v, want that the process was suspended and went on", list)
	}
	for _, e := range list[from+1 : to] {
		if e.Worker == 1 && e.Kind != play.Expired {
			t.Errorf("got %v of a process that was suspended, want nothing", e)
		}
	}
	inOrder(t, list, "suspend 1", "expired 1", "acquired 2", "resume 1", "lost 1")
	if got := reports(list, play.Released); slices.Contains(got, "released 1") {
		t.Errorf("got %q, want no release of a lease that was over", got)
	}
	page.Until("what it means", news("Worker 1 looks at its lease for the first time since it was suspended, and the lease is over: this process did not run"))
	alone(t, page)
}

// A process that was suspended for a moment holds on.
func TestShortSuspensionEndsNothing(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=1&hold=5000&session=60000&do=0.5@holds1:suspend:1")
	live(page)
	page.Until("that it is suspended", "playground.board().lanes[0].mark === 'stopped'")
	act(t, page, "resume", 1)
	page.Until("that it holds", "playground.board().lanes[0].mark === 'holds'")
	happened(page, play.Released, 1, 1)
	if got := reports(events(t, page), play.Acquired, play.Released, play.Lost); got[0] != "acquired 1" || got[1] != "released 1" {
		t.Errorf("got %q, want one hold that was released first", got)
	}
	alone(t, page)
}

func TestKilledHolderIsFollowedAfterItsSession(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=leader&workers=2&hold=4000&session=8000&late=2000&do=0.5@holds1:kill:1")
	live(page)
	happened(page, play.Acquired, 2, 1)
	inOrder(t, events(t, page), "acquired 1", "kill 1", "expired 1", "acquired 2")
	act(t, page, "start", 1)
	happened(page, play.Acquired, 1, 2)
	alone(t, page)
}

func TestFrozenServerEndsLeasesByTheirClocks(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=2&hold=4000&session=8000&late=2000&do=0.5@holds1:freeze:0")
	live(page)
	happened(page, play.Lost, 1, 1)
	act(t, page, "unfreeze", 0)
	happened(page, play.Acquired, 2, 1)
	inOrder(t, events(t, page), "acquired 1", "lost 1", "acquired 2")
	alone(t, page)
}

func TestDeletedNodeIsReportedToItsHolder(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=2&hold=8000&session=8000&late=2000&do=0.5@waits2:remove:1")
	live(page)
	happened(page, play.Lost, 1, 1)
	happened(page, play.Acquired, 2, 1)
	page.Until("what it means", news("Worker 1 hears that its node was deleted, and has lost the lock. G8"))
	alone(t, page)
}

func TestWaiterThatIsCutOffForAMomentKeepsItsPlace(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=3&hold=8000&session=30000&late=2000&do=0.5@waits3:cut:2")
	live(page)
	happened(page, play.Released, 1, 1)
	act(t, page, "join", 2)
	happened(page, play.Acquired, 3, 1)
	inOrder(t, events(t, page), "acquired 1", "acquired 2", "acquired 3")
	alone(t, page)
}

// The request that ends the work of the holder is sent over a cut cable, and arrives when that is whole again.
func TestCableKeepsWhatIsSentWhileItIsCut(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=1&hold=3000&session=60000&do=0.5@holds1:cut:1")
	live(page)
	happened(page, "cut", 1, 1)
	page.Until("a time after the end of the work", "playground.board().since('cut', 1) + 4000 < playground.world().elapsed()")
	act(t, page, "join", 1)
	happened(page, play.Released, 1, 1)
	for _, e := range events(t, page) {
		if e.Kind == play.State && e.State == "SUSPENDED" {
			t.Errorf("got %v, want the connection to stand: a short cut loses nothing", e)
		}
	}
	alone(t, page)
}

// A retained lock keeps its node while no other worker wants it.
func TestRetainedLockKeepsItsNode(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=retained&workers=2&hold=100&pause=400&late=12000")
	live(page)
	happened(page, play.Acquired, 2, 1)
	nodes := map[int][]string{}
	for _, e := range events(t, page) {
		if e.Kind == play.Acquired {
			nodes[e.Worker] = append(nodes[e.Worker], e.Node)
		}
	}
	if len(slices.Compact(nodes[1])) >= len(nodes[1])/2 || len(nodes[1]) < 8 {
		t.Errorf("got the nodes %q, want few for many holds of a worker alone", nodes[1])
	}
	alone(t, page)
}

// A process that was suspended when it is killed has held nothing since. The page suspends it while it holds. A test
// that asks for that through the browser's protocol may come after its four seconds of work, and then no session ends.
func TestSuspendedHolderIsKilled(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=2&hold=4000&session=8000&late=2000&do=0.5@holds1:suspend:1")
	live(page)
	happened(page, play.Acquired, 2, 1)
	act(t, page, "kill", 1)
	page.Until("what it means", news("Worker 1: the process is killed. Its session is over. G5"))
	happened(page, play.Released, 2, 1)
	alone(t, page)
}

// Each preset runs to what it is about.
func TestPresetsShowWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	for preset, about := range map[string]struct {
		kind   string
		worker int
		times  int
		text   string
	}{
		"The holder's cable is cut":            {play.Released, 3, 1, "Worker 2 has lost the lock, by its own clock"},
		"A waiter's cable is cut for a moment": {play.Acquired, 3, 1, "Worker 3: the cable is whole again."},
		"The holder's process is suspended":    {play.Lost, 2, 1, "Worker 2 looks at its lease for the first time since it was suspended"},
		"The holder is killed":                 {play.Expired, 2, 1, "Worker 2: the process is started."},
		"The server freezes":                   {"unfreeze", 0, 2, "has lost the lock, by its own clock"},
		"A node is deleted by hand":            {"removed", 2, 1, "is deleted by hand."},
		"Readers and a writer":                 {play.Acquired, 4, 2, "Worker 3 has lost the lock, by its own clock"},
		"A leader is lost":                     {play.Lost, 2, 1, "The server ends the session of worker 2."},
		"A lock that stays with its client":    {play.Acquired, 2, 3, "All workers are connected."},
	} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			page := browse(t, "workers=1")
			live(page)
			_, err := page.Eval(fmt.Sprintf(`(() => {
				document.getElementById("rate").value = "0.25"; // so that a busy machine is in time with what is planned
				const choice = document.getElementById("scenario");
				choice.value = %q;
				choice.dispatchEvent(new Event("change"));
			})()`, preset))
			if err != nil {
				t.Fatal(err)
			}
			happened(page, about.kind, about.worker, about.times)
			page.Until(about.text, news(about.text))
			if early, err := page.Eval(news("is let in, -")); err != nil || early != "false" {
				t.Errorf("got %s, %v, want no hold before the end of the lease before", early, err)
			}
			alone(t, page)
		})
	}
}

func TestReadersHoldTogether(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=readwrite&workers=3&writers=3&hold=6000&session=8000&late=2000")
	live(page)
	page.Until("two readers", "playground.board().lanes.filter((lane) => lane.role === 'reads').length === 2")
	happened(page, play.Acquired, 3, 1)
	alone(t, page)
}

// A link has what was done by hand, and does it again.
func TestLinkHasWhatWasDone(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=leader&workers=2")
	live(page)
	page.Until("buttons that can be used", "!document.getElementById('freeze').disabled")
	for _, button := range []string{"Cut, worker 2", "Suspend, worker 1", "Freeze"} {
		if _, err := page.Eval(fmt.Sprintf("[...document.querySelectorAll('button')].find((b) => b.ariaLabel === %q).click()", button)); err != nil {
			t.Fatalf("%s: %v", button, err)
		}
	}
	page.Until("buttons that undo it", "document.querySelectorAll('button.undo').length === 3")
	_, _ = page.Eval("document.getElementById('copy').click()")
	page.Until("the link", "location.hash.includes('freeze')")
	hash, err := page.Eval("location.hash")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := times.ReplaceAllString(hash, ""), "#lock=leader&workers=2&do=cut:2,suspend:1,freeze:0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	address, err := page.Eval("location.href")
	if err != nil {
		t.Fatal(err)
	}
	page.Open("about:blank")
	page.Open(address)
	live(page)
	happened(page, "suspend", 1, 1)
	page.Until("the same actions", "playground.board().frozen && playground.board().lanes[1].cut")
}

var times = regexp.MustCompile(`[0-9.]+:`)

func TestWrongLinkIsNamed(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=4&do=1:fly:2")
	live(page)
	if got, want := page.Text("#wrong"), "The link is wrong: do=1:fly:2: want seconds:action:worker"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q first", got, want)
	}
	page.Until("the first scenario all the same", "document.querySelectorAll('#workers > li').length === 4")
}

func TestLinkToAGuaranteeShowsTheFirstScenario(t *testing.T) {
	t.Parallel()
	page := browse(t, "G2")
	live(page)
	if got := page.Text("#wrong"); got != "" {
		t.Errorf("got %q, want nothing wrong", got)
	}
}

func TestLinksAreChecked(t *testing.T) {
	t.Parallel()
	page := browse(t, "")
	page.Until("the page", "globalThis.playground")
	_, _ = page.Eval("import('./scenario.js').then((module) => { globalThis.scenarios = module; }), 0")
	page.Until("the module", "globalThis.scenarios")
	for link, want := range map[string]string{
		"lock=none": "lock=none: want one of", "workers=9": "workers: 9 is no number from 1 to 8", "hold=": "hold: nothing is no number",
		"hold=x": "hold: x is no number", "do=1:cut:5": "do=1:cut:5: 5 is no number from 1 to 4", "do=1:freeze:1": "1 is no number from 0 to 0",
		"do=x:cut:1": "x is no number from 0 to 3600", "do=1:cut:1:1": "want seconds:action:worker", "do=1:cut:1.5": "there is no worker 1.5",
		"do=1@flies1:cut:1": "want seconds@state and a worker", "do=1@holds5:cut:1": "5 is no number from 1 to 4",
		"do=1@frozen1:cut:1": "1 is no number from 0 to 0", "do=x@holds1:cut:1": "x is no number from 0 to 3600",
		"colour=red": "colour: unknown", "writers=7": "7 is no number from 1 to 4", "session=0": "session: 0 is no number from 500",
	} {
		got, err := page.Eval(fmt.Sprintf("try { scenarios.Scenario.parse(%q).toString() } catch (error) { error.message }", link))
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, %v, want %q in it", link, got, err, want)
		}
	}
	if got, err := page.Eval("scenarios.Scenario.parse('workers=8&late=80000').settings(8).start"); err != nil || got != "560300" {
		t.Errorf("got %s, %v as the latest start, want 560300: less than processes accept", got, err)
	}
	const whole = "lock=readwrite&workers=3&hold=1&pause=2&session=600&late=5&writers=1,2&do=0.5:cut:1,1.25:freeze:0,2@holds3:kill:3,0.4@frozen0:unfreeze:0"
	if got, err := page.Eval(fmt.Sprintf("scenarios.Scenario.parse(%q).toString()", whole)); err != nil || got != whole {
		t.Errorf("got %s, %v, want the same link again: %s", got, err, whole)
	}
}

func TestTimeCanStandStill(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=2")
	live(page)
	happened(page, play.Acquired, 1, 1)
	rate := func(value string) {
		t.Helper()
		_, err := page.Eval(fmt.Sprintf("(() => { const r = document.getElementById('rate'); r.value = %q; r.dispatchEvent(new Event('change')); })()", value))
		if err != nil {
			t.Fatal(err)
		}
	}
	second := func() {
		t.Helper()
		_, _ = page.Eval("globalThis.later = performance.now() + 1000")
		page.Until("a second of this machine's time", "performance.now() > later")
	}
	rate("0")
	second() // what was under way is over
	before, err := page.Eval("playground.world().elapsed()")
	if err != nil {
		t.Fatal(err)
	}
	count := len(events(t, page))
	second()
	if after, err := page.Eval("playground.world().elapsed()"); err != nil || after != before {
		t.Errorf("got %s, %v after a second, want %s as before", after, err, before)
	}
	if got := len(events(t, page)); got != count {
		t.Errorf("got %d events while the time stood still, want none", got-count)
	}
	rate("1")
	happened(page, play.Acquired, 2, 1)
}

func TestPageFitsASmallScreen(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=8")
	page.Until("the workers", "document.querySelectorAll('#workers > li').length === 8")
	live(page)
	act(t, page, "cut", 8)
	page.Until("its longest state", "document.getElementById('workers').textContent.includes('cable cut')")
	for _, width := range []int{390, 320} {
		page.Size(width, 844)
		page.Until("the width", fmt.Sprintf("innerWidth === %d", width))
		if got, err := page.Eval("document.documentElement.scrollWidth"); err != nil || got != fmt.Sprint(width) {
			t.Errorf("got a page %s pixels wide, %v, want %d", got, err, width)
		}
	}
}

// What a screen reader reads of the page: each control has a name of its own, and what canvases show is there in
// words.
func TestPageCanBeUsedWithoutSeeingIt(t *testing.T) {
	t.Parallel()
	page := browse(t, "lock=mutex&workers=2")
	live(page)
	happened(page, play.Acquired, 1, 1)
	page.Until("which worker holds", "document.getElementById('workers').textContent.includes('holds, token')")
	names := map[browsertest.AXNode]int{}
	roles := map[string]int{}
	for _, node := range page.AccessibilityTree() {
		roles[node.Role]++
		switch node.Role {
		case "button", "combobox", "checkbox", "link", "region", "form", "list":
			names[node]++
		case "Canvas", "image", "graphics-document":
			t.Errorf("got %v, want it hidden: the words beside it say the same", node)
		}
	}
	for node, times := range names {
		if node.Role == "list" || node.Role == "link" && strings.HasPrefix(node.Name, "G") {
			continue // each sentence has a link
		}
		if strings.TrimSpace(node.Name) == "" || times > 1 {
			t.Errorf("got %d × %v, want a name that no other has", times, node)
		}
	}
	for role, least := range map[string]int{"button": 11, "combobox": 2, "checkbox": 1, "main": 1, "heading": 5, "status": 2, "listitem": 4} {
		if roles[role] < least {
			t.Errorf("got %d × %s, want at least %d", roles[role], role, least)
		}
	}
}

// A run that was recorded comes before the program, and shows what the processes do then.
func TestRecordedRunIsWhatTheProcessesDo(t *testing.T) {
	t.Parallel()
	page := browse(t, "")
	page.Until("the page", "globalThis.playground")
	// So that a busy machine is in time with what is planned.
	_, _ = page.Eval("document.getElementById('rate').value = '0.25'")
	live(page)
	happened(page, "join", 2, 1)
	happened(page, play.Acquired, 4, 2)
	list := events(t, page)
	if *record {
		fragment, err := page.Eval("playground.scenario().toString()")
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(map[string]any{"fragment": fragment, "events": list})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("web/recording.json", append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("web/recording.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Fragment string
		Events   []play.Event
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	if got, err := page.Eval("playground.scenario().toString()"); err != nil || got != recorded.Fragment {
		t.Errorf("got the scenario %s, %v, want %s: -record makes another recording", got, err, recorded.Fragment)
	}
	was, is := sequences(recorded.Events), sequences(list)
	for worker := range was {
		if n := min(len(was[worker]), len(is[worker])); n < 2 || !slices.Equal(was[worker][:n], is[worker][:n]) {
			t.Errorf("worker %d: got %q, want as recorded %q", worker, is[worker], was[worker])
		}
	}
}

// sequences are the holds of each worker and their ends.
func sequences(list []play.Event) map[int][]string {
	of := map[int][]string{}
	for _, e := range list {
		if slices.Contains([]string{play.Acquired, play.Released, play.Lost, play.Expired}, e.Kind) {
			of[e.Worker] = append(of[e.Worker], e.Kind)
		}
	}
	return of
}

// What a browser needs for the first picture is small. The benchmark says how long that takes.
func TestFirstPictureNeedsLittle(t *testing.T) {
	t.Parallel()
	dir := buildFiles(t)
	size := int64(0)
	for _, name := range []string{
		"index.html", "style.css", "page.js", "board.js", "lanes.js", "program.js", "scenario.js", "story.js", "world.js", "recording.json", "guarantees.json",
	} {
		info, err := os.Stat(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if most := int64(80 << 10); size > most {
		t.Errorf("got %d bytes before the first picture, want at most %d", size, most)
	}
	info, err := os.Stat(dir + "/playground.wasm.gz")
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(4 << 20); info.Size() > most {
		t.Errorf("got a program of %d bytes, want at most %d", info.Size(), most)
	}
}

// BenchmarkFirstPicture measures what a reader with a slow telephone waits for: 390 pixels, a page whose thread is
// slowed four times, 10 Mbit/s and 40 ms. first-ms is the time to the first picture, and live-ms to the beginning of
// the live run, whose processes Chromium does not slow.
func BenchmarkFirstPicture(b *testing.B) {
	address := site(b)
	path, err := browsertest.Find()
	if err != nil {
		b.Fatal(err)
	}
	var first, begun float64
	for b.Loop() {
		page := browsertest.Start(b, path)
		page.Size(390, 844)
		page.Slow(4, 10_000_000/8, 40*time.Millisecond)
		page.Open(address)
		page.Until("the live run", "globalThis.playground && playground.live")
		for name, sum := range map[string]*float64{"playground.first": &first, "playground.live": &begun} {
			text, err := page.Eval(name)
			if err != nil {
				b.Fatal(err)
			}
			ms, err := strconv.ParseFloat(text, 64)
			if err != nil {
				b.Fatal(err)
			}
			*sum += ms
		}
		page.Open("about:blank") // ends the processes
	}
	b.ReportMetric(first/float64(b.N), "first-ms")
	b.ReportMetric(begun/float64(b.N), "live-ms")
}

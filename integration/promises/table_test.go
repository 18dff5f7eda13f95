package promises_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The directories of the tests in the table, from the repository's root.
const (
	here       = "integration/promises"
	background = "recipes/internal/simtest"
	simulation = "recipes/internal/simtest"
	framework_ = "framework"
	lawsDir    = "recipes/locks/lockstest"
	locksDir   = "recipes/locks"
	leaderDir  = "recipes/leader"
	leaderLaws = "recipes/leader/leadertest"
	sharedDir  = "recipes/shared"
	cacheDir   = "recipes/cache"
	nodesDir   = "recipes/nodes"
	discovery_ = "recipes/discovery"
	counters_  = "recipes/counters"
)

// A cell is a test, or a law, or the reason why a recipe does not make a promise.
type cell struct{ dir, test, reason string }

func by(dir, test string) cell { return cell{dir: dir, test: test} }

func none(reason string) cell { return cell{reason: reason} }

// A column is a promise. One story plays it with every recipe, or each recipe has a cell.
type column struct {
	promise string
	story   cell
	cells   map[string]cell
}

// table is the promises that all recipes make.
var table = []column{
	{promise: "survives the end of a session", story: by(here, "TestRecipesOutliveTheirSession")},
	{promise: "starts before its servers", story: by(here, "TestRecipesStartBeforeTheirServers")},
	{promise: "leaves no node, watch or goroutine", story: by(here, "TestRecipesLeaveNoNodeAndNoWatch")},
	{promise: "Close is prompt and reports what stays", story: by(here, "TestClosesArePromptAndReportWhatStays")},
	{promise: "String identifies it", story: by(here, "TestRecipesSayWhatTheyAre")},
	{promise: "returns at its deadline", story: by(simulation, "TestNoCallOutlivesItsContext")},
	{promise: "logs a background failure once, and its end", cells: map[string]cell{
		"mutex":           by(locksDir, "TestTheLogClosesAWaitAtTheLevelAtWhichItSpokeLast"),
		"semaphore mutex": by(locksDir, "TestTheLogClosesAWaitAtTheLevelAtWhichItSpokeLast"),
		"read/write lock": by(locksDir, "TestTheLogClosesAWaitAtTheLevelAtWhichItSpokeLast"),
		"semaphore":       by(background, "shared: the count is no number"),
		"multi-lock":      none("its parts log"),
		"retained lock":   by(locksDir, "TestAWaitThatWarnedInThisProcessIsClosedAtInfoAtTheServers"),
		"latch":           by(background, "leader: a latch may not stand again"),
		"selector":        by(background, "leader: a selector may not stand again"),
		"shared count":    by(background, "shared: the count may not be read"),
		"cache":           by(background, "cache: the tree has outgrown its limit"),
		"persistent node": by(background, "nodes: another session has taken the node"),
		"registration":    by(background, "discovery: a registration waits for its predecessor"),
		"service cache":   by(background, "discovery: an instance cannot be decoded"),
		"counters":        none("they do nothing in the background"),
		"client":          by(framework_, "TestTheFirstFailedAttemptAtAServerIsLoggedAtWarnWithItsReason"),
	}},
	{promise: "bad data has an error", cells: map[string]cell{
		"mutex":           by(lawsDir, "G11 strangers do not block/children of no kind"),
		"semaphore mutex": by(lawsDir, "G11 strangers do not block/children of no kind"),
		"read/write lock": by(lawsDir, "G11 strangers do not block/children of no kind"),
		"semaphore":       by(sharedDir, "TestForeignNodeIsNoCount"),
		"multi-lock":      none("its parts are locks"),
		"retained lock":   by(lawsDir, "G11 strangers do not block/children of no kind"),
		"latch":           by(leaderDir, "TestOnlyLatchesCountForALatch"),
		"selector":        by(lawsDir, "G11 strangers do not block/children of no kind"),
		"shared count":    by(sharedDir, "TestForeignNodeIsNoCount"),
		"cache":           none("it copies data and does not decode them"),
		"persistent node": none("it writes data and does not decode them"),
		"registration":    by(discovery_, "TestAnInstanceIsRefusedWithEverythingThatIsWrongWithIt"),
		"service cache":   by(discovery_, "TestWhatIsNoInstanceIsKeptApart"),
		"counters":        by(counters_, "TestDataOfAnotherLengthAreNoNumber"),
		"client":          none("it returns data and does not decode them"),
	}},
	{promise: "tells its owner first", cells: map[string]cell{
		"mutex":           by(lawsDir, "G2 the holder knows first/a mute network"),
		"semaphore mutex": by(lawsDir, "G2 the holder knows first/a mute network"),
		"read/write lock": by(lawsDir, "G2 the holder knows first/a mute network"),
		"semaphore":       by(lawsDir, "G2 the holder knows first/a mute network"),
		"multi-lock":      by(locksDir, "TestMultiLockOverTwoClientsEndsWithTheShorterSession"),
		"retained lock":   by(locksDir, "TestRetainedLocksKeepTheLaws"),
		"latch":           by(leaderLaws, "G2 a leader that is cut off knows before the next leads"),
		"selector":        by(leaderLaws, "G2 a leader that is cut off knows before the next leads"),
		"shared count":    by(sharedDir, "TestUnfollowedIsClosedWhileThereIsAnError"),
		"cache":           by(cacheDir, "TestStatsSaySinceWhenTheCacheMayBeBehind"),
		"persistent node": none("a path is not exclusive: others may create the node when the session has ended"),
		"registration":    none("an address is not exclusive"),
		"service cache":   by(discovery_, "TestACacheKeepsWhatItHasDuringAnOutageAndReportsTheDifferences"),
		"counters":        none("nobody owns a number"),
		"client":          by("framework/internal/live", "TestBindingsEndBeforeListenersHearOfLost"),
	}},
	{promise: "detects nodes that it did not create", cells: map[string]cell{
		"mutex":           by(lawsDir, "G11 strangers do not block/other libraries' nodes count"),
		"semaphore mutex": by(locksDir, "TestLeasesOfJavaCountAndStrangersDoNot"),
		"read/write lock": by(lawsDir, "G11 strangers do not block/other libraries' nodes count"),
		"semaphore":       by(locksDir, "TestLeasesOfJavaCountAndStrangersDoNot"),
		"multi-lock":      by(lawsDir, "G11 strangers do not block/other libraries' nodes count"),
		"retained lock":   by(locksDir, "TestRetainedLocksKeepTheLaws"),
		"latch":           by(leaderDir, "TestOnlyLatchesCountForALatch"),
		"selector":        by(leaderDir, "TestSelectorAndMutexAtOnePathExcludeEachOther"),
		"shared count":    by(sharedDir, "TestForeignNodeIsNoCount"),
		"cache":           none("it creates no nodes and copies all"),
		"persistent node": by(nodesDir, "TestStartThatEndsBehindAStrangersNodeIsErrForeignAndNothingRemains"),
		"registration":    by(discovery_, "TestASecondProcessWaitsUntilTheFirstHasGone"),
		"service cache":   by(discovery_, "TestWhatIsNoInstanceIsKeptApart"),
		"counters":        by(counters_, "TestDataOfAnotherLengthAreNoNumber"),
		"client":          by(framework_, "TestANodeOfTheOldSessionIsNotAdopted"),
	}},
}

func TestEveryRecipeHasATestOfEveryPromise(t *testing.T) {
	var rows []string
	for _, s := range subjects(nil) {
		rows = append(rows, s.row)
	}
	if len(table) < 10 || len(rows) < 15 { // a table that shrinks must not pass
		t.Errorf("got %d promises of %d recipes, want at least 10 of 15", len(table), len(rows))
	}
	for _, problem := range gaps(table, rows, exists) {
		t.Error(problem)
	}
}

// gaps says what a table lacks.
func gaps(table []column, rows []string, exists func(dir, test string) bool) (problems []string) {
	for _, c := range table {
		if c.story.test != "" && !exists(c.story.dir, c.story.test) {
			problems = append(problems, fmt.Sprintf("%s: there is no story %s", c.promise, c.story.test))
		}
		for row, cell := range c.cells {
			switch {
			case !slices.Contains(rows, row):
				problems = append(problems, fmt.Sprintf("%s: there is no recipe %q", c.promise, row))
			case (cell.reason == "") == (cell.test == ""):
				problems = append(problems, fmt.Sprintf("%s, %s: it has neither a test nor a reason, or both", c.promise, row))
			case cell.test != "" && !exists(cell.dir, cell.test):
				problems = append(problems, fmt.Sprintf("%s, %s: there is no %s in %s", c.promise, row, cell.test, cell.dir))
			}
		}
		for _, row := range rows {
			if _, ok := c.cells[row]; !ok && c.story.test == "" {
				problems = append(problems, fmt.Sprintf("%s, %s: the cell is missing", c.promise, row))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

func TestGapsOfATableAreNamed(t *testing.T) {
	exists := func(dir, test string) bool { return dir+" "+test == here+" TestStory" || dir+" "+test == "a TestA" }
	rows := []string{"mutex", "latch"}
	for _, c := range []struct {
		column column
		want   string
	}{
		{column{promise: "p", story: by(here, "TestStory")}, ""},
		{column{promise: "p", story: by(here, "TestGone")}, "p: there is no story TestGone"},
		{column{promise: "p", cells: map[string]cell{"mutex": by("a", "TestA"), "latch": none("why")}}, ""},
		{column{promise: "p", cells: map[string]cell{"mutex": by("a", "TestA")}}, "p, latch: the cell is missing"},
		{column{promise: "p", story: by(here, "TestStory"), cells: map[string]cell{"mutex": by("b", "TestA")}}, "p, mutex: there is no TestA in b"},
		{column{promise: "p", story: by(here, "TestStory"), cells: map[string]cell{"mutex": {}}}, "p, mutex: it has neither a test nor a reason, or both"},
		{column{promise: "p", story: by(here, "TestStory"), cells: map[string]cell{"queue": none("why")}}, `p: there is no recipe "queue"`},
	} {
		if got := strings.Join(gaps([]column{c.column}, rows, exists), "; "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// exists looks for a test function, or for a literal that begins with the name of a law or of a row.
func exists(dir, test string) bool {
	name := regexp.QuoteMeta(test)
	pattern := regexp.MustCompile(`(?m)^func ` + name + `\(t \*testing\.T\)|(\{name: |\{|^\t+)"` + name + `"[,:]`)
	files, _ := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	return slices.ContainsFunc(files, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && pattern.Match(text)
	})
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/programs"
)

// needNode skips a test without Node.js, or fails it where it is required.
func needNode(t *testing.T) {
	t.Helper()
	mode := os.Getenv("CURATOR_INTEGRATION")
	if mode == "" {
		t.Skip("CURATOR_INTEGRATION is not set: not starting Node.js")
	}
	if _, err := findNode(t.Context()); err != nil {
		if mode == "required" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// inRoot makes the root of the repository the working directory.
func inRoot(t *testing.T) (root string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	return root
}

// command runs the command, with a temporary directory of its own.
func command(t *testing.T, args ...string) (status int, output string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	started := time.Now()
	status = run(t.Context(), args, &out, &out)
	t.Logf("replay %s: %d after %v", strings.Join(args, " "), status, time.Since(started))
	return status, out.String()
}

// plant makes TestPlanted a test of recipes/internal/simtest.
func plant(t *testing.T) {
	t.Helper()
	root := inRoot(t)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "recipes/internal/simtest/planted_test.go"): filepath.Join(root, "integration/replay/testdata/planted.txt"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-overlay="+file)
}

var (
	scheduleFails = regexp.MustCompile(`(?m)^schedule (\d+) fails$`)
	shrunkTo      = regexp.MustCompile(`(?s)\n(\d+) of \d+ faults are enough, under schedule \d+:\n\n(.*?)\n\n`)
	runAgain      = regexp.MustCompile(`(?m)^again: go run github.com/gocurator/curator/integration/replay@latest (.*)$`)
)

func TestAPlantedFailureIsFoundShrunkAndReplayed(t *testing.T) {
	needNode(t)
	plant(t)
	// The planted test fails with a seed only if its faults have what it fails by, so the seed is searched first.
	status, output := command(t, "./recipes/internal/simtest", "-run", "TestPlanted", "-seeds", "100", "-tries", "10")
	if status != failed || !strings.Contains(output, "fails natively with seed ") || !scheduleFails.MatchString(output) {
		t.Fatalf("got the exit code %d and\n%s\nwant a seed and a schedule that fail", status, output)
	}
	shrunk := shrunkTo.FindStringSubmatch(output)
	if shrunk == nil || shrunk[1] != "2" || !strings.Contains(shrunk[2], `{"kind":"cut"}`) || !strings.Contains(shrunk[2], `{"kind":"restart"}`) {
		t.Fatalf("got the faults %q, want a cut of A and a restart, in\n%s", shrunk, output)
	}
	commands := runAgain.FindAllStringSubmatch(output, -1)
	if len(commands) != 2 {
		t.Fatalf("got the commands %q, want one for the failure and one for its few faults, in\n%s", commands, output)
	}
	for _, again := range commands {
		args := strings.Fields(strings.ReplaceAll(again[1], "'", ""))
		status, got := command(t, args...)
		if status != failed || !strings.Contains(output, strings.TrimPrefix(got[:strings.Index(got, "again:")], scheduleFails.FindString(got))) {
			t.Errorf("replay %s: got the exit code %d and\n%s\nwant a part of\n%s", again[1], status, got, output)
		}
	}
}

// A search over many seeds finds the one that fails, and reports how to run it alone.
func TestTheSimulationThatFailedIsRunAlone(t *testing.T) {
	needNode(t)
	plant(t)
	status, output := command(t, "./recipes/internal/simtest", "-run", "Planted", "-shrink", "0", "--", "-seeds", "100")
	again := runAgain.FindStringSubmatch(output)
	if status != failed || again == nil {
		t.Fatalf("got the exit code %d and\n%s\nwant a failure", status, output)
	}
	if want := regexp.MustCompile(`-run '\^TestPlanted\$' -seed \d+ -schedule \d+ -- -seeds 100$`); !want.MatchString(again[1]) {
		t.Errorf("got the command %s, want %v", again[1], want)
	}
}

// user makes a module outside of this repository, with the library as a requirement and one test file, and goes there.
func user(t *testing.T, file string, test []byte) {
	t.Helper()
	root := inRoot(t)
	dir := t.TempDir()
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	_, required, _ := bytes.Cut(module, []byte("\n")) // all but its name
	own := "module example.com/user\n" + string(required) +
		"\nrequire github.com/gocurator/curator v0.0.0\nreplace github.com/gocurator/curator => " + root + "\n"
	for name, text := range map[string]string{"go.mod": own, "go.sum": string(sums), file: string(test)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "-mod=mod")
}

// The page examples/testing shows this test, and what the command prints about it.
func TestAUsersTestFailsAsItsPageShows(t *testing.T) {
	needNode(t)
	test, err := os.ReadFile("../../examples/testing/increments_js_test.go")
	if err != nil {
		t.Fatal(err)
	}
	replay := programs.Build(t)
	user(t, "increments_js_test.go", test)
	args := []string{".", "-run", "TestNoIncrementIsLost"}
	found, err := exec.CommandContext(t.Context(), replay, append(args, "-schedules", "1000")...).Output()
	if err == nil {
		t.Fatalf("got no failure, want one:\n%s", found)
	}
	number := scheduleFails.FindSubmatch(found)
	if number == nil || !bytes.Contains(found, []byte("got 1 jobs, want 2\n--- FAIL: TestNoIncrementIsLost")) {
		t.Fatalf("got\n%s\nwant a schedule that fails, and how", found)
	}
	again, err := exec.CommandContext(t.Context(), replay, append(args, "-schedule", string(number[1]))...).Output()
	if err == nil || !bytes.Equal(again, found) {
		t.Errorf("schedule %s again: got\n%s\nwant\n%s", number[1], again, found)
	}
}

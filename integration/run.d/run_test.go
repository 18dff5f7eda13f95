//go:build unix

// Package run tests integration/run.
package run_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/gocurator/curator/framework/zktest/await"
)

// script runs integration/run and returns its status and what it printed.
func script(t *testing.T, args ...string) (status int, output string) {
	t.Helper()
	return end(t, exec.CommandContext(t.Context(), "../run", args...)) //nolint:gosec // our own
}

func end(t *testing.T, cmd *exec.Cmd) (status int, output string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// A plan is the names of the parts, and what they fetch.
func plan(t *testing.T, args ...string) (parts []string, fetches string) {
	t.Helper()
	status, out := script(t, append([]string{"--plan"}, args...)...)
	if status != 0 {
		t.Fatalf("got status %d\n%s", status, out)
	}
	for line := range strings.Lines(out) {
		if fetched, ok := strings.CutPrefix(line, "fetches: "); ok {
			fetches = strings.TrimSpace(fetched)
			continue
		}
		name, _, _ := strings.Cut(line, " ")
		parts = append(parts, name)
	}
	return parts, fetches
}

func TestArgumentsChooseParts(t *testing.T) {
	const library = "race files vet budget lint pages zookeeper interop"
	for _, c := range []struct{ args, parts, fetches string }{
		{"", library, "cc java zookeeper curator kazoo"},
		{"--no-lint", strings.ReplaceAll(library, "lint ", ""), "cc java zookeeper curator kazoo"},
		{"zklock", "zklock", "cc java zookeeper tmux zsh fish chromium"},
		{"kerberos files", "files kerberos", "cc java zookeeper kdc"},
		{"./recipes/locks -run X", "packages lint", "cc"},
		{"--no-lint ./framework/... ./retry", "packages", "cc"},
		{"--no-lint ./integration/zookeeper -run Kill -v", "packages", "cc java zookeeper"},
		{"--no-lint --load 3 ./integration/interop", "packages", "cc java zookeeper curator kazoo"},
		{"--no-lint ./integration/replay", "packages", "cc node"},
	} {
		parts, fetches := plan(t, strings.Fields(c.args)...)
		if got := strings.Join(parts, " "); got != c.parts || fetches != c.fetches {
			t.Errorf("integration/run %s\n got %s, and fetches %s\nwant %s, and %s", c.args, got, fetches, c.parts, c.fetches)
		}
	}
}

func TestEverythingIsEveryPart(t *testing.T) {
	status, list := script(t, "--list")
	parts, _ := plan(t, "--all")
	var names []string
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	if status != 0 || !slices.Equal(parts, names) {
		t.Errorf("got status %d, and with --all the parts\n%v\nwant those of --list\n%v", status, parts, names)
	}
}

func TestPlantedBugsOfEveryAreaHaveAPart(t *testing.T) {
	files, err := filepath.Glob("../planted/bugs/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("got files %v and %v", files, err)
	}
	status, out := script(t, "--plan", "planted")
	if status != 0 {
		t.Fatalf("got status %d\n%s", status, out)
	}
	areas := strings.FieldsFunc(out, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, file := range files {
		if area := strings.TrimSuffix(filepath.Base(file), ".txt"); !slices.Contains(areas, area) {
			t.Errorf("got no part for the planted bugs of %s in\n%s", area, out)
		}
	}
}

func TestMistakesAreOneSentence(t *testing.T) {
	for args, want := range map[string]string{
		"--fast":                 "unknown flag --fast; flags for go test stand behind packages, such as ./recipes/locks",
		"-run Rule3":             "unknown flag -run; flags for go test stand behind packages, such as ./recipes/locks",
		"zklok":                  "there is no part zklok; integration/run --list shows them",
		"--load":                 "--load needs a number",
		"--load much":            "--load needs a number",
		"--sample few":           `--sample needs a number or "all"`,
		"zklock ./recipes/locks": "say either parts or packages, not zklock and ./recipes/locks",
	} {
		if status, out := script(t, strings.Fields(args)...); status != 2 || out != "integration/run: "+want+"\n" {
			t.Errorf("integration/run %s: got status %d and %q, want 2 and %q", args, status, out, want)
		}
	}
}

func TestAMachineWithoutGoIsToldSo(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"bash", "dirname", "env"} {
		found, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(found, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "../run")
	cmd.Env = []string{"PATH=" + bin, "HOME=" + bin}
	if status, out := end(t, cmd); status != 1 || out != "integration/run: Go is missing: install the version that go.mod names\n" {
		t.Errorf("got status %d and %q", status, out)
	}
}

// parts is a run of parts that a test makes up, in an empty directory.
func parts(t *testing.T, declare string) *exec.Cmd {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", `
		lint=no load=0 verbose=no sample=7 args=() packages=() chosen=()
		for file in parts schedule fetch checks tests; do source "$0/$file.sh"; done
		`+declare+`
		plan=("${!names[@]}")
		begin
		run_all
		summary`, here) //nolint:gosec // our own
	time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // a run that waits for ever fails by its status
	cmd.WaitDelay = time.Second
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+cmd.Dir)
	return cmd
}

// Every part is done, however those before it ended. A failure is told at once, and again at the end.
func TestEveryPartIsDoneAndFailuresAreNamed(t *testing.T) {
	status, out := end(t, parts(t, `
		fetch_thing() { echo "there is no network" >&2; return 1; }
		coloured() { printf '\033[31mred\033[0m\n'; mktemp; }
		part plain library 1 '' 'a part that passes' echo done-plain
		part text library 1 '' 'one that fails' sh -c 'echo the reason; false'
		part lacking library 1 thing 'one that needs a thing' echo done-lacking
		part colours library 2 '' 'one that writes colours and a file' coloured
		part killed library 2 '' 'one whose process is killed' bash -c 'kill -9 $PPID'
		part later library 1 '' 'one that comes later' echo done-later`))
	if status != 1 {
		t.Errorf("got status %d, want 1", status)
	}
	ran, ended, _ := strings.Cut(out, "where the time went")
	for _, want := range []string{"plain: done-plain\n", "later: done-later\n", "colours: red\n", "--- FAILED text: 0:0", "--- ok later: 0:0"} {
		if !strings.Contains(ran, want) {
			t.Errorf("got no %q in what ran:\n%s", want, out)
		}
	}
	if strings.Contains(out, "done-lacking") || strings.ContainsAny(out, "\x1b\r") {
		t.Errorf("got a part without what it needs, or codes of a terminal:\n%q", out)
	}
	if at, next := strings.Index(ran, "--- FAILED text"), strings.Index(ran, "--- later"); at < 0 || next < at {
		t.Errorf("got the failure after the next part:\n%s", out)
	}
	_, failed, _ := strings.Cut(ended, "FAILED: 3 of 6 parts in ")
	_, failed, _ = strings.Cut(failed, "\n")
	const want = `
text (again: integration/run --sample 7 text)
  sh -c echo\ the\ reason\;\ false
    the reason

lacking (again: integration/run --sample 7 lacking)
  thing is not here: there is no network

killed (again: integration/run --sample 7 killed)
  its process was killed
`
	if failed != want {
		t.Errorf("the last lines are\n%s\nwant\n%s", failed, want)
	}
}

// A run that is stopped says what it knows, ends what it has started and leaves no file.
func TestAStoppedRunSaysWhatItKnows(t *testing.T) {
	cmd := parts(t, `
		part bad library 1 '' 'one that fails' false
		part slow library 1 '' 'one that takes long' bash -c 'echo "--- FAIL: TestOne (0.01s)"; mktemp; sleep 1000'
		part next library 1 '' 'one that has to wait' true`)
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, time.Minute, "the second part to run", func() bool { return strings.Contains(out.String(), "slow: /") })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("got status %d, want 130", got)
	}
	_, said, _ := strings.Cut(out.String(), "\nstopped after ")
	_, said, _ = strings.Cut(said, "\n")
	const want = "  FAILED   bad\n  stopped  slow; had failed:\n           --- FAIL: TestOne (0.01s)\n  not run  next\n"
	if said != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
		t.Errorf("got %v and %v in the temporary directory, want nothing", left, err)
	}
	await.Until(t, time.Minute, "the processes to end", func() bool {
		found, _ := exec.CommandContext(t.Context(), "pgrep", "-f", "sleep 1000$").Output()
		return len(found) == 0
	})
}

// lockedBuffer is a bytes.Buffer for a command that still writes.
type lockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// Packages that are tested without the race detector start no goroutine.
func TestPackagesWithoutTheRaceDetectorStartNoGoroutine(t *testing.T) {
	text, err := os.ReadFile("tests.sh")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^without_race=\((.*)\)$`).FindSubmatch(text)
	if list == nil {
		t.Fatal("got no list without_race in tests.sh")
	}
	starts := regexp.MustCompile(`(?m)^\t*go (func|\w+[.(])|\bGo\(|errgroup|t\.Parallel\(\)`)
	for dir := range strings.FieldsSeq(string(list[1])) {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: got files %v and %v", dir, files, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := starts.Find(source); found != nil {
				t.Errorf("%s: got %q, want no goroutine in a package that is tested without the race detector", file, found)
			}
		}
	}
}

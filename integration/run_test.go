//go:build unix

package integration_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// planned returns the phases that integration/run would do, each with its parts if it has several.
func planned(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "./run", append([]string{"--plan"}, args...)...).CombinedOutput() //nolint:gosec // our own
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	phases := map[string][]string{}
	for _, found := range regexp.MustCompile(`(?m)^  +\d+ (\w+) .*\n((?: {14}.*\n)*)`).FindAllStringSubmatch(string(out), -1) {
		phases[found[1]] = nil
		if parts := strings.Join(strings.Fields(found[2]), " "); parts != "" {
			phases[found[1]] = strings.Split(parts, ", ")
		}
	}
	return phases
}

func TestRunDoesOnlyThePhasesThatItsArgumentsNeed(t *testing.T) {
	java := []string{"java", "zookeeper"}
	others := []string{"curator", "kazoo"}
	fetch := func(more ...[]string) []string { return append([]string{"C compiler"}, slices.Concat(more...)...) }
	selected := func(more ...[]string) map[string][]string {
		return map[string][]string{"fetch": fetch(more...), "vet": nil, "test": nil}
	}
	whole := func(lint bool) map[string][]string {
		phases := selected(java, others, []string{"MkDocs", "tmux", "zsh", "fish", "chromium", "Node.js", "promtool", "KDC", "man"})
		phases["files"] = []string{"tidy", "gofmt", "prose", "site"}
		phases["test"] = []string{"test", "under fire"}
		phases["vet"] = []string{"vet", "race", "build", "windows", "darwin", "386", "wasm", "modules", "porting"}
		phases["modules"] = []string{
			"examples/adapters/certmagic", "examples/adapters/gocron", "examples/adapters/goframe", "examples/adapters/kratos",
			"examples/adapters/migrate", "examples/adapters/schedulers", "examples/adapters/tusd", "examples/adapters/vault",
			"examples/kerberos", "examples/observability",
			"integration/bench", "integration/figures", "integration/release", "integration/site", "integration/vet",
		}
		if lint {
			phases["lint"] = []string{"lint", "modules"}
		}
		return phases
	}
	linted := selected()
	linted["lint"] = nil
	for _, tt := range []struct {
		args string
		want map[string][]string
	}{
		{"", whole(true)},
		{"./... -count=2", whole(true)},
		{"--no-lint -v", whole(false)},
		{"./recipes/locks", linted},
		{"--no-lint ./recipes/locks -run X", selected()},
		{"--no-lint ./retry/... ./framework/...", selected()},
		{"--no-lint ./integration/zookeeper -run Kill -v", selected(java)},
		{"--no-lint ./examples", selected(java)},
		{"--no-lint ./integration/replay", selected([]string{"Node.js"})},
		{"--no-lint --load 3 ./integration/interop", selected(java, others)},
	} {
		if got := planned(t, strings.Fields(tt.args)...); !maps.EqualFunc(got, tt.want, slices.Equal) {
			t.Errorf("integration/run %s\n got %v,\nwant %v", tt.args, got, tt.want)
		}
	}
}

// Flags of a package's own tests end go test's: what stands behind them is theirs.
func TestRunNamesPackagesBeforeTheFlagsOfTests(t *testing.T) {
	const args = "--no-lint -run Election -v ./integration/interop -terms 50"
	out, err := exec.CommandContext(t.Context(), "./run", append([]string{"--plan"}, strings.Fields(args)...)...).CombinedOutput() //nolint:gosec // our own
	if want := "go test -race ./integration/interop -run Election -v -terms 50\n"; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("integration/run %s: %v\n got %s\nwant %s", args, err, out, want)
	}
}

// Every part is done, however those before it ended. The last lines are each part that failed: which, its command, and
// why.
func TestRunDoesEveryPartAndNamesWhatFailed(t *testing.T) {
	dir := t.TempDir()
	for _, module := range []string{"good", "bad"} {
		if err := os.MkdirAll(filepath.Join(dir, module), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, module, "go.mod"), []byte("module "+module+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", `
		everything=no load=0
		for part in phases checks tests; do source "$0/run.d/$part.sh"; done
		phase first 1 1 'in modules'
		part plain echo done-plain
		part modules in_modules 2 sh -c 'basename "$PWD"; case $PWD in */bad) exit 3 ;; esac'
		part text sh -c 'echo the reason; false'
		part later echo done-later
		phase last 1 1 'the last'
		part last echo done-last
		run_all
		summary`, here) //nolint:gosec // our own
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 1 {
		t.Errorf("got %v, want status 1", err)
	}
	ran, ended, _ := strings.Cut(string(out), "where the time went")
	for _, want := range []string{"done-plain", "done-later", "done-last"} {
		if !strings.Contains(ran, want) {
			t.Errorf("%q is not in what ran:\n%s", want, out)
		}
	}
	times, failed, _ := strings.Cut(ended, "FAILED: 1 of 2 phases in ")
	for _, want := range []string{` s  first +FAILED\n`, ` s  plain\n`, ` s  modules FAILED\n`, ` s  text FAILED\n`, ` s  later\n`, ` s  last +ok\n`} {
		if !regexp.MustCompile(want).MatchString(times) {
			t.Errorf("%q is not in the times:\n%s", want, out)
		}
	}
	_, failed, _ = strings.Cut(failed, "\n")
	const want = `
[1/2] first: modules
  (cd bad && sh -c basename "$PWD"; case $PWD in */bad) exit 3 ;; esac)
    bad

[1/2] first: text
  sh -c echo\ the\ reason\;\ false
    the reason
`
	if failed != want {
		t.Errorf("the last lines are\n%s\nwant\n%s", failed, want)
	}
}

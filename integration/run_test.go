//go:build unix

package integration_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// planned returns the names of the phases that integration/run would do.
func planned(t *testing.T, args ...string) (names []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "./run", append([]string{"--plan"}, args...)...).CombinedOutput() //nolint:gosec // our own
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, line := range regexp.MustCompile(`(?m)^  +\d+ (.{13}) `).FindAllStringSubmatch(string(out), -1) {
		names = append(names, strings.TrimSpace(line[1]))
	}
	return names
}

func TestRunDoesOnlyThePhasesThatItsArgumentsNeed(t *testing.T) {
	java := []string{"java", "zookeeper"}
	others := []string{"curator", "kazoo"}
	whole := []string{
		"tidy", "gofmt", "prose", "build", "vet windows", "vet darwin", "vet 386", "modules", "porting", "telemetry", "KDC", "kerberos", "adapters", "bench", "figures", "release", "tmux", "chromium", "Node.js", "promtool", "lint modules",
	}
	always := []string{"C compiler", "vet", "test"}
	for _, tt := range []struct {
		args string
		want [][]string
	}{
		{"", [][]string{always, java, others, whole, {"lint"}}},
		{"./... -count=2", [][]string{always, java, others, whole, {"lint"}}},
		{"--no-lint -v", [][]string{always, java, others, whole[:len(whole)-1]}},
		{"./recipes/locks", [][]string{always, {"lint"}}},
		{"--no-lint ./recipes/locks -run X", [][]string{always}},
		{"--no-lint ./retry/... ./framework/...", [][]string{always}},
		{"--no-lint ./integration/zookeeper -run Kill -v", [][]string{always, java}},
		{"--no-lint ./examples", [][]string{always, java}},
		{"--no-lint ./integration/replay", [][]string{always, {"Node.js"}}},
		{"--no-lint --load 3 ./integration/interop", [][]string{always, java, others}},
	} {
		got, want := planned(t, strings.Fields(tt.args)...), slices.Concat(tt.want...)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("integration/run %s\n got %v,\nwant %v", tt.args, got, want)
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

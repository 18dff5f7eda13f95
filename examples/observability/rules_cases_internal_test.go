package observability

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// promtool is Prometheus' own judge of rules. integration/run fetches it.
func promtool(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("promtool"); err == nil {
		return path
	}
	fetched := "../../integration/.cache/promtool/usr/bin/promtool"
	if _, err := os.Stat(fetched); err != nil {
		if os.Getenv("CURATOR_INTEGRATION") == "required" {
			t.Fatal("there is no promtool: ", err)
		}
		t.Skip("there is no promtool: ", err)
	}
	return fetched
}

func TestAlertsFireInTheirCasesAndNotOtherwise(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), promtool(t), "test", "rules", "rules_cases.yaml").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestEachAlertHasACaseInWhichItFires(t *testing.T) {
	rules, err := os.ReadFile("rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile("rules_cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`- alert: (\w+)`).FindAllSubmatch(rules, -1)
	if len(found) < 8 {
		t.Errorf("got %d alerts, want at least 8", len(found))
	}
	for _, alert := range found {
		fires := regexp.MustCompile(`alertname: ` + string(alert[1]) + `\n\s+exp_alerts:( &\w+)?\n`)
		if !fires.Match(cases) {
			t.Errorf("%s: got no case in which it fires", alert[1])
		}
		if !strings.Contains(string(cases), "alertname: "+string(alert[1])+", exp_alerts: []") {
			t.Errorf("%s: got no case in which it does not fire", alert[1])
		}
	}
}

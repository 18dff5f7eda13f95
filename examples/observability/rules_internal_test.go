package observability

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v2"
)

// exported are the names of the metrics that a run exports, with their labels. Of histograms there are three.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	names := map[string][]string{}
	everything(t, func(t *testing.T, w world) {
		t.Helper()
		families, err := w.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			labels := []string{} // not nil: a metric without labels is there, too
			for _, label := range family.GetMetric()[0].GetLabel() {
				labels = append(labels, label.GetName())
			}
			name := family.GetName()
			names[name] = labels
			if family.GetMetric()[0].GetHistogram() != nil {
				delete(names, name)
				names[name+"_bucket"], names[name+"_sum"], names[name+"_count"] = append(labels, "le"), labels, labels
			}
		}
	})
	return names
}

// wantExpression fails unless an expression is balanced, and its metrics and labels are exported.
func wantExpression(t *testing.T, where, expr string, names map[string][]string) {
	t.Helper()
	for _, pair := range []string{"()", "{}", "[]"} {
		if strings.Count(expr, pair[:1]) != strings.Count(expr, pair[1:]) {
			t.Errorf("%s: %s is not balanced in %q", where, pair, expr)
		}
	}
	used := regexp.MustCompile(`curator_\w+`).FindAllString(expr, -1)
	if len(used) == 0 {
		t.Errorf("%s: got no metric of ours in %q", where, expr)
	}
	allowed := []string{"instance", "job"}
	for _, name := range used {
		labels, ok := names[name]
		if !ok {
			t.Errorf("%s: there is no metric %s", where, name)
		}
		allowed = append(allowed, labels...)
	}
	var labels []string
	for _, by := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		labels = append(labels, strings.Split(by[1], ", ")...)
	}
	for _, matcher := range regexp.MustCompile(`[{,]\s*(\w+)\s*[=!]`).FindAllStringSubmatch(expr, -1) {
		labels = append(labels, matcher[1])
	}
	for _, label := range labels {
		if !slices.Contains(allowed, label) {
			t.Errorf("%s: none of %v has the label %s", where, used, label)
		}
	}
}

func TestAlertRulesAskForWhatIsExported(t *testing.T) {
	text, err := os.ReadFile("rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	names := exported(t)
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) < 5 {
		t.Fatalf("got %+v, want a group of rules", file)
	}
	for _, rule := range file.Groups[0].Rules {
		wantExpression(t, rule.Alert, rule.Expr, names)
		if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["action"] == "" {
			t.Errorf("%s: got %+v, want a severity, a summary, and what to do", rule.Alert, rule)
		}
		if _, err := time.ParseDuration(rule.For); rule.For != "" && err != nil {
			t.Errorf("%s: %v", rule.Alert, err)
		}
	}
}

// A client in health must not raise the alarm, whatever its session timeout: its leases are valid for half of it or
// more.
func TestLeaseRunsOutIsRelativeToTheSessionTimeout(t *testing.T) {
	text, err := os.ReadFile("rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	share := regexp.MustCompile(`expr: curator_lease_validity_seconds < ([\d.]+) \* curator_client_session_timeout_seconds`)
	found := share.FindSubmatch(text)
	if found == nil {
		t.Fatal("got no share of the session timeout in rules.yaml")
	}
	if got, err := strconv.ParseFloat(string(found[1]), 64); err != nil || got >= 0.48 {
		t.Errorf("got an alarm at %v of the session timeout (%v), want less than what is left in health", got, err)
	}
}

func TestDashboardAsksForWhatIsExported(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		UID    string
		Panels []struct {
			ID          int
			Title, Type string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr, LegendFormat string }
			FieldConfig struct{ Defaults struct{ Unit string } }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	names := exported(t)
	taken := map[[2]int]string{}
	for _, p := range dashboard.Panels {
		place := [2]int{p.GridPos.X, p.GridPos.Y}
		if other := taken[place]; other != "" || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s: its place is taken by %q, or outside", p.Title, other)
		}
		taken[place] = p.Title
		if p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("%s: got no unit or no target", p.Title)
		}
		for _, target := range p.Targets {
			wantExpression(t, p.Title, target.Expr, names)
		}
	}
	if len(dashboard.Panels) < 8 || dashboard.UID == "" {
		t.Errorf("got %d panels, want at least 8", len(dashboard.Panels))
	}
}

func TestPageListsEveryMetric(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range exported(t) {
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if !strings.Contains(string(page), "`"+name) {
			t.Errorf("README.md does not list %s", name)
		}
	}
	for _, name := range regexp.MustCompile("`(curator_\\w+)").FindAllStringSubmatch(string(page), -1) {
		all := exported(t)
		if all[name[1]] == nil && all[name[1]+"_bucket"] == nil && !strings.HasPrefix(name[1], "curator_client_") {
			t.Errorf("README.md lists %s, which is not exported", name[1])
		}
	}
}

package observability

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/semconv/v1.37.0/cicdconv"
	"go.opentelemetry.io/otel/semconv/v1.37.0/dbconv"
	"go.opentelemetry.io/otel/semconv/v1.37.0/processconv"
	"go.opentelemetry.io/otel/semconv/v1.37.0/systemconv"
)

// rows are those of a table of CONVENTIONS.md whose first column is a name in backticks, each as its columns.
func rows(t *testing.T, section string) (all [][]string) {
	t.Helper()
	page, err := os.ReadFile("CONVENTIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "\n## "+section+"\n")
	if !found {
		t.Fatalf("CONVENTIONS.md has no section %s", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for _, line := range regexp.MustCompile("(?m)^\\| (`.*) \\|$").FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Split(line[1], " | "))
	}
	return all
}

// keys are the attributes of several sets, as the page lists them.
func keys(sets ...[]attribute.KeyValue) string {
	var all []string
	for _, set := range sets {
		for _, a := range set {
			all = append(all, "`"+string(a.Key)+"`")
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// shape is the instrument that has made the data, and the attributes of the points.
func shape(t *testing.T, m metricdata.Metrics) (instrument, attributes string) {
	t.Helper()
	var sets [][]attribute.KeyValue
	sum := map[bool]string{true: "counter", false: "updowncounter"}
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes.ToSlice())
		}
		return sum[data.IsMonotonic], keys(sets...)
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes.ToSlice())
		}
		return sum[data.IsMonotonic], keys(sets...)
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes.ToSlice())
		}
		return "gauge", keys(sets...)
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes.ToSlice())
		}
		return "histogram", keys(sets...)
	default:
		t.Fatalf("%s: got %T, which the page has no word for", m.Name, data)
		return "", ""
	}
}

func wantRows(t *testing.T, section string, got, want map[string]string) {
	t.Helper()
	for name, row := range want {
		if got[name] != row {
			t.Errorf("%s, %s: got %q, CONVENTIONS.md has %q", section, name, got[name], row)
		}
	}
	for name, row := range got {
		if want[name] == "" {
			t.Errorf("%s: CONVENTIONS.md lacks %s, %s", section, name, row)
		}
	}
}

func TestConventionsListWhatIsEmitted(t *testing.T) {
	wantMetrics, wantSpans := map[string]string{}, map[string]string{}
	for _, row := range rows(t, "Metrics") {
		wantMetrics[row[0]] = strings.Join(row[1:4], " | ")
	}
	for _, row := range rows(t, "Spans") {
		wantSpans[row[0]] = strings.Join(row[1:], " | ")
	}
	everything(t, func(t *testing.T, w world) {
		t.Helper()
		var all metricdata.ResourceMetrics
		if err := w.reader.Collect(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		metrics, spans := map[string]string{}, map[string]string{}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				instrument, attributes := shape(t, m)
				metrics["`"+m.Name+"`"] = instrument + " | " + m.Unit + " | " + attributes
			}
		}
		wantRows(t, "Metrics", metrics, wantMetrics)
		sets := map[string][][]attribute.KeyValue{}
		for _, s := range w.spans.GetSpans() {
			verb, _, _ := strings.Cut(s.Name, " ")
			name := map[string]string{
				"acquire": "`acquire {lock.name}`", "hold": "`hold {lock.name}`", "zookeeper": "`zookeeper {db.operation.name}`",
			}[verb]
			sets[name] = append(sets[name], s.Attributes)
			spans[name] = s.SpanKind.String() + " | " + keys(sets[name]...)
		}
		wantRows(t, "Spans", spans, wantSpans)
	})
}

// What a name follows is a name of OpenTelemetry, with the same unit or, of things that are counted, another such word.
func TestConventionsFollowNamesThatExist(t *testing.T) {
	units := map[string]string{}
	for _, existing := range []interface {
		Name() string
		Unit() string
	}{
		dbconv.ClientOperationDuration{},
		dbconv.ClientConnectionCount{},
		dbconv.ClientConnectionPendingRequests{},
		dbconv.ClientConnectionTimeouts{},
		dbconv.ClientConnectionUseTime{},
		dbconv.ClientConnectionWaitTime{},
		cicdconv.PipelineRunActive{},
		processconv.Uptime{},
		systemconv.CPUTime{},
		systemconv.MemoryUsage{},
		systemconv.PagingFaults{},
		systemconv.ProcessCount{},
	} {
		units["`"+existing.Name()+"`"] = existing.Unit()
	}
	thing := regexp.MustCompile(`^\{\w+\}$`)
	for _, row := range rows(t, "Metrics") {
		unit, follows := row[2], row[4]
		if follows == "none" {
			continue
		}
		got := units[follows]
		if things := thing.MatchString(got) && thing.MatchString(unit); got != unit && !things {
			t.Errorf("%s in %s follows %s, which has %q", row[0], unit, follows, got)
		}
	}
}

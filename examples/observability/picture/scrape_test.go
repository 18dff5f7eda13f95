package picture_test

import (
	"io"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// scrape writes what a registry has now.
func scrape(t *testing.T, out io.Writer, registry *prometheus.Registry) {
	t.Helper()
	now := time.Now().UnixMilli()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			m.TimestampMs = &now
		}
		if _, err := expfmt.MetricFamilyToOpenMetrics(out, family); err != nil {
			t.Fatal(err)
		}
	}
}

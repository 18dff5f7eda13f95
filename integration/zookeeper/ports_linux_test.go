package zookeeper_test

import (
	"testing"

	"github.com/gocurator/curator/integration/zookeeper"
)

// There are 22,000 ports: of 500 that were drawn without a look at the others, some would be the same.
func TestAPortIsGivenOutOnce(t *testing.T) {
	drawn := map[int]bool{}
	for range 500 {
		port, err := zookeeper.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if drawn[port] {
			t.Errorf("got port %d twice, want each once", port)
		}
		drawn[port] = true
	}
}

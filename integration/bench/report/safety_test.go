package report_test

import (
	"strings"
	"testing"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/stats"
)

func TestSafetyHasPromisesAndWhatWasLeft(t *testing.T) {
	r := measured()
	r.Conditions.Missing = map[string]string{"nats": "not installed"}
	for impl, found := range map[string]stats.Residue{"etcd": {Ended: 435, Left: 363}, plan.Ours: {Ended: 1091}, "redislock": {}} {
		r.Residue = append(r.Residue, report.Residue{Impl: impl, Found: found}, report.Residue{Impl: impl, Contended: true, Found: stats.Residue{Ended: 7}})
	}
	r.Residue = append(r.Residue, report.Residue{Impl: "postgres", Failed: "no connection"})
	var text strings.Builder
	if err := r.Table(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| this library | yes, by its own clock | yes, FencingToken; Check in a transaction | yes, with an ensemble | yes | 0 of 1091 | 0 of 7 |\n",
		"| yes, the revision in Mutex.Header; IsOwner in a transaction | yes, with a cluster | yes | 363 of 435 | 0 of 7 |\n",
		"| yes | takes no context | takes no context |\n", // Java Curator
		"| no, each tries again after a pause | no context ended first | 0 of 7 |\n",
		"| yes, save for deadlocks | failed | not measured |\n",
		"| no, all waiters try | not installed | not installed |\n",
		"* etcd: a key of an ended first request stays until the session ends, or takes the lock again\n",
		"* etcd: etcd 3.7.3: client/v3/concurrency/session.go (NewSession)",
		"* what postgres leaves could not be measured: no connection\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, text.String())
		}
	}
}

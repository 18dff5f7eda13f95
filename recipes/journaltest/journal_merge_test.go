package journaltest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
)

// A server's clock is set back by a second between two transactions, or one was written with no time.
func TestMergeKeepsTheOrderOfZxidsWhenTheTimeIsSetBack(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	merged := journaltest.Merge(
		[]zktest.Transaction{{Zxid: 1, At: at(5)}, {Zxid: 2, At: at(4)}, {Zxid: 3}, {Zxid: 4, At: at(7)}},
		[]journaltest.Event{{At: at(5), Client: "a"}, {At: at(6), Client: "b"}}, []journaltest.Event{{At: at(4), Client: "c"}},
	)
	var got []string
	for _, e := range merged {
		if e.Transaction != nil {
			got = append(got, fmt.Sprint(e.Transaction.Zxid))
		} else {
			got = append(got, e.Client)
		}
	}
	if want := []string{"c", "1", "2", "3", "a", "b", "4"}; !slices.Equal(got, want) {
		t.Errorf("got the order %q, want %q", got, want)
	}
}

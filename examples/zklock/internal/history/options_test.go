package history_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
)

// turns are five holds, one after the other, and one that lasts.
func turns() []zktest.Transaction {
	return replay("create 1 lock-01", "delete 1 lock-01", "create 2 lock-02", "delete 2 lock-02", "create 3 lock-03",
		"delete 3 lock-03", "create 4 lock-04", "delete 4 lock-04", "create 5 lock-05", "delete 5 lock-05", "create 6 lock-06")
}

func TestTheNewestContendersAreKept(t *testing.T) {
	for most, want := range map[int]int{0: 6, 1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 9: 6} { // with the one that is there
		h := history.Of("/l", slices.Values(turns()), history.Options{Most: most})
		got := h.Locks[0].Contenders
		if len(got) != want || h.Omitted != 6-want || got[len(got)-1].Path != at("lock-06") || got[0].Czxid != int64(2*(6-want)+1) {
			t.Errorf("most %d: got %d contenders from zxid %d, and %d omitted, want %d and %d", most, len(got), got[0].Czxid, h.Omitted, want, 6-want)
		}
	}
}

func TestContendersOutsideOfATimeAreLeftOut(t *testing.T) {
	second := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	for name, test := range map[string]struct {
		o    history.Options
		want []string
	}{
		"from": {history.Options{From: second(9)}, []string{"lock-05 9 9 10 released", "lock-06 11 11 0"}},
		"to":   {history.Options{To: second(3)}, []string{"lock-01 1 1 2 released", "lock-02 3 3 4 released"}},
		"both": {history.Options{From: second(4), To: second(6)}, []string{"lock-02 3 3 4 released", "lock-03 5 5 6 released"}},
	} {
		if got := lines(history.Of("/l", slices.Values(turns()), test.o)); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func TestLeasesThatAreOlderThanTheLogsSayTheLimit(t *testing.T) {
	all := replay("create 1 leases/lease-01", "create 2 leases/lease-02", "create 3 leases/lease-03", "create 4 locks/lock-01")
	h := history.Of("/l", slices.Values(all), history.Options{Begin: txnlog.Moment{Zxid: 4, At: noon}})
	if got := h.Locks[0].Limit; got != 3 {
		t.Errorf("got a limit of %d, want 3", got)
	}
	for _, c := range h.Locks[0].Contenders[:3] {
		if !c.LetInEarlier {
			t.Errorf("%s: got it not to be let in before the logs", c.Path)
		}
	}
}

func TestAsManyLeasesAsTheLimitAreLetIn(t *testing.T) {
	for _, test := range []struct {
		limit int
		steps []string
		want  []string
	}{
		{
			2,
			[]string{"create 1 leases/lease-01", "create 2 leases/lease-02", "create 3 leases/lease-03", "delete 1 leases/lease-01"},
			[]string{"leases/lease-01 1 1 4 released", "leases/lease-02 2 2 0", "leases/lease-03 3 4 0"},
		},
		{0, []string{"create 1 locks/lock-01", "create 1 leases/lease-01"}, []string{"leases/lease-01 1 2 0"}}, // at least 1
	} {
		if got := lines(history.Of("/l", slices.Values(replay(test.steps...)), history.Options{Limit: test.limit})); !slices.Equal(got, test.want) {
			t.Errorf("limit %d: got %q, want %q", test.limit, got, test.want)
		}
	}
}

func TestARequestToLeaveThatIsOlderThanTheLogsIsKnown(t *testing.T) {
	all := replay("create 1 lock-01", "create 2 lock-02", "create 3 lock-03")
	all[0].Changes[0].Data = []byte("__REVOKE__")
	h := history.Of("/l", slices.Values(all), history.Options{Begin: txnlog.Moment{Zxid: 3, At: noon}})
	for i, c := range h.Locks[0].Contenders {
		if c.AskedEarlier != (i == 0) {
			t.Errorf("%s: got %t, want %t", c.Path, c.AskedEarlier, i == 0)
		}
	}
}

func TestALeaseThatIsOlderThanTheLogsAndIsTakenBackIsNotLetIn(t *testing.T) {
	all := replay("create 1 leases/lease-01", "create 2 locks/lock-01", "create 2 leases/lease-02", "delete 1 leases/lease-01",
		"delete 2 leases/lease-02", "delete 2 locks/lock-01")
	h := history.Of("/l", slices.Values(all), history.Options{Limit: 1, Begin: txnlog.Moment{Zxid: 4, At: noon}})
	want := []string{"leases/lease-01 1 1 4 released", "leases/lease-02 2 0 5 unknown"}
	if got := lines(h); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

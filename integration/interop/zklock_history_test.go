//go:build linux

package interop_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/programs"
)

// A zklockHistory is what zklock history says of each contender, by the name of its node.
type zklockHistory map[string]zklockContender

type zklockContender struct {
	Path, How, Session string
	LetIn              *struct{ Zxid string } `json:"let_in"`
}

// zklockHistory has zklock read the files of the running server.
func (r *run) zklockHistory() zklockHistory {
	r.t.Helper()
	zklock := filepath.Join(r.t.TempDir(), "zklock")
	build := programs.GoBuild(r.t.Context(), "-o", zklock, "github.com/gocurator/curator/examples/zklock")
	if output, err := build.CombinedOutput(); err != nil {
		r.t.Fatalf("build zklock: %v\n%s", err, output)
	}
	output, err := programs.Command(r.t, zklock, "history", "-json", "-most", "0", "-limit", "2", r.server.DataDir(), "/").Output()
	var found struct {
		Locks []struct{ Contenders []json.RawMessage }
	}
	if err := errors.Join(err, json.Unmarshal(output, &found)); err != nil {
		r.t.Fatalf("zklock history: %v", err)
	}
	all, hows := zklockHistory{}, map[string]int{}
	for _, lock := range found.Locks {
		for _, text := range lock.Contenders {
			var c zklockContender
			if err := json.Unmarshal(text, &c); err != nil {
				r.t.Fatal(err)
			}
			all[c.Path] = c
			hows[c.How]++
		}
	}
	fmt.Fprintf(r.t.Output(), "zklock history: %d contenders: %v\n", len(all), hows)
	return all
}

// A disturbance is a fault of contenders, or of the server and so of all.
type disturbance struct {
	span
	whos     []string
	ofServer bool
}

// disturbed reports whether a fault can have kept a release from the server until the session of the hold expired.
func (r *run) disturbed(h hold) bool {
	return slices.ContainsFunc(r.disturbances, func(d disturbance) bool { return d.keptBack(h, r.timeout) })
}

// keptBack reports whether a fault of the hold's contender, or of the server, was there between its release and the
// removal of its node, or ended no more than a session's timeout before.
func (d disturbance) keptBack(h hold, timeout time.Duration) bool {
	return (d.ofServer || slices.Contains(d.whos, h.who)) && d.from <= h.removed.to && h.to <= d.to+int64(timeout)
}

// differences are those between what the processes reported of their holds, and what zklock says. A release that a
// fault, or a machine that stalled, has kept from the server is none to it. The session expires, or is closed when its
// client ends. A fault that begins before the end of a hold may also keep back the removal of the semaphore's gate node.
// If the server removes the lease first, its log shows what a client that gives up does.
func (z zklockHistory) differences(path string, holds []hold, disturbed func(hold) bool) (wrong []string) {
	for _, h := range holds {
		c, ok := z[path+"/"+h.node]
		released, early := h.ours() && !h.lost && !h.killed, h
		early.removed.to = h.to
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("zklock does not know %v", h))
		case (c.LetIn == nil || c.How == "gave up") && !(strings.HasSuffix(path, "/leases") && disturbed(early)):
			wrong = append(wrong, fmt.Sprintf("zklock says %+v of %v", c, h))
		case released && (c.How == "removed") == (h.removed.by == h.removed.owner):
			wrong = append(wrong, fmt.Sprintf("zklock says %+v of %v, which its client released", c, h))
		case released && c.How != "released" && c.How != "removed" && !h.unconfirmed && !disturbed(h):
			wrong = append(wrong, fmt.Sprintf("zklock says %+v of %v, which its client released without a fault", c, h))
		case h.removed.owner != 0 && c.Session != "0x"+strings.TrimLeft(fmt.Sprintf("%x", uint64(h.removed.owner)), "0"):
			wrong = append(wrong, fmt.Sprintf("zklock says %+v of %v, whose session was %#x", c, h, h.removed.owner))
		}
	}
	return wrong
}

// A hold of a client that released it, from 10 to 50 s, whose node went at 60 s.
func TestAReleasedHoldMayExpireBesideAFaultAlone(t *testing.T) {
	const second = int64(time.Second)
	who, node := ours+"-1", "x-lock-0000000001"
	h := hold{who: who, node: node, from: 10 * second, to: 50 * second, removed: removal{span{60 * second, 60 * second}, 7, 7}}
	z := func(how string) zklockHistory {
		return zklockHistory{"/path/" + node: {How: how, Session: "0x7", LetIn: &struct{ Zxid string }{"0x1"}}}
	}
	fault := func(from, to int64, ofServer bool, whos ...string) *disturbance {
		return &disturbance{span{from * second, to * second}, whos, ofServer}
	}
	for name, test := range map[string]struct {
		how   string
		fault *disturbance
		wrong int
	}{
		"released":                              {"released", nil, 0},
		"expired without a fault":               {"expired", nil, 1},
		"closed without a fault":                {"closed", nil, 1},
		"expired beside a fault":                {"expired", fault(40, 55, false, "other-1", who), 0},
		"expired after a fault":                 {"expired", fault(40, 49, false, who), 0},
		"expired long after a fault":            {"expired", fault(40, 47, false, who), 1},
		"expired before a fault":                {"expired", fault(61, 70, false, who), 1},
		"expired beside a fault of another":     {"expired", fault(40, 55, false, "other-1"), 1},
		"expired beside a fault of the server":  {"expired", fault(40, 55, true, "other-1"), 0},
		"removed by its own, beside a fault":    {"removed", fault(40, 55, false, who), 1},
		"gave up, although it held":             {"gave up", fault(40, 55, false, who), 1},
		"a way to end that zklock does not say": {"", fault(40, 47, false, who), 1},
	} {
		disturbed := func(h hold) bool { return test.fault != nil && test.fault.keptBack(h, 2*time.Second) }
		if got := z(test.how).differences("/path", []hold{h}, disturbed); len(got) != test.wrong {
			t.Errorf("%s: got %q, want %d differences", name, got, test.wrong)
		}
	}
	leases := zklockHistory{"/path/leases/" + node: {How: "gave up", Session: "0x7"}}
	for from, want := range map[int64]int{49: 0, 51: 1} { // the removal is kept back in both cases
		disturbed := func(h hold) bool { return fault(from, 59, true).keptBack(h, 2*time.Second) }
		if got := leases.differences("/path/leases", []hold{h}, disturbed); len(got) != want {
			t.Errorf("a lease given up, beside a fault from %d s on: got %q, want %d differences", from, got, want)
		}
	}
	record := newHistory()
	record.closed = []hold{h}
	for _, c := range []struct {
		reason string
		wrong  int
	}{{"no answer to the removal of node another", 1}, {`release "/path": removal of node ` + node + ": no answer", 0}} {
		record.failed(who, c.reason)
		got := z("expired").differences("/path", record.closed, func(hold) bool { return false })
		if len(got) != c.wrong {
			t.Errorf("%s: got %q, want %d differences", c.reason, got, c.wrong)
		}
	}
}

//go:build linux

package zklock_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// startLead runs zklock lead, and returns the address of its answers.
func startLead(t *testing.T, server, name string, args ...string) (r *running, address string) {
	t.Helper()
	r, _ = startProgram(t, server, program, with([]string{"lead", "-listen", "127.0.0.1:0", "-name", name, "-promise", "100ms"}, args...)...)
	r.awaitOutput("http://")
	address, _, _ = strings.Cut(r.output(), "\n")
	return r, address
}

// wantLeader waits until a participant answers that it leads, or that another one does.
func wantLeader(t *testing.T, address, name string, status int) {
	t.Helper()
	await.Until(t, patience, address+" to say that "+name+" leads", func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/am-i-leader", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		var got struct{ Name string }
		return json.NewDecoder(response.Body).Decode(&got) == nil && got.Name == name && response.StatusCode == status
	})
}

func TestLeadAnswersWhoLeadsAndReleasesAtTerm(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	a, atA := startLead(t, server.Addr(), "pod-a", "/leaders/x")
	wantLeader(t, atA, "pod-a", http.StatusOK)
	b, atB := startLead(t, server.Addr(), "pod-b", "-json", "/leaders/x")
	if !strings.Contains(atB, `"address":"http://127.0.0.1:`) {
		t.Fatalf("with -json got %q first, want an object with the address", atB)
	}
	var first struct{ Address string }
	if err := json.Unmarshal([]byte(atB), &first); err != nil {
		t.Fatal(err)
	}
	wantLeader(t, first.Address, "pod-a", http.StatusServiceUnavailable)
	began := time.Now()
	a.signal(syscall.SIGTERM)
	a.wantStatus(143)
	wantLeader(t, first.Address, "pod-b", http.StatusOK)
	if d := time.Since(began); d > removal {
		t.Errorf("the next one led after %v, want no wait for the end of a session", d)
	}
	b.awaitOutput(`"event":"leads"`)
	if got, want := a.wholeOutput(), "this one does not lead any more: the leadership is being released"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
	b.signal(syscall.SIGINT)
	b.wantStatus(130)
	wantNodes(t, server, "/leaders/x", 0)
}

// zklock run -leader and zklock revoke know the participant.
func TestLeadStandsBesideRunAndLeavesWhenItIsAsked(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	a, at := startLead(t, server.Addr(), "pod-a", "/leaders/x")
	wantLeader(t, at, "pod-a", http.StatusOK)
	r := start(t, server.Addr(), with([]string{"-leader", "-data", "commander", "/leaders/x"}, script("echo in; exec sleep 1000")...)...)
	wantNodes(t, server, "/leaders/x", 2)
	wantOutput(t, server.Addr(), 0, []string{"pod-a", "commander"}, "who", "/leaders/x")
	wantOutput(t, server.Addr(), 0, nil, "revoke", "/leaders/x")
	r.awaitOutput("in")
	wantLeader(t, at, "commander", http.StatusServiceUnavailable)
	r.signal(syscall.SIGTERM)
	wantLeader(t, at, "pod-a", http.StatusOK)
	a.signal(syscall.SIGTERM)
	a.wantStatus(143)
}

func TestLeadEndsWhenTheLeadershipIsLost(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	ends, at := startLead(t, server.Addr(), "pod-a", "/leaders/x")
	stays, atStays := startLead(t, server.Addr(), "pod-b", "-exit-on-loss=false", "/leaders/y")
	wantLeader(t, at, "pod-a", http.StatusOK)
	wantLeader(t, atStays, "pod-b", http.StatusOK)
	for _, path := range []string{"/leaders/x", "/leaders/y"} {
		if err := server.Delete(path + "/" + server.Children(path)[0]); err != nil {
			t.Fatal(err)
		}
	}
	ends.wantStatus(79)
	if got, want := ends.errors(), "leadership was lost: "; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
	stays.awaitOutput("the leadership is lost: ")
	wantLeader(t, atStays, "pod-b", http.StatusOK)
	stays.signal(syscall.SIGTERM)
	stays.wantStatus(143)
}

func TestLeadRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	for want, c := range map[string]struct {
		status int
		args   []string
	}{
		"say -insecure":            {64, []string{"-listen", ":0", "/leaders/x"}},
		"no path of an election":   {64, []string{"/"}},
		"-name is empty":           {64, []string{"-name", "", "/leaders/x"}},
		"-promise -1s":             {64, []string{"-promise", "-1s", "/leaders/x"}},
		"got 0 paths":              {64, nil},
		"a quarter of the session": {78, []string{"-listen", "127.0.0.1:0", "-promise", "1h", "/leaders/x"}},
		"would ask the leader":     {70, []string{"-listen", "127.0.0.1:0", "-name", "__REVOKE__", "/leaders/x"}},
	} {
		r, _ := startProgram(t, server.Addr(), program, with([]string{"lead"}, c.args...)...)
		r.wantStatus(c.status)
		if got := r.errors(); !strings.Contains(got, want) {
			t.Errorf("%v: got %q, want %q in it", c.args, got, want)
		}
	}
	r, _ := startProgram(t, refusing(t), program, "lead", "-listen", "127.0.0.1:0", "-connect-timeout", "1s", "/leaders/x")
	r.wantStatus(69)
}

package contact_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/contact"
	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// patience is for answers that come, on a machine that is busy.
const patience = time.Minute

func session(t *testing.T, servers string) framework.Session {
	t.Helper()
	client, err := framework.NewClient(servers, framework.WithConnectionTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	s, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClientsOfAServerAreTold(t *testing.T) {
	server, frozen := zktest.New(t), zktest.New(t)
	holder, asks := session(t, server.Addr()), session(t, server.Addr())
	frozen.Freeze()
	defer frozen.Unfreeze()
	const limit = 10 * time.Second // the live server needs far less
	servers := fourletter.Servers(server.Addr()+","+frozen.Addr(), nil, limit)
	own := contact.Own{Session: asks.ID(), Timeout: asks.Timeout()}
	report := contact.Ask(t.Context(), servers, own, []int64{holder.ID()}, limit)
	if trouble := fourletter.TroubleOf(report.Answers[1].Cons); trouble != fourletter.NotAsked {
		t.Errorf("got trouble %d of the frozen server, want that it was not asked to the end: all was known", trouble)
	}
	c := report.Client(holder.ID())
	if c.State != contact.Alive || c.Server != server.Addr() || !strings.HasPrefix(c.Address, "127.0.0.1:") || c.Timeout != holder.Timeout() {
		t.Errorf("got %+v, want a client that is alive at %s, with a session of %v", c, server.Addr(), holder.Timeout())
	}
	text, err := json.Marshal(report)
	if err != nil || strings.Contains(string(text), "_error") {
		t.Errorf("got %s, %v, want no error of a server that was not asked to the end", text, err)
	}
}

func TestReportWaitsForWhatIsUnknownAndNoLonger(t *testing.T) {
	server, frozen := zktest.New(t), zktest.New(t)
	asks := session(t, server.Addr())
	frozen.Freeze()
	defer frozen.Unfreeze()
	const limit = 300 * time.Millisecond
	servers := fourletter.Servers(server.Addr()+","+frozen.Addr(), nil, limit)
	begun := time.Now()
	report := contact.Ask(t.Context(), servers, contact.Own{Session: asks.ID(), Timeout: asks.Timeout()}, []int64{7}, limit)
	if took := time.Since(begun); took < limit {
		t.Errorf("got a report after %v, want it after %v", took, limit)
	}
	if trouble := fourletter.TroubleOf(report.Answers[1].Cons); trouble != fourletter.Silent {
		t.Errorf("got trouble %d, want that the frozen server is silent", trouble)
	}
}

func TestUnknownTimesAreLeftOutOfJSON(t *testing.T) {
	for _, c := range []struct {
		client contact.Client
		want   string
	}{
		{contact.Client{State: contact.Unknown, Heard: -1, Left: -1}, `{"state":"unknown"}`},
		{
			contact.Client{State: contact.Alive, Address: "a", Server: "b", Timeout: time.Second, Heard: 0, Left: time.Second},
			`{"state":"alive","address":"a","server":"b","timeout_ms":1000,"heard_ms_ago":0,"ends_in_ms":1000}`,
		},
	} {
		if got, err := json.Marshal(c.client); err != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}

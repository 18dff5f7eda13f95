package commands

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// Three clients: a holds for 26 s and b for 13, each until its session expires, and c waits for 4 s and gives up.
func someHistory() *history.History {
	moment := func(seconds int) txnlog.Moment {
		return txnlog.Moment{Zxid: int64(100 + seconds), At: noon.Add(time.Duration(seconds) * time.Second)}
	}
	one := func(who string, queued int) history.Contender {
		return history.Contender{Who: who, Node: "lock-" + who, Path: "/l/lock-" + who, Session: 9, Token: int64(100 + queued), Queued: moment(queued)}
	}
	a, b, c := one("a", 0), one("b", 13), one("c", 20)
	a.LetIn, a.Ended, a.How = a.Queued, moment(26), history.Expired
	b.LetIn, b.Ended, b.How = moment(26), moment(39), history.Released
	c.Ended, c.How = moment(24), history.GaveUp
	return &history.History{
		Path: "/l", From: moment(0), To: moment(52), Locks: []history.Lock{{Path: "/l", Kind: "mutex", Contenders: []history.Contender{a, b, c}}},
		Notes: []txnlog.Note{{Kind: txnlog.Gap, First: 90, Last: 91}},
	}
}

func TestHistoryIsPrintedAsTableLanesAndWaits(t *testing.T) {
	h := someHistory()
	columns := func(text string) (rows []string) {
		for line := range strings.Lines(text) {
			rows = append(rows, strings.Join(strings.Fields(line), " "))
		}
		return rows
	}
	for name, test := range map[string]struct{ got, want string }{
		"table": {historyTable(h, &h.Locks[0], 0), "0.0s 26.0s expired 100 0x9 a; 13.0s 13.0s released 113 0x9 b; 4.0s - gave up 120 0x9 c"},
		"waits": {longestTable(h, 2, 0), "The longest of 2 waits:; 13.0s 13.0s released 113 0x9 b; 4.0s - gave up 120 0x9 c; 1 13.0s 13.0s 0x9 b; 1 4.0s 4.0s 0x9 c"},
		"locks": {locksTable(h, 0), "/l mutex 3 2 13.0s 26.0s a"},
	} {
		rows := columns(test.got)
		for want := range strings.SplitSeq(test.want, "; ") {
			found := false
			for _, row := range rows {
				found = found || strings.HasSuffix(row, want)
			}
			if !found {
				t.Errorf("%s: got\n%s\nwant a line with %q", name, test.got, want)
			}
		}
	}
	drawn := lanesOf(h, &h.Locks[0], history.Options{}, false)
	margin := strings.Repeat(" ", laneMargin-1)
	for _, want := range []string{
		"a" + margin + strings.Repeat("█", 26) + "✗",
		"b" + margin + strings.Repeat(" ", 13) + strings.Repeat("·", 13) + strings.Repeat("█", 14) + " ",
		"c" + margin + strings.Repeat(" ", 20) + "····· ",
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("got\n%s\nwant the lane\n%s", drawn, want)
		}
	}
}

func TestHistoryIsPrintedAsOneObject(t *testing.T) {
	var out bytes.Buffer
	if err := printHistory(&out, someHistory()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Path  string
		To    momentJSON
		Locks []struct{ Contenders []contenderJSON }
		Notes []noteJSON
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	b := got.Locks[0].Contenders[1]
	if got.Path != "/l" || got.To.Zxid != "0x98" || b.Who != "b" || b.Token != 113 || b.LetIn.Zxid != "0x7e" || *b.Waited != 13 || *b.Held != 13 || b.How != "released" {
		t.Errorf("got %+v from %s", got, out.String())
	}
	if c := got.Locks[0].Contenders[2]; c.LetIn != nil || *c.Held != 0 || *c.Waited != 4 {
		t.Errorf("got %+v, want no hold", c)
	}
	if n := got.Notes[0]; n.Kind != "gap" || n.First != "0x5a" || !strings.Contains(n.Text, "2 transactions are in no log") {
		t.Errorf("got the note %+v", n)
	}
}

func TestMistakesAreOneLine(t *testing.T) {
	status, _, errs := runHistory(t, "-nothing")
	if want := "-nothing; want a directory"; status != 64 || !strings.Contains(errs, want) {
		t.Errorf("got status %d and %q, want 64 and %q", status, errs, want)
	}
}

func TestLocksTableSaysThatTheLongestHoldMayHaveBegunLater(t *testing.T) {
	h := someHistory()
	h.Locks[0].Contenders[0].LetInEarlier = true
	if got := locksTable(h, 0); !strings.Contains(got, " <26.0s  a") {
		t.Errorf("got\n%s\nwant that a held for less than 26 s", got)
	}
}

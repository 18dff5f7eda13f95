package commands

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/adler32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// A logged is a transaction of a server's log: a node's creation, with data, or its deletion.
type logged struct {
	zxid, session int64
	at            time.Time
	path, data    string // no data is a deletion
}

func text(to []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(s))), s...)
}

func (l logged) record() []byte {
	r := binary.BigEndian.AppendUint64(nil, uint64(l.session))
	r = binary.BigEndian.AppendUint32(r, 1)
	r = binary.BigEndian.AppendUint64(r, uint64(l.zxid))
	r = binary.BigEndian.AppendUint64(r, uint64(l.at.UnixMilli()))
	if l.data == "" {
		r = text(binary.BigEndian.AppendUint32(r, 2), l.path)
	} else {
		r = text(text(binary.BigEndian.AppendUint32(r, 15), l.path), l.data)
		r = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(r, 1), 31)
		r = append(text(text(r, "world"), "anyone"), 1, 0, 0, 0, 0)
	}
	framed := binary.BigEndian.AppendUint64(nil, uint64(adler32.Checksum(r)))
	return append(append(binary.BigEndian.AppendUint32(framed, uint32(len(r))), r...), 'B')
}

// writeLog is a server's directory with a log.
func writeLog(t *testing.T, all ...logged) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log := append([]byte("ZKLG\x00\x00\x00\x02"), make([]byte, 8)...)
	for _, l := range all {
		log = append(log, l.record()...)
	}
	if err := os.WriteFile(filepath.Join(dir, "log.1"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func second(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }

// twoLocks are /l/a, which ann holds for 3 s while bob waits, and /l/b, in which cid waits for kazoo's dan.
func twoLocks() []logged {
	const kazoo = "/l/b/0123456789abcdef0123456789abcdef__lock__0000000001"
	return []logged{
		{1, 0xa, second(1), "/l/a/lock-0000000001", "ann"},
		{2, 0xb, second(2), "/l/a/lock-0000000002", "bob"},
		{3, 0xd, second(3), kazoo, "dan"},
		{4, 0xa, second(4), "/l/a/lock-0000000001", ""},
		{5, 0xc, second(5), "/l/b/lock-0000000002", "cid"},
		{6, 0xb, second(6), "/l/a/lock-0000000002", ""},
	}
}

func runHistory(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = readHistory(args, &o, &e)
	return status, o.String(), e.String()
}

func TestHistoryReadsFilesAndSaysHowItEnded(t *testing.T) {
	whole, all := writeLog(t, twoLocks()...), twoLocks()
	gap := writeLog(t, append(all[:4:4], all[5])...)
	for name, test := range map[string]struct {
		args   []string
		status int
		want   []string // in the output, or on the standard error
	}{
		"a lock":          {[]string{whole, "/l/a"}, 0, []string{"/l/a: mutex, 2 contenders, 2 let in;", "0.0s       3.0s  released  1             0xa                 ann"}},
		"a contender":     {[]string{whole, "/l/a/lock-0000000002"}, 0, []string{"/l/a: mutex, 2 contenders, 2 let in;"}},
		"a gap":           {[]string{gap, "/l/a"}, ExitIncomplete, []string{"1 transactions are in no log, from zxid 0x5 to 0x5", "2.0s       2.0s  released"}},
		"several":         {[]string{whole, "/l"}, 0, []string{"/l/a  mutex           2      2          2.0s          3.0s  ann", "/l/b: holds may have overlapped: kazoo's nodes"}},
		"lanes":           {[]string{"-lanes", whole, "/l/a"}, 0, []string{"/l/a: mutex, 2 clients", "bob"}},
		"lanes of all":    {[]string{"-lanes", whole, "/l"}, 0, []string{"LOCK", "/l/a: mutex, 2 clients", "/l/b: kazoo+mutex, 2 clients"}},
		"waits and lanes": {[]string{"-lanes", "-longest", "1", whole, "/l/a"}, 0, []string{"/l/a: mutex, 2 clients", "The longest of 1 waits:"}},
		"waits of all":    {[]string{"-longest", "2", whole, "/l"}, 0, []string{"LOCK  WHO", "0xb                 /l/a  bob", "0xc                 /l/b  cid"}},
		"some":            {[]string{"-most", "1", whole, "/l/a"}, 0, []string{"the 1 oldest contenders are left out", "1 contenders"}},
		"the last second": {[]string{"-last", "1s", whole, "/l/a"}, 0, []string{"/l/a: mutex, 1 contenders"}},
		"no lock":         {[]string{whole, "/m"}, ExitNoLock, []string{"no lock at or below /m in these logs"}},
		"no log":          {[]string{t.TempDir(), "/l"}, ExitNoLock, []string{"find the logs"}},
		"no path":         {[]string{whole}, 64, []string{"want a directory of a server"}},
	} {
		status, out, errs := runHistory(t, test.args...)
		if status != test.status {
			t.Errorf("%s: got status %d, want %d: %s", name, status, test.status, errs)
		}
		for _, want := range test.want {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%s: got\n%s%s\nwant %q in it", name, out, errs, want)
			}
		}
	}
}

func TestHistoryOfAnOddLogIsOneObjectThatMovesNoCursor(t *testing.T) {
	far := time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	const odd = "/l\u009b\u202e/a\U000E0001/lock-0000000001"
	dir := writeLog(t, logged{1, 0xa, second(1), odd, "ann"}, logged{2, 0xa, far, odd, ""})
	status, out, errs := runHistory(t, "-json", dir, "/")
	var got struct {
		To    momentJSON
		Locks []struct{ Contenders []contenderJSON }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 {
		t.Fatalf("got status %d, %v and %s from %s", status, err, errs, out)
	}
	c := got.Locks[0].Contenders[0]
	if c.Path != odd || c.Ended.Zxid != "0x2" || c.Ended.Time != nil || got.To.Time != nil || !c.Queued.Time.Equal(second(1)) {
		t.Errorf("got %+v at %q, want an end without a time at %q", c, c.Path, odd)
	}
	if strings.ContainsAny(out, "\u009b\u202e\U000E0001") {
		t.Errorf("got %q, want escapes", out)
	}
}

func TestWhatIsNotKnownIsNullInJSONAndAQuestionMarkInTables(t *testing.T) {
	queued, inGap := txnlog.Moment{Zxid: 1, At: second(1)}, txnlog.Moment{Zxid: 4}
	h := &history.History{To: txnlog.Moment{Zxid: 9, At: second(9)}}
	for name, test := range map[string]struct {
		c     history.Contender
		json  string
		table string // waited, held
	}{
		"let in in a gap":  {history.Contender{Queued: queued, LetIn: inGap}, `"waited_seconds":null,"held_seconds":null`, "? ?"},
		"ended in a gap":   {history.Contender{Queued: queued, LetIn: queued, Ended: inGap}, `"waited_seconds":0,"held_seconds":null`, "0.0s ?"},
		"gave up in a gap": {history.Contender{Queued: queued, Ended: inGap}, `"waited_seconds":null,"held_seconds":0`, "? -"},
		"let in earlier":   {history.Contender{Queued: queued, LetIn: queued, LetInEarlier: true}, `"waited_seconds":null,"held_seconds":8`, "? <8.0s"},
		"holds":            {history.Contender{Queued: queued, LetIn: queued}, `"waited_seconds":0,"held_seconds":8`, "0.0s 8.0s"},
	} {
		text, err := json.Marshal(contenderOf(&test.c, h.To.At))
		if err != nil || !strings.Contains(string(text), test.json) {
			t.Errorf("%s: got %s, %v, want %s in it", name, text, err, test.json)
		}
		row := strings.Split(contendersTable(h, []history.Contender{test.c}, nil, 0), "\n")[1]
		if got := strings.Join(strings.Fields(row)[2:4], " "); got != test.table {
			t.Errorf("%s: got %q, want %q in %s", name, got, test.table, row)
		}
	}
	_, out, _ := runHistory(t, "-json", writeLog(t, twoLocks()...), "/l")
	for _, want := range []string{`"more_notes": 0`, `"may_overlap": ["kazoo`, `"limit"`} {
		if strings.Contains(out, want) != (want != `"limit"`) {
			t.Errorf("got %s, and %s", out, want)
		}
	}
}

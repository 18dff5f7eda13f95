package journaltest_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
)

// FuzzCheckTakesAnyEvents makes events of bytes, four each: neither Check nor Left panics, whatever clients and servers
// are said to have done.
func FuzzCheckTakesAnyEvents(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 200, 1, 1, 0, 3, 1, 1, 1, 5, 1, 1, 1, 15, 1, 1, 1, 201, 1, 1, 0})
	f.Add([]byte{200, 255, 1, 2, 201, 254, 1, 2, 250, 1, 1, 1, 251, 1, 1, 1, 8, 1, 1, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		var events []journaltest.Event
		for ; len(data) >= 4; data = data[4:] {
			events = append(events, eventOf(data[0], data[1], data[2], data[3], len(events)))
		}
		for _, servers := range []journaltest.Servers{{}, {Accuracy: time.Millisecond, Keeper: true}} {
			journaltest.Check(events, servers)
		}
		journaltest.Left(events)
	})
}

func eventOf(kind, node, client, more byte, number int) event {
	names := []string{
		"", "/", "x", lock(0), lock(1), lock(2), reader(1), writer(1), writer(2), lock(1<<31 - 1), lock(-1 << 31), "lock-+000000001",
	}
	name := func(b byte) string { return names[int(b)%len(names)] }
	session := int64(client % 4)
	e := event{At: at(float64(more%8) / 2), Client: name(client)}
	switch kinds := steps.Kinds(); {
	case kind >= 250:
		e.Orphan, e.Killed = "/q/"+name(node), session
		if kind%2 == 0 {
			e.Killed = 0
		}
	case kind >= 200:
		path := []string{dir + "/" + name(node), name(node), "/" + name(node)}[int(more)%3]
		e.Transaction = &zktest.Transaction{
			Zxid: int64(number) - int64(more%3), Session: session, EndsSession: more%5 == 0,
			Changes: []zktest.Change{{Kind: zktest.ChangeKind(kind % 5), Path: path, Owner: session}},
		}
	default:
		e.Step = &step{
			Kind: kinds[int(kind)%len(kinds)], Dir: []string{dir, "/", ""}[int(more)%3], Node: name(node), Session: session,
			Hold: int64(more % 3), Names: []string{name(more), name(node + 1)}, Markers: []string{markers, "", "/", "lock-"}[int(more/4)%4],
			Zxid: int64(more % 16), Admitted: more%2 == 0, Until: at(float64(more%16) / 2),
		}
	}
	return e
}

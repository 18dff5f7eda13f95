//go:build unix

package integration_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/internal/gozk"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// standalone is the backend of one real server, on which laws run one after the other, in real time. Links lie in this
// process, between the client and its socket.
type standalone struct{ server *zookeeper.Server }

var (
	_ lockstest.Backend       = standalone{}
	_ lockstest.CounterSetter = (*administrator)(nil)
)

func (standalone) MissingCapabilities() map[lockstest.Capability]string {
	return map[lockstest.Capability]string{
		lockstest.Followers: "one server has none; package integration/ensemble has them",
		lockstest.Bubble:    "a real server lives in real time",
	}
}

func (b standalone) Run(t *testing.T, law func(t *testing.T, server lockstest.Server)) {
	t.Helper()
	admin := &administrator{t: t, server: b.server}
	admin.connect()
	t.Cleanup(func() { admin.conn.Close() })
	law(t, admin)
}

// superPassword is the password of who passes all ACLs.
const superPassword = "integration"

// An administrator sees and changes a server by a connection of his own and by four-letter commands.
type administrator struct {
	t      *testing.T
	server *zookeeper.Server
	conn   *zk.Conn
	once   sync.Mutex // one request at a time: conn is replaced at a restart
}

func (a *administrator) connect() {
	a.t.Helper()
	ctx, cancel := await.Context(a.t.Context(), a.t, patience, "a session of the administrator")
	defer cancel()
	conn, err := gozk.Connect(ctx, a.server.Addr(), time.Minute)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := conn.AddAuth("digest", []byte("super:"+superPassword)); err != nil {
		a.t.Fatal(err)
	}
	a.conn = conn
}

func (a *administrator) NewLink() *lockstest.Link {
	return lockstest.NewLink(a.server.Addr(), new(net.Dialer).DialContext)
}

// A lease lives by answers of the last quarter of this; a loaded machine must not be that late.
func (a *administrator) SessionTimeout() time.Duration { return lawTimeout() }

// lawTimeout is longer where integration/run has found the machine busy.
func lawTimeout() time.Duration {
	if os.Getenv("CURATOR_INTEGRATION_BUSY") == "yes" {
		return 12 * time.Second
	}
	return 4 * time.Second
}

// ask makes a request that may find no node.
func ask[T any](a *administrator, request func(*zk.Conn) (T, *zk.Stat, error)) (answer T, stat *zk.Stat) {
	a.t.Helper()
	a.once.Lock()
	defer a.once.Unlock()
	answer, stat, err := request(a.conn)
	switch err {
	case nil:
		return answer, stat
	case zk.ErrNoNode:
	default:
		a.t.Errorf("administrator: %v", err)
	}
	return answer, nil
}

func (a *administrator) Children(path string) []string {
	a.t.Helper()
	children, _ := ask(a, func(c *zk.Conn) ([]string, *zk.Stat, error) { return c.Children(path) })
	return children
}

func (a *administrator) Stat(path string) *zk.Stat {
	a.t.Helper()
	there, stat := ask(a, func(c *zk.Conn) (bool, *zk.Stat, error) { return c.Exists(path) })
	if !there {
		return nil
	}
	return stat
}

func (a *administrator) Data(path string) []byte {
	a.t.Helper()
	data, _ := ask(a, func(c *zk.Conn) ([]byte, *zk.Stat, error) { return c.Get(path) })
	return data
}

func (a *administrator) Create(path string, data []byte) {
	a.t.Helper()
	if _, err := a.conn.Create(path, data, 0, zk.WorldACL(zk.PermAll)); err != nil {
		a.t.Errorf("create %s: %v", path, err)
	}
}

func (a *administrator) Delete(path string) {
	a.t.Helper()
	if err := a.conn.Delete(path, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		a.t.Errorf("delete %s: %v", path, err)
	}
}

// Watches reads wchp: each path on a line of its own, and under it a line, indented, for each session that watches it.
func (a *administrator) Watches(path string) int {
	n, mine := 0, false
	for line := range strings.Lines(a.server.FourLetter("wchp")) {
		switch {
		case !strings.HasPrefix(line, "\t"):
			mine = strings.TrimSpace(line) == path
		case mine:
			n++
		}
	}
	return n
}

func (a *administrator) AllWatches() int {
	n := 0
	for _, c := range a.server.Mntr()["zk_watch_count"] {
		n = 10*n + int(c-'0')
	}
	return n
}

// ExpireSession takes a session over with its password, and closes it. The session's client may take it back before the
// server has read that: then ExpireSession tries again.
func (a *administrator) ExpireSession(link *lockstest.Link, session int64) {
	a.t.Helper()
	password := link.Password(session)
	if password == nil {
		a.t.Errorf("session %#x cannot be ended: its password is not known", session)
		return
	}
	for range 100 {
		if ended, err := a.closeSession(session, password); isTimeout(err) {
			await.Errorf(a.t, "the end of session %#x: %v", session, err)
			return
		} else if err != nil {
			a.t.Errorf("session %#x cannot be ended: %v", session, err)
			return
		} else if ended {
			return
		}
	}
	a.t.Errorf("session %#x has not ended: its client takes it back each time", session)
}

// closeSession reports whether the session has ended, by this or before. It has not if the server hangs up.
func (a *administrator) closeSession(session int64, password []byte) (ended bool, err error) {
	conn, err := net.DialTimeout("tcp", a.server.Addr(), patience)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	const protocol, lastZxid, timeout, xid, closeSession = 0, 0, 4000, 1, -11
	body := binary.BigEndian.AppendUint32(nil, protocol)
	body = binary.BigEndian.AppendUint64(body, lastZxid)
	body = binary.BigEndian.AppendUint32(body, timeout)
	body = binary.BigEndian.AppendUint64(body, uint64(session))
	body = binary.BigEndian.AppendUint32(body, uint32(len(password)))
	body = append(append(body, password...), 0)
	closing := binary.BigEndian.AppendUint32(nil, xid)
	code := int32(closeSession)
	closing = binary.BigEndian.AppendUint32(closing, uint32(code))
	for i, frame := range [][]byte{body, closing} {
		var answer []byte
		if _, err = conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)); err == nil {
			answer, err = readFrame(conn)
		}
		switch {
		case isTimeout(err):
			return false, err
		case err != nil:
			return false, nil
		case i == 0 && (len(answer) < 8 || binary.BigEndian.Uint32(answer[4:]) == 0): // a session timeout of zero
			return true, nil
		}
	}
	return true, nil
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

func readFrame(conn net.Conn) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(conn, head); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(head))
	_, err := io.ReadFull(conn, frame)
	return frame, err
}

func (a *administrator) Restart() {
	a.t.Helper()
	a.reconnectAround(a.server.Restart)
}

// Record has the logs read at the end: they have all laws of the server.
func (a *administrator) Record(journal *journaltest.Journal) (read func() ([]journaltest.Event, journaltest.Servers)) {
	return func() ([]journaltest.Event, journaltest.Servers) {
		a.t.Helper()
		executed, err := a.server.Transactions()
		if err != nil {
			a.t.Errorf("administrator: %v", err)
		}
		return journaltest.Merge(executed, journal.Events()), journaltest.Servers{Accuracy: time.Millisecond}
	}
}

// SetCounter restarts the server, too.
func (a *administrator) SetCounter(path string, n int32) {
	a.t.Helper()
	a.reconnectAround(func() { a.server.SetCounter(path, n) })
}

func (a *administrator) reconnectAround(restart func()) {
	a.t.Helper()
	a.once.Lock()
	defer a.once.Unlock()
	a.conn.Close()
	restart()
	a.connect()
}

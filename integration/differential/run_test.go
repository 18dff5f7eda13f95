//go:build unix

package differential_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
)

// A target is a server.
type target struct {
	name string
	dial func() (net.Conn, error)
}

// patience is how long an answer may take on a busy machine. Where one is missing by mistake, the script goes on
// without it.
const patience = 30 * time.Second

// longSession is a timeout that no script reaches.
const longSession = 10 * time.Minute

// A run is a script being executed by one server.
type run struct {
	target
	dir      string // the directory of all nodes
	base     int64  // zxids are printed relative to this one
	times    map[int64]int64
	sessions map[int64]string
	clients  [clients + 1]client // the last one prepares and tidies up
	outcome  []string            // what came of each step
}

type client struct {
	nc   net.Conn
	r    *bufio.Reader
	xid  int32
	id   int64
	pass string
	// A session has ended since the last answer, by which several nodes may have gone, in the order of a hash table.
	unordered bool
}

// execute runs a script in a directory of its own and returns what came of each step.
func (t target) execute(steps []step, dir string) ([]string, error) {
	r := &run{target: t, dir: dir, times: map[int64]int64{}, sessions: map[int64]string{0: "none"}}
	defer r.disconnect()
	if err := r.prepare(); err != nil {
		return nil, err
	}
	for len(steps) > 0 {
		n := 1
		for ; n < min(len(steps), 16) && !steps[0].alone && !steps[n].alone && steps[n].client == steps[0].client; n++ {
		}
		if err := r.batch(steps[:n]); err != nil {
			return nil, err
		}
		steps = steps[n:]
	}
	r.outcome = append(r.outcome, r.backwards())
	return r.outcome, r.tidy()
}

func (r *run) prepare() error {
	c := &r.clients[clients]
	c.id = 0
	hello, err := r.connect(c, 0, "", 0, longSession)
	if err != nil || c.nc == nil {
		return fmt.Errorf("%s: no session: %s, %w", r.name, hello, err)
	}
	// which no other run has, so that its Stat is the same wherever this runs
	parent, _, _ := strings.Cut(r.dir[1:], "/")
	r.send(c, []step{{op: opCreate, path: "/" + parent, acl: open}})
	r.send(c, []step{{op: opCreate, path: quotas + "/" + parent, acl: open}})
	r.send(c, []step{{op: opCreate, path: quotas + root, acl: open}})
	r.outcome = append(r.outcome, r.send(c, []step{{op: opCreate, path: root, acl: open}})[0])
	if r.base == 0 {
		return fmt.Errorf("%s: %s", r.name, r.outcome[0])
	}
	return nil
}

// tidy ends all sessions. The nodes stay: no later step looks at them.
func (r *run) tidy() error {
	for i := range r.clients {
		c := &r.clients[i]
		if c.id == 0 {
			continue
		}
		if _, err := r.revive(c); err != nil {
			return err
		}
		if c.nc != nil {
			r.send(c, []step{{op: opClose}})
		}
	}
	return nil
}

func (r *run) disconnect() {
	for i := range r.clients {
		r.clients[i].hangUp()
	}
}

func (c *client) hangUp() {
	if c.nc != nil {
		c.nc.Close()
	}
	c.nc, c.unordered = nil, false
}

func (r *run) batch(steps []step) error {
	c := &r.clients[steps[0].client]
	hello, err := r.revive(c)
	if err != nil {
		return err
	}
	if c.nc == nil {
		r.outcome = append(r.outcome, hello)
		return nil
	}
	var outcome []string
	if steps[0].special == request {
		outcome = r.send(c, steps)
	} else {
		var what string
		if what, err = r.special(c, steps[0].special); err != nil {
			return err
		}
		outcome = []string{what}
	}
	outcome[0] = hello + outcome[0]
	r.outcome = append(r.outcome, outcome...)
	return nil
}

// revive sees to it that a client has a connection: to its session, or to a new one.
func (r *run) revive(c *client) (hello string, err error) {
	if c.nc != nil {
		return "", nil
	}
	if c.id != 0 {
		hello, err = r.connect(c, c.id, c.pass, 0, longSession)
		if c.nc != nil || err != nil {
			return hello, err
		}
	}
	again, err := r.connect(c, 0, "", 0, longSession)
	return hello + again, err
}

// connect opens a connection for a client and describes what came of it.
func (r *run) connect(c *client, id int64, pass string, seen int64, timeout time.Duration) (string, error) {
	nc, err := r.dial()
	if err != nil {
		return "", err
	}
	if pass == "" {
		pass = strings.Repeat("\x00", 16)
	}
	var e encoder
	e.int32(0)
	e.int64(seen)
	e.int32(int32(timeout.Milliseconds()))
	e.int64(id)
	e.string(pass)
	e.bool(false)
	fresh := client{nc: nc, r: bufio.NewReader(nc)}
	if _, err := nc.Write(e.frame()); err != nil {
		nc.Close()
		return "", err
	}
	d, err := fresh.read()
	if err != nil {
		nc.Close()
		return "   handshake: " + fate(err) + "\n", nil
	}
	version, got := d.int32(), d.int32()
	fresh.id, fresh.pass = d.int64(), d.data()
	readOnly := d.bool()
	about := fmt.Sprintf("   handshake: version=%d timeout=%d password=%d readOnly=%v%s", version, got, len(fresh.pass), readOnly, rest(d))
	if fresh.id == 0 {
		fresh.ended() // see leave
		return about + " refused\n", nil
	}
	if _, known := r.sessions[fresh.id]; !known {
		r.sessions[fresh.id] = fmt.Sprintf("s%d", len(r.sessions))
	}
	c.hangUp()
	fresh.xid = c.xid
	*c = fresh
	return about + " " + r.sessions[fresh.id] + "\n", nil
}

func (c *client) read() (*decoder, error) {
	_ = c.nc.SetReadDeadline(time.Now().Add(patience))
	var head [4]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > 1<<24 {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(c.r, b)
	return &decoder{b: b}, err
}

// Errors behind which a server closes the connection, a moment later.
const (
	unimplemented = -6
	authFailed    = -115
)

func fate(err error) string {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "no answer"
	}
	return "closed"
}

// ended waits until the server has closed the client's connection, and closes it on this side.
func (c *client) ended() string {
	for {
		if _, err := c.read(); err != nil {
			c.hangUp()
			return fate(err)
		}
	}
}

// leave closes the connection and, over TCP, waits until the server has closed it too. A real server that closes a
// connection forgets, as the last thing before it closes the socket, which connection the session has, even if that is
// a newer one by then. It would not close the newer one when the session moves on.
func (c *client) leave() {
	if tcp, ok := c.nc.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		c.ended()
	}
	c.hangUp()
}

func (r *run) special(c *client, what special) (string, error) {
	switch what {
	case reset:
		c.leave()
		return "", r.until("cons", fmt.Sprintf("sid=0x%x,", c.id)) // its watches are gone then, too
	case steal:
		old := *c
		c.nc = nil
		about, err := r.connect(c, old.id, old.pass, 0, longSession)
		return about + "   the old connection: " + old.ended(), err
	case imposter:
		var second client
		about, err := r.connect(&second, c.id, "wrong password!!", 0, longSession)
		second.hangUp()
		return about + "   the old connection: " + c.ended(), err
	case ahead:
		var second client
		about, err := r.connect(&second, c.id, c.pass, 1<<60, longSession)
		second.hangUp()
		return about, err
	}
	return "", r.expire(c)
}

var zxidLine = regexp.MustCompile(`Zxid: 0x[0-9a-f]+\n`)

// expire gives the session a short time to live and lets it pass. A real server first forgets the session, and then
// takes the number of a transaction for its end: the next request may be in between.
func (r *run) expire(c *client) error {
	c.hangUp()
	answer, err := r.word("srvr")
	if err != nil {
		return err
	}
	newest := zxidLine.FindString(answer)
	if newest == "" {
		return fmt.Errorf("%s: srvr says %q, which has no zxid", r.name, answer)
	}
	if _, err := r.connect(c, c.id, c.pass, 0, 200*time.Millisecond); err != nil {
		return err
	}
	c.hangUp()
	name := fmt.Sprintf("0x%x\n", c.id)
	c.id = 0
	r.disorder()
	return errors.Join(r.until("dump", name), r.until("srvr", newest))
}

// until waits for a four-letter word's answer that does not have a text in it; of what dump says, the sessions count.
func (r *run) until(word, without string) error {
	var err error
	if !await.Within(patience, func() bool {
		var answer string
		answer, err = r.word(word)
		answer, _, _ = strings.Cut(answer, "ephemeral nodes dump")
		return err != nil || !strings.Contains(answer, without)
	}) {
		return &lateError{fmt.Sprintf("%s: %s goes on to say %q", r.name, word, without)}
	}
	return err
}

// lateError says that what a script waits for did not come.
type lateError struct{ text string }

func (e *lateError) Error() string { return e.text }

// fatal ends the test with an error of a real server. One that is only late is a failure of package await.
func fatal(t *testing.T, err error) {
	t.Helper()
	var late *lateError
	if errors.As(err, &late) {
		await.Fatalf(t, "a real server: %v", err)
	}
	t.Fatal(err)
}

func (r *run) word(word string) (string, error) {
	nc, err := r.dial()
	if err != nil {
		return "", err
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, word); err != nil {
		return "", err
	}
	text, err := io.ReadAll(nc)
	return string(text), err
}

func (r *run) disorder() {
	for i := range r.clients {
		r.clients[i].unordered = true
	}
}

// at is a path in this run.
func (r *run) at(path string) string {
	if after, ok := strings.CutPrefix(path, quotas+root); ok {
		return quotas + r.dir + after
	}
	if after, ok := strings.CutPrefix(path, root); ok {
		return r.dir + after
	}
	return path
}

// send sends requests at once and returns what is heard up to each one's answer.
func (r *run) send(c *client, steps []step) (outcome []string) {
	var out []byte
	first := c.xid + 1
	for _, s := range steps {
		c.xid++
		var e encoder
		e.int32(c.xid)
		e.int32(s.op)
		s.encode(&e, r.at, r.base)
		e.b = e.b[:max(8, len(e.b)-s.cut)]
		e.b = append(e.b, make([]byte, s.more)...)
		out = append(out, e.frame()...)
		if s.op == opClose {
			r.disorder()
		}
	}
	_, _ = c.nc.Write(out) // a connection that is closed is noticed by the reader
	for i, s := range steps {
		outcome = append(outcome, strings.ReplaceAll(r.hear(c, s, first+int32(i)), r.dir, root))
	}
	if len(steps) == 1 && c.nc != nil && steps[0].op == opClose {
		outcome[0] += ", then " + c.ended()
		c.id = 0
	}
	return outcome
}

// hear reads up to the answer.
func (r *run) hear(c *client, s step, xid int32) string {
	if c.nc == nil {
		return "   closed"
	}
	var events []string
	say := func(answer string) string {
		if c.unordered {
			slices.Sort(events)
			c.unordered = false
		}
		return strings.Join(append(events, answer), "\n")
	}
	for {
		d, err := c.read()
		if err != nil {
			answer := say("   " + fate(err))
			c.hangUp()
			return answer
		}
		got, zxid, code := d.int32(), d.int64(), d.int32()
		if got == -1 {
			events = append(events, fmt.Sprintf("   event %s type=%d state=%d %q%s err=%d", r.zxid(zxid), d.int32(), d.int32(), d.data(), rest(d), code))
			continue
		}
		if r.base == 0 {
			r.base = zxid
		}
		body := rest(d)
		if code == 0 {
			body = r.body(s.op, d)
		}
		answer := say(fmt.Sprintf("   xid%+d %s err=%d%s", got-xid, r.zxid(zxid), code, body))
		if code == unimplemented && zxid == -1 || code == authFailed {
			answer += ", then " + c.ended()
		}
		return answer
	}
}

func (r *run) zxid(zxid int64) string {
	if zxid <= 0 {
		return fmt.Sprint(zxid)
	}
	return fmt.Sprintf("z%+d", zxid-r.base)
}

func rest(d *decoder) string {
	switch {
	case d.bad:
		return " TRUNCATED"
	case len(d.b) > 0:
		return fmt.Sprintf(" rest=%x", d.b)
	}
	return ""
}

// body prints an answer. It replaces what differs from run to run, and sorts lists that a real server does not order.
func (r *run) body(op int32, d *decoder) string {
	if len(d.b) == 0 {
		return ""
	}
	switch op {
	case opCreate, opSync:
		return fmt.Sprintf(" %q", d.data()) + rest(d)
	case opCreate2, opCreateContainer, opCreateTTL:
		return fmt.Sprintf(" %q", d.data()) + r.stat(d) + rest(d)
	case opExists, opSetData, opSetACL:
		return r.stat(d) + rest(d)
	case opGetData:
		return fmt.Sprintf(" %q", d.data()) + r.stat(d) + rest(d)
	case opGetChildren, opGetEphemerals:
		return sorted(d.strings()) + rest(d)
	case opGetChildren2:
		return sorted(d.strings()) + r.stat(d) + rest(d)
	case opGetACL:
		var list []string
		for range d.int32() {
			list = append(list, fmt.Sprintf("%d %s:%s", d.int32(), d.data(), d.data()))
		}
		return sorted(list) + r.stat(d) + rest(d)
	case opWhoAmI:
		var list []string
		for range d.int32() {
			list = append(list, d.data()+":"+d.data())
		}
		return sorted(list) + rest(d)
	case opMulti, opMultiRead:
		return r.results(d)
	}
	return rest(d)
}

func sorted(list []string) string {
	slices.Sort(list)
	return fmt.Sprintf(" %q", list)
}

func (r *run) results(d *decoder) string {
	var b strings.Builder
	for !d.bad {
		op, done, err := d.int32(), d.bool(), d.int32()
		fmt.Fprintf(&b, " [%d %v %d", op, done, err)
		switch op {
		case opCreate:
			fmt.Fprintf(&b, " %q", d.data())
		case opCreate2:
			fmt.Fprintf(&b, " %q%s", d.data(), r.stat(d))
		case opSetData:
			b.WriteString(r.stat(d))
		case opGetChildren:
			b.WriteString(sorted(d.strings()))
		case opGetData:
			fmt.Fprintf(&b, " %q%s", d.data(), r.stat(d))
		case -1:
			if !done {
				fmt.Fprintf(&b, " %d", d.int32())
			}
		}
		b.WriteString("]")
		if done {
			break
		}
	}
	return b.String() + rest(d)
}

func (r *run) stat(d *decoder) string {
	czxid, mzxid, ctime, mtime := d.int64(), d.int64(), d.int64(), d.int64()
	version, cversion, aversion, owner := d.int32(), d.int32(), d.int32(), d.int64()
	length, children, pzxid := d.int32(), d.int32(), d.int64()
	who, known := r.sessions[owner]
	if !known {
		who = fmt.Sprintf("%#x", owner)
	}
	return fmt.Sprintf(" {c=%s m=%s p=%s v=%d cv=%d av=%d owner=%s len=%d kids=%d%s}", r.zxid(czxid), r.zxid(mzxid), r.zxid(pzxid),
		version, cversion, aversion, who, length, children, r.moment(czxid, ctime)+r.moment(mzxid, mtime))
}

// moment reports a time only if it contradicts what other answers say about the same transaction, or about others.
func (r *run) moment(zxid, ms int64) string {
	if before, ok := r.times[zxid]; ok && before != ms {
		return fmt.Sprintf(" time of %s differs by %d ms", r.zxid(zxid), ms-before)
	}
	r.times[zxid] = ms
	if now := time.Now().UnixMilli(); zxid > r.base && (ms > now || ms < now-longSession.Milliseconds()) {
		return fmt.Sprintf(" time of %s is off by %d ms", r.zxid(zxid), ms-now)
	}
	return ""
}

// backwards reports transactions that are later than others but have an earlier time.
func (r *run) backwards() string {
	zxids := make([]int64, 0, len(r.times))
	for zxid := range r.times {
		zxids = append(zxids, zxid)
	}
	slices.Sort(zxids)
	for i, zxid := range zxids[min(1, len(zxids)):] {
		if r.times[zxid] < r.times[zxids[i]] {
			return fmt.Sprintf("time runs backwards from %s to %s", r.zxid(zxids[i]), r.zxid(zxid))
		}
	}
	return ""
}

package zktest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var record = flag.String("record", "", "version@host:port of a fresh real ZooKeeper whose answers become the golden file")

// A script is a fixed exchange in raw frames. What a real server answered
// stands in testdata, by version; this server has to answer the same.
type script struct {
	t     *testing.T
	dial  func() (net.Conn, error)
	log   bytes.Buffer
	base  int64 // zxids are logged relative to the first session's
	conns int
}

type client struct {
	s    *script
	name string
	nc   net.Conn
	r    *bufio.Reader
	xid  int32
	id   int64
	pass []byte
}

func (s *script) logf(format string, args ...any) { fmt.Fprintf(&s.log, format+"\n", args...) }

func (s *script) section(name string) { s.logf("\n# %s", name) }

func (s *script) open() *client {
	s.conns++
	nc, err := s.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	return &client{s: s, name: fmt.Sprintf("c%d", s.conns), nc: nc, r: bufio.NewReader(nc)}
}

// connect opens a connection and performs the handshake.
func (s *script) connect() *client {
	c := s.open()
	c.hello(0, 30000, 0, make([]byte, 16), true)
	return c
}

func (c *client) hello(lastZxid int64, timeout int32, id int64, pass []byte, flag bool) {
	var e encoder
	e.int32(0)
	e.int64(lastZxid)
	e.int32(timeout)
	e.int64(id)
	e.bytes(pass)
	if flag {
		e.bool(false)
	}
	c.write(e.b)
	d, err := c.read()
	if err != nil {
		c.s.logf("%s handshake: %s", c.name, fate(err))
		return
	}
	n := len(d.b)
	version, got := d.int32(), d.int32()
	c.id, c.pass = d.int64(), append([]byte(nil), d.bytes()...)
	zero := strings.Trim(string(c.pass), "\x00") == ""
	c.s.logf("%s handshake: %d bytes version=%d timeout=%d session=%v password=%d zero=%v rest=%x",
		c.name, n, version, got, c.id != 0, len(c.pass), zero, d.b)
}

func (c *client) write(body []byte) {
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	c.nc.Write(append(frame, body...)) // whether a closed connection is noticed here or in read is chance
}

func (c *client) read() (*decoder, error) {
	c.nc.SetReadDeadline(time.Now().Add(3 * time.Second))
	var head [4]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(c.r, b)
	return &decoder{b: b}, err
}

func fate(err error) string {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "no answer"
	}
	return "closed"
}

// do sends one request and logs all that comes up to its answer.
func (c *client) do(op Op, what string, body func(e *encoder)) {
	c.xid++
	c.doXid(c.xid, op, what, body)
}

func (c *client) doXid(xid int32, op Op, what string, body func(e *encoder)) {
	var e encoder
	e.int32(xid)
	e.int32(int32(op))
	if body != nil {
		body(&e)
	}
	c.s.logf("%s %v %s", c.name, op, what)
	c.write(e.b)
	for {
		d, err := c.read()
		if err != nil {
			c.s.logf("   %s", fate(err))
			return
		}
		got, zxid, code := d.int32(), d.int64(), d.int32()
		if got == -1 {
			c.s.logf("   event %s %s state=%d %q", c.zxid(zxid), eventName(d.int32()), d.int32(), d.string())
			continue
		}
		if c.s.base == 0 {
			c.s.base = zxid
		}
		body := ""
		if code == 0 { // behind an error no client looks
			body = c.body(op, d)
		}
		c.s.logf("   xid%+d %s err=%d%s", got-xid, c.zxid(zxid), code, body)
		return
	}
}

func (c *client) zxid(zxid int64) string {
	if zxid <= 0 {
		return fmt.Sprint(zxid)
	}
	return fmt.Sprintf("z%+d", zxid-c.s.base)
}

func eventName(e int32) string {
	return map[int32]string{1: "created", 2: "deleted", 3: "data", 4: "children"}[e]
}

// body renders an answer; what differs from run to run is replaced.
func (c *client) body(op Op, d *decoder) string {
	if len(d.b) == 0 {
		return ""
	}
	switch op {
	case OpCreate, OpSync:
		return fmt.Sprintf(" %q", d.string()) + rest(d)
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		return fmt.Sprintf(" %q", d.string()) + c.stat(d) + rest(d)
	case OpExists, OpSetData, OpSetACL:
		return c.stat(d) + rest(d)
	case OpGetData:
		return c.data(d) + c.stat(d) + rest(d)
	case OpGetChildren:
		return c.names(d) + rest(d)
	case OpGetChildren2:
		return c.names(d) + c.stat(d) + rest(d)
	case OpGetEphemerals:
		return c.names(d) + rest(d)
	case OpGetACL:
		return fmt.Sprintf(" %v", sortedACL(d.acl())) + c.stat(d) + rest(d)
	case OpWhoAmI:
		var ids []aclEntry
		for range d.int32() {
			ids = append(ids, aclEntry{id: identity{d.string(), d.string()}})
		}
		return fmt.Sprintf(" %v", sortedACL(ids)) + rest(d)
	case OpMulti, OpMultiRead:
		return c.results(d)
	}
	return rest(d)
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

func (c *client) data(d *decoder) string {
	if b := d.bytes(); b != nil {
		return fmt.Sprintf(" %q", b)
	}
	return " null"
}

// sortedACL sorts: the real server keeps a connection's identities in a hash table.
func sortedACL(list []aclEntry) []aclEntry {
	slices.SortFunc(list, func(a, b aclEntry) int { return strings.Compare(fmt.Sprint(a.id), fmt.Sprint(b.id)) })
	return list
}

// names sorts: the real server's order comes from a hash table.
func (c *client) names(d *decoder) string {
	set := make(map[string]bool)
	for _, name := range d.strings() {
		set[name] = true
	}
	return fmt.Sprintf(" %q", sortedKeys(set))
}

func (c *client) stat(d *decoder) string {
	s := Stat{Czxid: d.int64(), Mzxid: d.int64()}
	d.take(16) // times
	s = Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Version: d.int32(), Cversion: d.int32(),
		Aversion: d.int32(), EphemeralOwner: d.int64(), DataLength: d.int32(), NumChildren: d.int32(), Pzxid: d.int64(),
	}
	owner := "none"
	switch s.EphemeralOwner {
	case 0:
	case c.id:
		owner = "self"
	default:
		owner = "other"
	}
	return fmt.Sprintf(" {c=%s m=%s p=%s v=%d cv=%d av=%d owner=%s len=%d kids=%d}",
		c.zxid(s.Czxid), c.zxid(s.Mzxid), c.zxid(s.Pzxid), s.Version, s.Cversion, s.Aversion, owner, s.DataLength, s.NumChildren)
}

func (c *client) results(d *decoder) string {
	var out strings.Builder
	for !d.bad {
		op, done, err := Op(d.int32()), d.bool(), d.int32()
		fmt.Fprintf(&out, " [%d %v %d", op, done, err)
		switch op {
		case OpCreate:
			fmt.Fprintf(&out, " %q", d.string())
		case OpCreate2:
			fmt.Fprintf(&out, " %q%s", d.string(), c.stat(d))
		case OpSetData:
			out.WriteString(c.stat(d))
		case OpGetChildren:
			out.WriteString(c.names(d))
		case OpGetData:
			out.WriteString(c.data(d) + c.stat(d))
		case -1:
			if !done {
				fmt.Fprintf(&out, " %d", d.int32())
			}
		}
		out.WriteString("]")
		if done {
			break
		}
	}
	return out.String() + rest(d)
}

func golden(version string) string { return "testdata/" + version + ".golden" }

// To record: go test -run TestRecord -record 3.9.5@127.0.0.1:2181, with the
// server's tickTime=500, minSessionTimeout=200, maxSessionTimeout=3600000,
// extendedTypesEnabled=true and this super digest.
const superDigest = "super:D/InIHSb7yEEbrWz8b9l71RjZJU="

func TestRecord(t *testing.T) {
	version, addr, ok := strings.Cut(*record, "@")
	if !ok {
		t.Skip("only with -record")
	}
	s := &script{t: t, dial: func() (net.Conn, error) { return net.Dial("tcp", addr) }}
	if addrs := strings.Split(addr, ","); len(addrs) == 3 {
		s.moves(func(i int) { addr = addrs[i] })
	} else {
		s.run()
	}
	if err := os.WriteFile(golden(version), s.log.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAnswersAreThoseOfARealServer(t *testing.T) {
	for _, version := range []string{"3.9.5", "3.8.6"} {
		t.Run(version, func(t *testing.T) {
			want, err := os.ReadFile(golden(version))
			if err != nil {
				t.Fatal(err)
			}
			Bubble(t, func(t *testing.T) {
				srv := NewServer(WithTickTime(500*time.Millisecond), WithSessionTimeouts(200*time.Millisecond, time.Hour),
					WithSuperDigest(superDigest), WithVersion(version))
				defer srv.Close()
				s := &script{t: t, dial: func() (net.Conn, error) { return srv.Dial("tcp", "server:2181", 0) }}
				s.run()
				compare(t, string(want), s.log.String())
			})
		})
	}
}

// The golden file was recorded from a leader and two followers, in this order.
func TestMovingSessionsAreAnsweredAsByARealEnsemble(t *testing.T) {
	want, err := os.ReadFile(golden("3.9.5-ensemble"))
	if err != nil {
		t.Fatal(err)
	}
	Bubble(t, func(t *testing.T) {
		ens := NewEnsemble(3)
		defer ens.Close()
		to := 0
		s := &script{t: t, dial: func() (net.Conn, error) { return ens.Server(to).Dial("", "", 0) }}
		s.moves(func(i int) { to = i })
		compare(t, string(want), s.log.String())
	})
}

// compare reports every request that was answered differently.
func compare(t *testing.T, want, got string) {
	w, g := exchanges(want), exchanges(got)
	if len(w) != len(g) {
		t.Errorf("%d requests, the real server had %d: is the golden file older than the script?", len(g), len(w))
	}
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] && sortedLines(w[i]) != sortedLines(g[i]) {
			t.Errorf("got\n%s\nwant, as of the real server\n%s", g[i], w[i])
		}
	}
}

// sortedLines is for the ends of sessions: a real server deletes ephemeral
// nodes in the order of a hash table.
func sortedLines(s string) string {
	lines := strings.Split(s, "\n")
	if strings.Count(s, " deleted ")+strings.Count(s, " children ") > 1 {
		slices.Sort(lines)
	}
	return strings.Join(lines, "\n")
}

// exchanges cuts a log into requests with their answers and events.
func exchanges(log string) (list []string) {
	for line := range strings.SplitSeq(log, "\n") {
		if strings.HasPrefix(line, " ") && len(list) > 0 {
			list[len(list)-1] += "\n" + line
			continue
		}
		list = append(list, line)
	}
	return list
}

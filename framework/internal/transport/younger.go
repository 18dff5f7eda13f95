package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"
)

// An ensemble that was wiped, restored or replaced is younger than its clients: "Servers that are behind" in doc.go.
// A question finds that. What is attached in the end was opened with a handshake that names the zxid in force, so the
// server has at least that.

// ErrYounger says that the data of a server ends before what the client has seen.
var ErrYounger = errors.New("the data of the server is older than what this client has seen")

// hungUp notes that a server closed the connection instead of answering the handshake. A server that has just been
// asked for its age is not asked again: it is the others' turn.
func (t *Transport) hungUp(l *link, reason error) {
	if !l.newSession || l.ageAsked || t.seen.newest() == 0 || !errors.Is(reason, io.EOF) && !errors.Is(reason, syscall.ECONNRESET) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.suspect = &l.address
}

// takeSuspect returns the address that is to be asked for its age, if there is one.
func (t *Transport) takeSuspect() *Address {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.suspect
	t.suspect = nil
	return a
}

// examine asks the server at a how far its data goes, and connects to it if that is far enough, or if the whole
// ensemble has turned out to be younger.
func (t *Transport) examine(network string, a Address) (*link, error) {
	seen := t.seen.newest()
	found, err := t.age(network, a)
	switch {
	case err != nil:
		err = fmt.Errorf("hung up on a client that has seen zxid %#x, and then: %w", seen, err)
		t.failedAt(a, err)
		return nil, err
	case found >= seen: // it has caught up, or did not serve before
		t.cfg.Route.level(a)
	case !t.cfg.Route.behind(a):
		err = fmt.Errorf("%w: it ends at zxid %#x, the client has seen %#x", ErrYounger, found, seen)
		t.failedAt(a, err)
		return nil, err
	default:
		t.seen.restart(found)
		t.cfg.Events.Restarted(a.Server, seen, found)
	}
	l, err := t.attempt(network, a)
	if err != nil {
		return nil, err
	}
	l.ageAsked = true
	return l, nil
}

// age asks for the zxid of the server at a, behind a sync, in the time that an attempt to connect has.
func (t *Transport) age(network string, a Address) (zxid int64, err error) {
	var limits timeLimits
	limits.whole, limits.handshake = t.cfg.Route.limits(t.ask(), t.cfg.ConnectionTimeout)
	err = t.inQuestion(t.ctx, network, a, limits, func(q *question) error {
		zxid, err = q.newest(t.cfg.Authorizations())
		return err
	})
	return zxid, err
}

// newest asks for the newest zxid. Authentication goes first, since servers that insist on it take nothing else before.
func (q *question) newest(auth []Auth) (zxid int64, err error) {
	ignored := func(error) {}
	out := authFrames(auth)
	out = Sync("/", ignored).frame(out, xidQuestionSync)
	out = Exists("/", false, nil).frame(out, xidQuestion)
	if _, err := q.conn.Write(out); err != nil {
		return 0, err
	}
	for synced := false; ; {
		xid, zxid, code, err := q.answer()
		switch {
		case err != nil:
			return 0, err
		case xid == xidQuestionSync && code != 0:
			return 0, fmt.Errorf("sync: %w", toError(code))
		case xid == xidQuestionSync:
			synced = true
		// without the sync the server may merely be behind the others
		case xid == xidQuestion && (zxid <= 0 || !synced):
			return 0, garbage("zxid %#x, behind a sync: %t", zxid, synced)
		case xid == xidQuestion:
			return zxid, nil
		}
	}
}

// A verdict is what an attempt has shown about the data of a server.
type verdict int

const (
	unknown verdict = iota // it could not be asked
	behind                 // it lacks what the client has seen
	level                  // it has all of it
)

// younger decides whether the ensemble is younger than what the client has seen: every address was tried, more than
// half are behind, and none is level. Servers of the list that are known by no address, nowhere of them, count as one
// each that could not be asked. A server that has both an IPv4 and an IPv6 address of one name, of which it may not
// listen on both, counts once: of each name the family with more addresses counts, and that with more that are behind.
func younger(all []Address, nowhere int, verdicts map[Address]verdict) bool {
	type tally struct{ addresses, behind [2]int }
	names := make(map[string]*tally)
	for _, a := range all {
		v, tried := verdicts[a]
		if !tried || v == level {
			return false
		}
		n := names[a.Server]
		if n == nil {
			n = new(tally)
			names[a.Server] = n
		}
		host, _, _ := net.SplitHostPort(a.Dial)
		family := 0
		if ip, err := netip.ParseAddr(host); err == nil && !ip.Unmap().Is4() {
			family = 1
		}
		n.addresses[family]++
		if v == behind {
			n.behind[family]++
		}
	}
	count, lacking := nowhere, 0
	for _, n := range names {
		count += max(n.addresses[0], n.addresses[1])
		lacking += max(n.behind[0], n.behind[1])
	}
	return 2*lacking > count
}

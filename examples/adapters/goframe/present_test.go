package goframeregistry_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// present sends the requests that GoFrame's own adapter sends, contrib/registry/zookeeper of its v2, read in November
// 2026.
type present struct {
	t    *testing.T
	conn *zk.Conn
	end  chan struct{} // closed at the end of the test; the adapter itself has nothing that ends its loops
}

// host is a list of servers without DNS.
type host struct{ tries int }

func (*host) Init([]string) error { return nil }
func (*host) Len() int            { return 1 }
func (h *host) Connected()        { h.tries = 0 }
func (h *host) Next() (string, bool) {
	h.tries++
	return "any:2181", h.tries > 1
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func newPresent(t *testing.T, dial zk.Dialer) *present {
	t.Helper()
	conn, events, err := zk.Connect([]string{"any:2181"}, timeout, zk.WithDialer(dial), zk.WithHostProvider(&host{}), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	p := &present{t: t, conn: conn, end: make(chan struct{})}
	t.Cleanup(func() {
		close(p.end)
		conn.Close()
		for range events { // until the connection has ended
		}
	})
	return p
}

// directory is that of a service, whose node has its name there.
func directory(prefix string) string {
	return "/microservices/" + strings.Trim(strings.ReplaceAll(prefix, "/", "-"), "-")
}

func (p *present) register(s gsvcService) {
	p.t.Helper()
	data, err := json.Marshal(struct{ Key, Value string }{s.GetKey(), s.GetValue()})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, dir := range []string{"/microservices", directory(s.GetPrefix())} {
		if there, _, err := p.conn.Exists(dir); err != nil {
			p.t.Fatal(err)
		} else if !there {
			p.create(dir, nil, 0)
		}
	}
	at := directory(s.GetPrefix()) + "/" + s.GetName()
	p.replace(at, data)
	go func() {
		session, second := p.conn.SessionID(), time.NewTicker(time.Second)
		defer second.Stop()
		for {
			select {
			case <-second.C:
			case <-p.end:
				return
			}
			if now := p.conn.SessionID(); now > 0 && now != session {
				session = now
				p.replace(at, data)
			}
		}
	}()
}

// replace deletes the node, whose ever it is, and makes another.
func (p *present) replace(at string, data []byte) {
	if _, stat, err := p.conn.Exists(at); err != nil {
		p.t.Errorf("exists %s: %v", at, err)
	} else if err := p.conn.Delete(at, stat.Version); err != nil && !errors.Is(err, zk.ErrNoNode) {
		p.t.Errorf("delete %s: %v", at, err)
	}
	p.create(at, data, zk.FlagEphemeral)
}

func (p *present) create(at string, data []byte, flags int32) {
	if _, err := p.conn.Create(at, data, flags, zk.WorldACL(zk.PermAll)); err != nil {
		p.t.Errorf("create %s: %v", at, err)
	}
}

func (p *present) deregister(s gsvcService) {
	p.t.Helper()
	if err := p.conn.Delete(directory(s.GetPrefix())+"/"+s.GetName(), -1); err != nil {
		p.t.Fatal(err)
	}
}

func (p *present) find(prefix string) (found []gsvcService) {
	p.t.Helper()
	names, _, err := p.conn.Children(directory(prefix))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range names {
		data, _, err := p.conn.Get(directory(prefix) + "/" + name)
		if err != nil {
			p.t.Fatal(err)
		}
		var c struct{ Key, Value string }
		if err := json.Unmarshal(data, &c); err != nil {
			p.t.Fatal(err)
		}
		s, err := newServiceWithKV(c.Key, c.Value)
		if err != nil {
			p.t.Fatal(err)
		}
		found = append(found, s)
	}
	return found
}

// watch sends what the watcher hears. Of a directory that does not exist it hears an error, then waits for a channel
// that is nil.
func (p *present) watch(prefix string) chan zk.Event {
	heard := make(chan zk.Event, 100)
	go func() {
		for {
			_, _, events, err := p.conn.ChildrenW(directory(prefix))
			if err != nil {
				heard <- zk.Event{Err: err}
			}
			select {
			case event := <-events:
				heard <- event
			case <-p.end:
				return
			}
		}
	}()
	return heard
}

package kratosregistry_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/go-kratos/kratos/v2/registry"
	"github.com/go-zookeeper/zk"
)

// present sends the requests that Kratos's own adapter sends, contrib/registry/zookeeper of its v2 and v3, read in May
// 2026. It is no dependency of this module.
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

func (p *present) register(service *registry.ServiceInstance) {
	p.t.Helper()
	data, err := json.Marshal(service)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, dir := range []string{"/microservices", "/microservices/" + service.Name} {
		if there, _, err := p.conn.Exists(dir); err != nil {
			p.t.Fatal(err)
		} else if !there {
			p.create(dir, nil, 0)
		}
	}
	at := "/microservices/" + service.Name + "/" + service.ID
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

func (p *present) deregister(service *registry.ServiceInstance) {
	p.t.Helper()
	if err := p.conn.Delete("/microservices/"+service.Name+"/"+service.ID, -1); err != nil {
		p.t.Fatal(err)
	}
}

func (p *present) find(name string) (found []*registry.ServiceInstance) {
	p.t.Helper()
	ids, _, err := p.conn.Children("/microservices/" + name)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, id := range ids {
		data, _, err := p.conn.Get("/microservices/" + name + "/" + id)
		if err != nil {
			p.t.Fatal(err)
		}
		var service *registry.ServiceInstance
		if err := json.Unmarshal(data, &service); err != nil {
			p.t.Fatal(err)
		}
		found = append(found, service)
	}
	return found
}

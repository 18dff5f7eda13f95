//go:build linux

package godriver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/integration/internal/gozk"
)

// goZK is a client of go-zookeeper, for its zk.Lock.
type goZK struct {
	conn    *zk.Conn
	order   Order
	tell    func(event string)
	connect func() (*zk.Conn, error)
}

func openZK(ctx context.Context, order Order, tell func(event string)) (client, error) {
	g := &goZK{order: order, tell: tell}
	g.connect = func() (*zk.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, order.openTimeout())
		defer cancel()
		return gozk.Connect(ctx, order.Connect, time.Duration(order.Session)*time.Millisecond)
	}
	var err error
	g.conn, err = g.connect()
	return g, err
}

func (g *goZK) session() string { return fmt.Sprint(uint64(g.conn.SessionID())) }

func (g *goZK) close() { g.conn.Close() }

func (g *goZK) revoke(context.Context, string) error { return errors.New("zk.Lock cannot be revoked") }

func (g *goZK) contender(order Order, _ func(*Answer)) (contender, error) {
	data := order.Data
	if data == nil {
		data = g.order.Data
	}
	return &zkLock{client: g, path: order.Path, data: data}, nil
}

// A zkLock is a user of zk.Lock.
type zkLock struct {
	client *goZK
	path   string
	data   *string
	conn   *zk.Conn // with a connection of its own, after a failure
	lock   *zk.Lock
}

func (z *zkLock) acquire(_ context.Context, order Order) ([]string, int64, error) {
	if order.MS >= 0 {
		return nil, 0, errors.New("zk.Lock has no time limit")
	}
	conn := z.conn
	if conn == nil {
		conn = z.client.conn
	}
	if z.lock != nil {
		return nil, 0, zk.ErrDeadlock
	}
	lock := zk.NewLock(conn, z.path, zk.WorldACL(zk.PermAll))
	var data []byte
	if z.data != nil {
		data = []byte(*z.data)
	}
	if err := lock.LockWithData(data); err != nil {
		return nil, 0, errors.Join(err, z.fresh())
	}
	z.lock = lock
	// The lock does not show its node; it is the first of this session's.
	children, _, err := conn.Children(z.path)
	if err != nil {
		return nil, 0, nil //nolint:nilerr // it is held all the same
	}
	for _, name := range children {
		if _, stat, err := conn.Exists(z.path + "/" + name); err == nil && stat.EphemeralOwner == conn.SessionID() &&
			strings.Contains(name, "lock-") {
			return []string{name}, 0, nil
		}
	}
	return nil, 0, nil
}

func (z *zkLock) release(_ Order, leaving func(valid int64)) error {
	if z.lock == nil {
		return zk.ErrNotLocked
	}
	leaving(0)
	err := z.lock.Unlock()
	z.lock = nil
	if err != nil {
		return errors.Join(err, z.fresh())
	}
	return nil
}

// fresh takes a new session. A failed Lock leaves its node to the old one, and a failed Unlock may have.
func (z *zkLock) fresh() error {
	old := z.conn
	if old == nil {
		old = z.client.conn
	}
	old.Close()
	conn, err := z.client.connect()
	if err != nil {
		return err
	}
	z.conn = conn
	z.client.conn = conn
	return nil
}

func (z *zkLock) report(context.Context, Order, *Answer) error { return nil }

package zktest

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// pipeConn is one end of an in-memory connection.
type pipeConn struct {
	in, out       *half
	local, remote net.Addr
	closed        func()       // reports to the link that this end is gone; may be nil
	meters        []*pipeMeter // at the client's end only
	once          sync.Once
}

func newPipe(delay *atomic.Int64, client, server net.Addr) (c, s *pipeConn) {
	up, down := &half{delay: delay}, &half{delay: delay}
	c = &pipeConn{in: down, out: up, local: client, remote: server}
	s = &pipeConn{in: up, out: down, local: server, remote: client}
	return c, s
}

func (c *pipeConn) fail(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.remote, Err: err}
}

func (c *pipeConn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	for _, m := range c.meters {
		m.read(p[:n])
	}
	return n, c.fail("read", err)
}

func (c *pipeConn) Write(p []byte) (int, error) {
	for _, m := range c.meters { // before an answer can come
		m.wrote(p)
	}
	n, err := c.out.write(p)
	return n, c.fail("write", err)
}

func (c *pipeConn) Close() error {
	err := c.fail("close", net.ErrClosed)
	c.once.Do(func() {
		c.out.end()
		c.in.stop()
		if c.closed != nil {
			c.closed()
		}
		err = nil
	})
	return err
}

// breakOff resets the connection at both ends at once.
func (c *pipeConn) breakOff() {
	c.in.breakOff()
	c.out.breakOff()
}

func (c *pipeConn) mute() {
	c.in.mute()
	c.out.mute()
}

func (c *pipeConn) LocalAddr() net.Addr  { return c.local }
func (c *pipeConn) RemoteAddr() net.Addr { return c.remote }

func (c *pipeConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.in.change(func(h *half) { h.readBy = t })
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.out.writeBy = t
	return nil
}

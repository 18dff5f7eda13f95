//go:build unix

package transport

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// A socket writes to a TCP connection without waiting for room, which the net package sees to: its descriptors do not
// block. One goroutine uses it at a time.
type socket struct {
	conn    *net.TCPConn
	raw     syscall.RawConn
	once    func(fd uintptr) (done bool)
	batch   []byte
	written int
	err     error
}

// newSocket returns nil for other connections: a type of the user that embeds a TCP connection may have a Write of its
// own, and TLS has.
func newSocket(conn net.Conn) *socket {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	s := &socket{conn: tcp, raw: raw}
	s.once = func(fd uintptr) bool { // made once: it would be an allocation a write
		switch n, err := syscall.Write(int(fd), s.batch); {
		case err == nil:
			s.written = n
		case !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR):
			s.err = err
		}
		return true // also if there is no room: it does not wait
	}
	return s
}

// write returns how much of batch the socket took. An error is that of [net.Conn.Write]: the system reports some once.
func (s *socket) write(batch []byte) (n int, err error) {
	s.batch, s.written, s.err = batch, 0, nil
	err = s.raw.Write(s.once)
	if s.err != nil {
		err = &net.OpError{
			Op: "write", Net: "tcp", Source: s.conn.LocalAddr(), Addr: s.conn.RemoteAddr(), Err: os.NewSyscallError("write", s.err),
		}
	}
	s.batch = nil
	return s.written, err
}

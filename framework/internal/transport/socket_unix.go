//go:build unix

package transport

import (
	"net"
	"syscall"
)

// A socket writes to a TCP connection without waiting for room. One goroutine uses it at a time.
type socket struct {
	raw     syscall.RawConn
	once    func(fd uintptr) (done bool)
	batch   []byte
	written int
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
	s := &socket{raw: raw}
	s.once = func(fd uintptr) bool { // made once: it would be an allocation a write
		if n, err := syscall.Write(int(fd), s.batch); err == nil {
			s.written = n
		}
		return true // also if there is no room: it does not wait
	}
	return s
}

// write returns how much of batch the socket took; nothing after an error.
func (s *socket) write(batch []byte) int {
	s.batch, s.written = batch, 0
	_ = s.raw.Write(s.once)
	s.batch = nil
	return s.written
}

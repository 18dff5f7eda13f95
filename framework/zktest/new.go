package zktest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// TB is what New needs of a *testing.T, *testing.B or *testing.F.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// New returns a server for the time of a test. When the test ends the server
// is closed, and a client that is still connected then, with the watches that
// it left, is an error of the test. Clients are to be made after the server,
// so that their cleanups run before its own.
func New(t TB, opts ...Option) *Server {
	t.Helper()
	s := NewServer(opts...)
	t.Cleanup(func() {
		t.Helper()
		if left := s.leftovers(); left != "" {
			t.Errorf("zktest: at the end of the test%s", left)
		}
		_ = s.Close()
	})
	return s
}

// leaveTime is for connections that their clients have just closed: the server notices a moment later, and on a busy
// machine notices one after the other. It restarts with each that leaves. In a bubble it costs nothing.
const leaveTime = 10 * time.Second

func (s *Server) leftovers() string {
	timer := time.NewTimer(leaveTime)
	defer timer.Stop()
	var report strings.Builder
	late := false
	s.mu.Lock()
	conns := s.sortedConns()
	s.unlock()
	for _, c := range conns {
		if !late && !closed(c.left) {
			select {
			case <-c.left:
			case <-timer.C:
				late = true
			}
		}
		if closed(c.left) {
			timer.Reset(leaveTime)
			continue
		}
		report.WriteString(c.leftover())
	}
	return report.String()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (c *conn) leftover() string {
	s := c.srv
	s.mu.Lock()
	defer s.unlock()
	if c.closed || c.sess == nil {
		return ""
	}
	var watches []string
	for path := range c.watched {
		if s.dataWatches.has(path, c, watchAny) || s.childWatches.has(path, c, watchAny) {
			watches = append(watches, path)
		}
	}
	return fmt.Sprintf("\n\tsession 0x%x is connected, with ephemeral nodes %q and watches on %q",
		c.sess.id, s.tree.ephemeralsOf(c.sess.id), slices.Sorted(slices.Values(watches)))
}

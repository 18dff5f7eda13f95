package zktest

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a ZooKeeper server in memory. All methods are safe for concurrent
// use; unless they say otherwise they do not wait for anything but each other.
type Server struct {
	*store

	// Guarded by the store's mutex.
	view         *tree // what this server's clients read
	attached     map[int64]*conn
	dataWatches  watchTable
	childWatches watchTable
	open         map[*conn]struct{}
	ending       map[*conn]struct{} // closed, but for answers that have yet to leave
	refuse       bool
	readOnly     bool
	least, most  time.Duration             // session timeouts that it grants
	passwords    map[string]string         // by SASL user; nil: those of the options
	received     int64                     // requests
	away         bool                      // without a leader for too long: serves no client
	listener     net.Listener              // listens at Addr
	listeners    map[net.Listener]struct{} // all of them
	reply        encoder
	events       encoder
	replica      replica

	sent     atomic.Int64                  // frames
	gate     atomic.Pointer[chan struct{}] // non-nil while frozen
	routines sync.WaitGroup
}

// NewServer returns a server that is ready at once. It starts neither a
// goroutine nor a listener before a client connects, so it can be made and
// used inside a testing/synctest bubble. Close ends it.
func NewServer(opts ...Option) *Server {
	cfg := defaults()
	for _, opt := range opts {
		opt(&cfg)
	}
	if cfg.minTimeout == 0 {
		cfg.minTimeout = 2 * cfg.tick
		cfg.maxTimeout = max(cfg.maxTimeout, cfg.minTimeout)
	}
	if cfg.syncLimit == 0 {
		cfg.syncLimit = 5 * cfg.tick
	}
	st := newStore(cfg)
	st.leader = st.addServer(st.tree)
	return st.leader
}

func (st *store) addServer(view *tree) *Server {
	s := &Server{
		store: st, view: view, dataWatches: newWatchTable(st.cfg.version), childWatches: newWatchTable(st.cfg.version),
		least: st.cfg.minTimeout, most: st.cfg.maxTimeout,
		open: make(map[*conn]struct{}), ending: make(map[*conn]struct{}), attached: make(map[int64]*conn),
	}
	st.servers = append(st.servers, s)
	return s
}

// Addr returns the host:port of a TCP listener on the loopback interface,
// which the first call starts. It works for clients in any language, but not
// inside a testing/synctest bubble: network I/O stops the bubble's clock. It
// panics if the listener cannot be opened, and after Close.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.unlock()
	if s.listener == nil {
		if s.closed {
			panic("zktest: Addr of a closed server")
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic("zktest: " + err.Error())
		}
		s.listener = l
		s.listens(l)
		go func() { _ = s.accept(l) }() // it fails when Close closes l
	}
	return s.listener.Addr().String()
}

// Serve accepts clients on l, for addresses other than that of Addr, and for
// TLS. It blocks until the server is closed, and then returns nil, or until
// Accept of l fails with net.ErrClosed, and then returns that error. It also
// fails if the server was closed before. In every case l is closed. After any
// other error of Accept it goes on after a pause, which grows from 5 ms to 1 s.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closed {
		s.unlock()
		return errors.Join(errors.New("zktest: Serve on a closed server"), l.Close())
	}
	s.listens(l)
	s.unlock()
	err := s.accept(l)
	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return nil
	}
	s.doomed = append(s.doomed, func() { _ = l.Close() })
	delete(s.listeners, l)
	return err
}

// listens notes a listener, for which accept is to be called.
func (s *Server) listens(l net.Listener) {
	if s.listeners == nil {
		s.listeners = make(map[net.Listener]struct{})
	}
	s.listeners[l] = struct{}{}
	s.routines.Add(1)
}

// accept takes clients until l or the server is closed. After any other failure,
// such as too many open files, it goes on: nothing else would serve clients again.
func (s *Server) accept(l net.Listener) error {
	defer s.routines.Done()
	pause := shortestPause
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		if err != nil {
			if s.cfg.logger != nil {
				s.cfg.logger.Warn("zktest: accept failed", "address", l.Addr(), "error", err, "pause", pause)
			}
			select {
			case <-s.down:
				return err
			case <-time.After(pause):
			}
			pause = min(2*pause, longestPause)
			continue
		}
		pause = shortestPause
		host, _, _ := net.SplitHostPort(nc.RemoteAddr().String())
		if !s.take(nc, host) {
			hangUp(nc, closeReset)
		}
	}
}

// The bounds of the pause after an Accept that has failed, which doubles, as in
// net/http.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

// take starts serving a connection unless the server refuses it.
func (s *Server) take(nc net.Conn, host string) bool {
	s.mu.Lock()
	defer s.unlock()
	if s.closed || s.refuse {
		return false
	}
	s.conns++
	c := &conn{
		srv: s, nc: nc, number: s.conns, host: host, auth: []identity{{"ip", host}},
		gone: make(chan struct{}), left: make(chan struct{}), ready: make(chan struct{}, 1),
	}
	s.open[c] = struct{}{}
	s.routines.Add(2)
	go c.readLoop()
	go c.writeLoop()
	return true
}

// Close cuts all connections and returns when everything that the server
// started has ended. It always returns nil, also the second time.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.down)
	}
	s.cancelAlarm()
	for _, srv := range s.servers {
		srv.hangUpAll()
	}
	s.unlock()
	for _, srv := range s.servers {
		srv.routines.Wait()
	}
	s.alarms.Wait()
	return nil
}

func (s *Server) hangUpAll() {
	for c := range s.open {
		c.drop(closeNow, "the server is closed")
	}
	for c := range s.ending {
		c.drop(closeNow, "the server is closed")
	}
	for l := range s.listeners {
		s.doomed = append(s.doomed, func() { _ = l.Close() })
	}
}

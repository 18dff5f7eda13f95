package zktest

import (
	"cmp"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"time"
)

// words are the commands that a connection may consist of instead of the protocol: four letters, answered with text.
// They collide with the length of an impossible frame. A real server knows only srvr unless it is configured otherwise.
var words = map[string]func(s *Server, b *strings.Builder){
	"ruok": func(_ *Server, b *strings.Builder) { b.WriteString("imok") },
	"isro": func(s *Server, b *strings.Builder) {
		b.WriteString(map[bool]string{true: "ro", false: "rw"}[s.readOnly])
	},
	"srvr": (*Server).srvr,
	"stat": (*Server).wordStat,
	"cons": (*Server).cons,
	"mntr": (*Server).mntr,
	"conf": (*Server).conf,
	"envi": (*Server).envi,
	"dump": (*Server).dump,
	"wchs": (*Server).wchs,
	"wchc": (*Server).wchc,
	"wchp": (*Server).wchp,
}

// sayWord answers a four-letter word and leaves the connection to be closed.
func (c *conn) sayWord(word string) {
	s := c.srv
	if !s.passGate(c) {
		return
	}
	var b strings.Builder
	s.mu.Lock()
	defer s.unlock()
	words[word](s, &b)
	c.send([]byte(b.String()))
}

func (v version) String() string {
	if v[2] == latest {
		return fmt.Sprintf("%d.%d.99", v[0], v[1])
	}
	return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])
}

func (s *Server) versionText() string {
	return s.cfg.version.String() + "-zktest, built on 2026-02-11 20:18 UTC"
}

func (s *Server) mode() string {
	switch {
	case s.readOnly:
		return "read-only"
	case len(s.servers) == 1:
		return "standalone"
	case s == s.leader:
		return "leader"
	}
	return "follower"
}

func (s *Server) srvr(b *strings.Builder) {
	fmt.Fprintf(b, "Zookeeper version: %s\n", s.versionText())
	s.summary(b)
}

func (s *Server) summary(b *strings.Builder) {
	fmt.Fprintf(b, "Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n",
		s.received, s.sent.Load(), len(s.open))
	fmt.Fprintf(b, "Zxid: 0x%x\nMode: %s\nNode count: %d\n", s.applied(), s.mode(), len(s.view.nodes))
}

func (s *Server) wordStat(b *strings.Builder) {
	fmt.Fprintf(b, "Zookeeper version: %s\nClients:\n", s.versionText())
	for _, c := range s.sortedConns() {
		fmt.Fprintf(b, " /%s[1](queued=0,recved=%d,sent=0)\n", c.nc.RemoteAddr(), c.received)
	}
	b.WriteString("\n")
	s.summary(b)
}

// id returns the session's id, 0 before the handshake.
func (c *conn) id() int64 {
	if c.sess == nil {
		return 0
	}
	return c.sess.id
}

func (s *Server) cons(b *strings.Builder) {
	for _, c := range s.sortedConns() {
		fmt.Fprintf(b, " /%s[1](queued=0,recved=%d,sent=0", c.nc.RemoteAddr(), c.received)
		if c.sess != nil {
			fmt.Fprintf(b, ",sid=0x%x,to=%d,lresp=%d", uint64(c.sess.id), c.sess.timeout.Milliseconds(), c.answered.Milliseconds())
		}
		b.WriteString(")\n")
	}
	b.WriteString("\n")
}

func (s *Server) mntr(b *strings.Builder) {
	ephemerals, size := 0, 0
	for path, n := range s.view.nodes {
		size += len(path) + len(n.data)
		if n.kind == kindEphemeral {
			ephemerals++
		}
	}
	line := func(key string, value any) { fmt.Fprintf(b, "zk_%s\t%v\n", key, value) }
	line("version", s.versionText())
	line("server_state", s.mode())
	line("ephemerals_count", ephemerals)
	line("num_alive_connections", len(s.open))
	line("outstanding_requests", 0)
	line("znode_count", len(s.view.nodes))
	line("global_sessions", len(s.sessions))
	line("packets_sent", s.sent.Load())
	line("packets_received", s.received)
	line("watch_count", s.watchCount())
	line("approximate_data_size", size)
	line("uptime", s.elapsed().Milliseconds())
	if s == s.leader && len(s.servers) > 1 {
		line("followers", len(s.servers)-1)
	}
}

func (s *Server) conf(b *strings.Builder) {
	port := "-1"
	if s.listener != nil {
		_, port, _ = net.SplitHostPort(s.listener.Addr().String())
	}
	fmt.Fprintf(b, "clientPort=%s\nsecureClientPort=-1\ntickTime=%d\nmaxClientCnxns=0\nminSessionTimeout=%d\nmaxSessionTimeout=%d\nserverId=%d\n",
		port, s.cfg.tick.Milliseconds(), s.least.Milliseconds(), s.most.Milliseconds(), slices.Index(s.servers, s))
}

func (s *Server) envi(b *strings.Builder) {
	fmt.Fprintf(b, "Environment:\nzookeeper.version=%s\nhost.name=localhost\nos.name=%s\nos.arch=%s\n",
		s.versionText(), runtime.GOOS, runtime.GOARCH)
}

func (s *Server) dump(b *strings.Builder) {
	list := make([]*session, 0, len(s.sessions))
	for _, sess := range s.sessions {
		list = append(list, sess)
	}
	slices.SortFunc(list, func(x, y *session) int { return cmp.Compare(x.id, y.id) })
	b.WriteString("SessionTracker dump:\n")
	if s == s.leader {
		fmt.Fprintf(b, "Session Sets (%d)/(%d):\n", len(list), len(list))
	} else {
		fmt.Fprintf(b, "Global Sessions(%d):\n", len(list))
	}
	for _, sess := range list {
		if s != s.leader { // only the leader knows when a session ends
			fmt.Fprintf(b, "0x%x\t%dms\n", uint64(sess.id), sess.timeout.Milliseconds())
			continue
		}
		at := time.Now().Add(sess.deadline - s.elapsed())
		fmt.Fprintf(b, "1 expire at %s:\n\t0x%x\n", at.UTC().Format("Mon Jan 02 15:04:05 UTC 2006"), uint64(sess.id))
	}
	fmt.Fprintf(b, "ephemeral nodes dump:\nSessions with Ephemerals (%d):\n", len(s.view.ephemerals))
	for _, sess := range list {
		if paths := s.view.ephemeralsOf(sess.id); len(paths) > 0 {
			fmt.Fprintf(b, "0x%x:\n\t%s\n", sess.id, strings.Join(paths, "\n\t"))
		}
	}
	fmt.Fprintf(b, "Connections dump:\nConnections Sets (%d)/(%d):\n", len(s.open), len(s.open))
	for _, c := range s.sortedConns() {
		fmt.Fprintf(b, "\tip: /%s sessionId: 0x%x\n", c.nc.RemoteAddr(), c.id())
	}
}

// watchedBy maps each connection that watches something to the paths.
func (s *Server) watchedBy() map[*conn][]string {
	by := make(map[*conn][]string)
	for _, path := range s.watchedPaths() {
		for _, c := range s.sortedConns() {
			if s.dataWatches.has(path, c, watchAny) {
				by[c] = append(by[c], path)
			}
		}
	}
	return by
}

// watchedPaths lists what has a watch on its data: the words show no other.
func (s *Server) watchedPaths() []string { return sortedKeys(s.dataWatches.byPath) }

func (s *Server) wchs(b *strings.Builder) {
	total := 0
	for _, on := range s.dataWatches.byPath {
		total += len(on)
	}
	fmt.Fprintf(b, "%d connections watching %d paths\nTotal watches:%d\n", len(s.watchedBy()), len(s.dataWatches.byPath), total)
}

func (s *Server) wchc(b *strings.Builder) {
	by := s.watchedBy()
	for _, c := range s.sortedConns() {
		if paths := by[c]; len(paths) > 0 {
			fmt.Fprintf(b, "0x%x\n\t%s\n", c.id(), strings.Join(paths, "\n\t"))
		}
	}
	b.WriteString("\n")
}

func (s *Server) wchp(b *strings.Builder) {
	for _, path := range s.watchedPaths() {
		fmt.Fprintf(b, "%s\n", path)
		for _, c := range s.sortedConns() {
			if s.dataWatches.has(path, c, watchAny) {
				fmt.Fprintf(b, "\t0x%x\n", c.id())
			}
		}
	}
	b.WriteString("\n")
}

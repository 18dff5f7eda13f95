package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The kinds of servers.
const (
	ZooKeeper   = "zookeeper"
	Redis       = "redis"
	ThreeRedis  = "three-redis"
	RedisAlways = "redis-always"
	Etcd        = "etcd"
	NATS        = "nats"
	Postgres    = "postgres"
)

// starts has what starts a server of each kind, on a port.
var starts = map[string]func(*Server, context.Context, string) error{
	ZooKeeper: (*Server).zooKeeper, Redis: (*Server).redis, ThreeRedis: (*Server).threeRedis, RedisAlways: (*Server).redisAlways,
	Etcd: (*Server).etcd, NATS: (*Server).nats, Postgres: (*Server).postgres,
}

// ErrMissing says that something is not installed on this machine.
var ErrMissing = errors.New("not installed")

// A Server is one that locks are taken at, or several that are one to a client.
type Server struct {
	*Process

	Kind    string
	Version string
	Addr    string // host:port; of several servers, separated by commas

	others  []*Process // all but the first, if there are several
	dir     string
	options Options
	stop    syscall.Signal // what ends it in order; 0 if it is killed
}

// Options are how a server is started. The zero value is what the benchmark measures.
type Options struct {
	JVM   []string // further options of ZooKeeper's JVM, the last of which counts
	Built bool     // programs that have not been built yet count as missing
}

// startTimeout is how long a server may take until it serves.
const startTimeout = 2 * time.Minute

// Run starts a server of a kind whose data lies in a new directory below dir. It must be closed.
func Run(ctx context.Context, kind, dir string, o Options) (*Server, error) {
	data, err := os.MkdirTemp(dir, "curator-bench-"+kind+"-")
	if err != nil {
		return nil, err
	}
	for range 3 { // another process may take the port before the server starts
		s := &Server{Kind: kind, dir: data, options: o}
		var port string
		if port, err = freePort(); err != nil {
			break
		}
		s.Addr = net.JoinHostPort("127.0.0.1", port)
		if err = starts[kind](s, ctx, port); err == nil {
			err = s.await(ctx)
		}
		if err == nil {
			return s, nil
		}
		s.end()
		if errors.Is(err, ErrMissing) || ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(err, os.RemoveAll(data))
}

// Again starts a server that was killed on its data and its address, and returns when it serves.
func (s *Server) Again(ctx context.Context) error {
	_, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return err
	}
	if err := starts[s.Kind](s, ctx, port); err != nil {
		return err
	}
	return s.await(ctx)
}

// InMemory reports whether a directory lies in memory.
func InMemory(dir string) (bool, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	return fs.Type == unix.TMPFS_MAGIC, err
}

// Close ends the server and removes its data.
func (s *Server) Close() error {
	s.end()
	return os.RemoveAll(s.dir)
}

// end ends every process that was started.
func (s *Server) end() {
	if s.Process == nil {
		return
	}
	for _, p := range append(s.others, s.Process) {
		if s.stop != 0 {
			p.end(s.stop)
		}
		p.Kill()
	}
}

// PIDs returns the ids of all processes that serve. Postgres has one for each connection.
func (s *Server) PIDs() []int {
	var pids []int
	for _, p := range append([]*Process{s.Process}, s.others...) {
		pids = append(append(pids, p.PID()), p.children()...)
	}
	return pids
}

func (s *Server) run(name string, args ...string) (err error) {
	s.Process, err = Start(filepath.Join(s.dir, "log"), false, name, args...)
	return err
}

// await returns when the server serves.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if s.serves() {
			return nil
		}
		select {
		case <-s.Exited():
			return fmt.Errorf("%s ended: %w\n%s", s.Kind, s.err, s.Log())
		case <-ctx.Done():
			return fmt.Errorf("%s does not serve: %w\n%s", s.Kind, ctx.Err(), s.Log())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) serves() bool {
	switch s.Kind {
	case ZooKeeper:
		return s.zooKeeperServes()
	case Postgres:
		return s.postgresServes()
	}
	for addr := range strings.SplitSeq(s.Addr, ",") {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return false
		}
		conn.Close()
	}
	return true
}

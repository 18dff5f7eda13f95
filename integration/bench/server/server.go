package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// The kinds of servers.
const (
	ZooKeeper = "zookeeper"
	Redis     = "redis"
	Etcd      = "etcd"
)

// ErrMissing says that something is not installed on this machine.
var ErrMissing = errors.New("not installed")

// A Server is one that locks are taken at.
type Server struct {
	*Process

	Kind    string
	Version string
	Addr    string
	dir     string
	jvm     []string
}

// startTimeout is how long a server may take until it serves.
const startTimeout = 2 * time.Minute

// Run starts a server of a kind whose data lies in a new directory below dir. It must be closed. ZooKeeper's JVM gets
// further options, the last of which counts.
func Run(ctx context.Context, kind, dir string, jvm ...string) (*Server, error) {
	start := map[string]func(*Server, string) error{ZooKeeper: (*Server).zooKeeper, Redis: (*Server).redis, Etcd: (*Server).etcd}[kind]
	data, err := os.MkdirTemp(dir, "curator-bench-"+kind+"-")
	if err != nil {
		return nil, err
	}
	for range 3 { // another process may take the port before the server starts
		s := &Server{Kind: kind, dir: data, jvm: jvm}
		var port string
		if port, err = freePort(); err != nil {
			break
		}
		s.Addr = net.JoinHostPort("127.0.0.1", port)
		if err = start(s, port); err == nil {
			if err = s.await(ctx); err == nil {
				return s, nil
			}
			s.Kill()
		}
		if errors.Is(err, ErrMissing) || ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(err, os.RemoveAll(data))
}

// InMemory reports whether a directory lies in memory.
func InMemory(dir string) (bool, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	return fs.Type == unix.TMPFS_MAGIC, err
}

// Close ends the server and removes its data.
func (s *Server) Close() error {
	s.Kill()
	return os.RemoveAll(s.dir)
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
	if s.Kind == ZooKeeper {
		return s.zooKeeperServes()
	}
	conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

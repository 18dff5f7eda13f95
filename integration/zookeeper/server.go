//go:build unix

package zookeeper

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/programs"
)

const (
	// startTimeout is how long a server may take until it serves. It needs a quarter of a second on an idle machine.
	startTimeout = 2 * time.Minute

	// firstProbe bounds the first look at a starting server, which may accept a connection and never answer on it. Each
	// look takes longer than the one before, up to lastProbe: a busy machine may not answer any short one in time.
	firstProbe, lastProbe = 200 * time.Millisecond, 3 * time.Second
)

// A Server is one ZooKeeper server of its own, on loopback. Its methods are safe for concurrent use and may be called
// by any goroutine until the test has ended; what fails is reported to the test by Errorf.
type Server struct {
	t       reporter
	java    string
	args    []string
	port    int
	secure  int // the port for TLS, if it has one
	admin   int // the port for commands over HTTP, if it has one
	logFile string
	dataDir string

	mu      sync.Mutex
	process *process // the running or last one
}

// Start starts a server and returns when it serves. It ends with the test, whose log then gets the server's own if the
// test has failed. If there is no ZooKeeper to start, the test is skipped, or fails where CURATOR_INTEGRATION=required.
func Start(t testing.TB, config Config) *Server {
	t.Helper()
	java, jars := need(t)
	dir := t.TempDir()
	config = config.withDefaults()
	classPath := jars + "/*"
	if config.Admin {
		needVersion(t, 9, "command that restores a snapshot")
	}
	if config.StalledCreates {
		needVersion(t, 7, "connections that a class from outside can extend")
		classes, err := programs.Javac(jars, sources)
		missing(t, err)
		classPath = classes + string(filepath.ListSeparator) + classPath
	}

	var err error
	for range 3 { // another process may take the port between our look and the server's start
		var s *Server
		if s, err = start(t, config, java, classPath, dir); err == nil {
			t.Cleanup(s.end)
			return s
		}
	}
	fail(t, err)
	t.FailNow()
	return nil
}

func start(t testing.TB, config Config, java, classPath, dir string) (*Server, error) {
	t.Helper()
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	var secure, admin int
	if config.Secure {
		if secure, err = FreePort(); err != nil {
			return nil, err
		}
		config = config.withSecurePort(secure)
	}
	if config.Admin {
		if admin, err = FreePort(); err != nil {
			return nil, err
		}
		config = config.withAdminPort(admin)
	}
	file := filepath.Join(dir, "zoo.cfg")
	if err := config.writeFile(file, filepath.Join(dir, "data"), port); err != nil {
		return nil, err
	}
	s := &Server{
		t:       t,
		java:    java,
		args:    config.javaArgs(classPath, file),
		port:    port,
		secure:  secure,
		admin:   admin,
		logFile: filepath.Join(dir, "server.log"),
		dataDir: filepath.Join(dir, "data"),
	}
	if err := s.launch(); err != nil {
		return nil, err
	}
	return s, nil
}

// Addr returns the server's address, host:port. It stays the same for the server's life.
func (s *Server) Addr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// SecureAddr returns the address for TLS of a server with [Config.Secure].
func (s *Server) SecureAddr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.secure))
}

// DataDir is where the server keeps its data: its logs are in version-2 below.
func (s *Server) DataDir() string { return s.dataDir }

// PID returns the id of the running process, or of the last one.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.pid()
}

// Kill ends the server as kill -9 does and returns when the process is gone. Its data stays, and whatever it has
// answered to is in it. Killing a server that is not running does nothing.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.kill()
}

// Restart starts the server again on the same address and data, killing it first if it is running, and returns when it
// serves. Sessions that it knows get their full timeout again, counted from then.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.kill()
	if err := s.launch(); err != nil {
		fail(s.t, fmt.Errorf("restart: %w", err))
	}
}

// Wipe kills the server, deletes all that it knows, and starts it again on the same address. It returns when it serves.
// To clients it is a server whose data is older than what they have seen.
func (s *Server) Wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.kill()
	err := os.RemoveAll(filepath.Join(filepath.Dir(s.logFile), "data"))
	if err == nil {
		err = s.launch()
	}
	if err != nil {
		fail(s.t, fmt.Errorf("wipe: %w", err))
	}
}

// Freeze stops the server in its tracks (SIGSTOP) and returns when it stands: connections stay open, and nothing is
// answered until Unfreeze.
func (s *Server) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.process.freeze(); err != nil {
		s.t.Errorf("zookeeper: freeze: %v", err)
	}
}

// Unfreeze lets a frozen server go on (SIGCONT).
func (s *Server) Unfreeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.process.signal(syscall.SIGCONT); err != nil {
		s.t.Errorf("zookeeper: thaw: %v", err)
	}
}

// spawn starts a process.
func (s *Server) spawn() error {
	p, err := startProcess(s.logFile, s.java, s.args...)
	if err == nil {
		s.process = p
	}
	return err
}

// launch starts a process and waits until it serves. On failure nothing is left running.
func (s *Server) launch() error {
	if err := s.spawn(); err != nil {
		return err
	}
	p := s.process
	if err := s.awaitServing(p); err != nil {
		p.kill()
		return fmt.Errorf("%w; its log ends:\n%s", err, logTail(s.logFile))
	}
	return nil
}

// awaitServing polls srvr: it says Mode only once requests are served, whereas ruok says imok long before.
func (s *Server) awaitServing(p *process) error {
	deadline := time.Now().Add(startTimeout)
	for probe := firstProbe; time.Now().Before(deadline); {
		answer, err := fourLetter(s.Addr(), "srvr", probe)
		switch {
		case err == nil && strings.Contains(answer, "Mode: "):
			return nil
		case isLate(err):
			probe = min(2*probe, lastProbe)
		}
		select {
		case <-p.exited:
			return fmt.Errorf("the server ended: %w", p.err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return &lateError{fmt.Sprintf("the server did not serve within %v", startTimeout)}
}

// end is the server's part of the test's end.
func (s *Server) end() {
	s.Kill()
	dump(s.t, "the server at "+s.Addr(), s.logFile)
}

// logTail returns the last few kilobytes of a log.
func logTail(file string) []byte {
	log, err := os.ReadFile(file)
	if err != nil {
		return []byte(err.Error())
	}
	return log[max(0, len(log)-4096):]
}

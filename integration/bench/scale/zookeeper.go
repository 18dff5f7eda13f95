package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/integration/zookeeper"
)

// child is a real server in a process of its own, as a user would set it up but for the faster tick, the memory and the disk:
// fsync is not what is measured here.
type child struct {
	address string
	dir     string
	cmd     *exec.Cmd
	log     bytes.Buffer // to be read after exited is closed
	exited  chan struct{}
}

const zooCfg = `dataDir=%s
clientPort=%d
clientPortAddress=127.0.0.1
tickTime=500
maxSessionTimeout=60000
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=srvr,mntr
`

// startZooKeeper returns when the server serves. It ends at close, and with ctx.
func startZooKeeper(ctx context.Context) (server, error) {
	jars, err := findJars()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(dataRoot(), "scale-")
	if err != nil {
		return nil, err
	}
	c, err := spawn(ctx, jars, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := c.awaitServing(ctx); err != nil {
		return nil, errors.Join(err, c.close(), fmt.Errorf("its log: %s", &c.log))
	}
	return c, nil
}

// spawn starts the process.
func spawn(ctx context.Context, jars, dir string) (*child, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "zoo.cfg")
	if err := os.WriteFile(file, fmt.Appendf(nil, zooCfg, filepath.Join(dir, "data"), port), 0o600); err != nil {
		return nil, err
	}
	c := &child{address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), dir: dir, exited: make(chan struct{})}
	c.cmd = exec.CommandContext(ctx, "java", "-Xmx1g",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", // a warning for each connection takes its time
		"-Dznode.container.checkIntervalMs=3600000",      // the removal of empty directories would be measured with whatever comes later
		"-cp", jars+"/*", "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
	c.cmd.Stderr = &c.log
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.cmd.Wait() // it is killed: that is no news
		close(c.exited)
	}()
	return c, nil
}

// awaitServing asks with little patience: a server that starts may take a question and never answer.
func (c *child) awaitServing(ctx context.Context) error {
	const patience = 200 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		if answer, err := c.ask("srvr", patience); err == nil && strings.Contains(answer, "Mode: ") {
			return nil
		}
		select {
		case <-c.exited:
			return errors.New("ZooKeeper ended before it served")
		case <-ctx.Done():
			return fmt.Errorf("ZooKeeper does not serve: %w", context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *child) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", c.address)
}

// requests includes the question itself, and pings.
func (c *child) requests() (int64, error) {
	answer, err := c.ask("mntr", 30*time.Second) // it waits behind what the server is busy with
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(answer) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), "\t"); name == "zk_packets_received" {
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, errors.New("mntr does not tell zk_packets_received")
}

// ask sends one of ZooKeeper's four-letter commands.
func (c *child) ask(command string, patience time.Duration) (string, error) {
	conn, err := net.DialTimeout("tcp", c.address, patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, command); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

func (c *child) apart() bool { return true }

func (c *child) close() error {
	_ = c.cmd.Process.Kill() // fails only if it has ended already
	<-c.exited
	return os.RemoveAll(c.dir)
}

// dataRoot is where servers write: in memory, if there is such a place.
func dataRoot() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}

// findJars looks where integration/run puts them, from here upwards.
func findJars() (string, error) {
	if dir := os.Getenv("CURATOR_ZOOKEEPER_DIR"); dir != "" {
		return dir, nil
	}
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		jars := filepath.Join(dir, "integration", ".cache", "zookeeper-"+zookeeper.Version())
		if found, _ := filepath.Glob(filepath.Join(jars, "zookeeper-*.jar")); len(found) > 0 {
			return jars, nil
		}
	}
	return "", errors.Join(err, fmt.Errorf("no jars of ZooKeeper %s: integration/run ./integration/zookeeper gets them", zookeeper.Version()))
}

package server

import (
	"context"
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

// zooKeeper starts a server as it is installed: with its default tick, and with forceSync, so that a write is on the
// disk before it is answered, where there is a disk.
func (s *Server) zooKeeper(_ context.Context, port string) error {
	s.Version = zookeeper.Version()
	java, err := exec.LookPath("java")
	if err != nil {
		return fmt.Errorf("java: %w", ErrMissing)
	}
	jars, err := Jars("zookeeper-"+s.Version, "CURATOR_ZOOKEEPER_DIR")
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, "zoo.cfg")
	config := []string{
		"tickTime=2000",
		"dataDir=" + filepath.Join(s.dir, "data"),
		"clientPort=" + port,
		"clientPortAddress=127.0.0.1", // by default it listens on every interface
		"maxClientCnxns=0",            // by default 60 from one host
		"admin.enableServer=false",
		"4lw.commands.whitelist=srvr,mntr",
		"autopurge.purgeInterval=1", // a long run writes gigabytes of logs
	}
	if err := os.WriteFile(file, []byte(strings.Join(config, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	args := append([]string{"-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dzookeeper.jmx.log4j.disable=true"}, s.options.JVM...)
	return s.run(java, append(args, "-cp", filepath.Join(jars, "*"), "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)...)
}

// zooKeeperServes asks srvr: it names a mode only once requests are served.
func (s *Server) zooKeeperServes() bool {
	answer, err := s.fourLetter("srvr", 2*time.Second) // a starting server may accept, and never answer
	return err == nil && strings.Contains(answer, "Mode: ")
}

// Mntr returns ZooKeeper's own figures, by name.
func (s *Server) Mntr() (map[string]float64, error) {
	answer, err := s.fourLetter("mntr", 30*time.Second) // it waits behind what the server is busy with
	figures := make(map[string]float64)
	for line := range strings.Lines(answer) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			figures[name] = number
		}
	}
	return figures, err
}

func (s *Server) fourLetter(command string, timeout time.Duration) (string, error) {
	conn, err := net.DialTimeout("tcp", s.Addr, timeout)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, command); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

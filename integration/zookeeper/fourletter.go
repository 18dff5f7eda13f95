//go:build unix

package zookeeper

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// FourLetter sends one of ZooKeeper's four-letter commands, such as srvr, dump or wchp, and returns the answer. An
// answer that has not come in a minute is an error.
func (s *Server) FourLetter(command string) string {
	answer, err := fourLetter(s.Addr(), command, time.Minute)
	if err != nil {
		fail(s.t, err)
	}
	return answer
}

// Mntr returns the server's own figures, such as zk_watch_count, by name.
func (s *Server) Mntr() map[string]string {
	figures := make(map[string]string)
	for line := range strings.Lines(s.FourLetter("mntr")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			figures[name] = value
		}
	}
	return figures
}

func fourLetter(addr, command string, timeout time.Duration) (string, error) {
	deadline := time.Now().Add(timeout)
	conn, err := net.DialTimeout("tcp", addr, timeout)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(deadline); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, command); err != nil {
		return "", fmt.Errorf("%s: %w", command, err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return "", fmt.Errorf("%s: %w", command, err)
	}
	return string(answer), nil
}

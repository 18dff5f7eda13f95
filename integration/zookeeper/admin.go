//go:build unix

package zookeeper

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Snapshot has a server with [Config.Admin] write down what it knows, sessions included, and returns that.
func (s *Server) Snapshot() []byte { return s.command(http.MethodGet, "snapshot?streaming=true", nil) }

// Restore has a server with [Config.Admin] go on with a snapshot in place of what it knows. It returns when the server
// has done so. The server does not stop, and connections stay open.
func (s *Server) Restore(snapshot []byte) { s.command(http.MethodPost, "restore", snapshot) }

// command runs an administrator's command, and returns the answer. An answer that has not come in a minute is an error.
func (s *Server) command(method, command string, body []byte) []byte {
	answer, err := s.tryCommand(method, command, body)
	if err != nil {
		fail(s.t, fmt.Errorf("%s: %w", command, err))
	}
	return answer
}

func (s *Server) tryCommand(method, command string, body []byte) ([]byte, error) {
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.admin)) + "/commands/" + command
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "ip") // the root's ACL lets every address do everything
	client := http.Client{Timeout: time.Minute}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return answer, err
}

package framework

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// defaultPort is ZooKeeper's client port, for servers that are named without one.
const defaultPort = "2181"

// parseServer checks one server of a connect string and adds the default port.
func parseServer(server string) (string, error) {
	if server == "" {
		return "", errors.New("a server is empty")
	}
	host, port, err := splitServer(server)
	if err != nil {
		return "", fmt.Errorf("server %q: %w", server, err)
	}
	if host == "" {
		return "", fmt.Errorf("server %q: no host", server)
	}
	if strings.ContainsAny(host, " \t\r\n\x00[]@;\\") {
		return "", fmt.Errorf("server %q: not a host name", server)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("server %q: port must be a number from 1 to 65535", server)
	}
	return net.JoinHostPort(host, port), nil
}

func splitServer(server string) (host, port string, err error) {
	bare := strings.HasPrefix(server, "[") && strings.HasSuffix(server, "]")
	switch {
	case bare:
		return server[1 : len(server)-1], defaultPort, nil
	case strings.Count(server, ":") == 0:
		return server, defaultPort, nil
	case strings.Count(server, ":") > 1 && !strings.HasPrefix(server, "["):
		return "", "", errors.New("an IPv6 address must stand in brackets")
	default:
		host, port, err = net.SplitHostPort(server)
		return host, port, err
	}
}

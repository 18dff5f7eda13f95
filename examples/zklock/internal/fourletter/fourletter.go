// Package fourletter asks ZooKeeper servers by four-letter commands.
package fourletter

import (
	"context"
	"io"
	"net"
	"strings"
)

// Addresses returns the servers of a connect string, each with a port.
func Addresses(connect string) (all []string) {
	addresses, _, _ := strings.Cut(connect, "/")
	for address := range strings.SplitSeq(addresses, ",") {
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(strings.Trim(address, "[]"), "2181")
		}
		all = append(all, address)
	}
	return all
}

// Ask sends a four-letter command, and returns the answer. It blocks until then, or until ctx ends. Servers that do not
// allow the command say so, or hang up.
func Ask(ctx context.Context, address, command string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := conn.Write([]byte(command)); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, 1<<20))
	if len(answer) > 0 {
		err = nil // a reset behind the answer is no matter
	}
	return string(answer), err
}

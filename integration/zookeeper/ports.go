//go:build unix

package zookeeper

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePort finds an unused port of loopback. Until this process ends, no other call on this machine gets it: a server
// keeps its port while it is down.
func FreePort() (int, error) {
	listener, err := listen()
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	addr, _ := listener.Addr().(*net.TCPAddr)
	return addr.Port, nil
}

// listen listens on a port of loopback that [FreePort] does not give out. It keeps out of the range from which the
// kernel takes ports for outgoing connections: there, while a killed server is down, an outgoing connection may take
// its port, and a client that dials the closed port again and again is at last connected to itself.
func listen() (net.Listener, error) {
	const low, high = 10_000, 32_000
	var err error
	for range 100 {
		port := low + rand.IntN(high-low)
		if err = claim(port); err != nil {
			continue
		}
		var listener net.Listener
		if listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return listener, nil
		}
	}
	return nil, fmt.Errorf("no free port: %w", err)
}

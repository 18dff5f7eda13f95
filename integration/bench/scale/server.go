package main

import (
	"context"
	"net"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/zookeeper"
)

// A server is what the clients of one series talk to. Each series has one of its own, so that none finds what another left.
type server interface {
	dial(ctx context.Context, network, address string) (net.Conn, error)
	requests() (int64, error) // that it has taken so far
	apart() bool              // whether it is another process, so that this one's memory is the clients'
	close() error
}

var servers = map[string]func(context.Context) (server, error){
	"zookeeper": startZooKeeper,
	"zktest":    func(context.Context) (server, error) { return memory{zktest.NewServer()}, nil }, //nolint:unparam // as the other
}

func describe(kind string) string {
	if kind == "zookeeper" {
		return "Apache ZooKeeper " + zookeeper.Version() + ", standalone, on loopback, data in " + dataRoot()
	}
	return "zktest, in the clients' process"
}

// memory is a server in this process.
type memory struct{ *zktest.Server }

func (m memory) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return m.DialContext(ctx, network, address)
}

func (m memory) requests() (int64, error) {
	var n int64
	for _, count := range m.Counts() {
		n += int64(count)
	}
	return n, nil
}

func (m memory) apart() bool  { return false }
func (m memory) close() error { return m.Close() }

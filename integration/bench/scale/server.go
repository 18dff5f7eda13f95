package main

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/bench/server"
	"github.com/gocurator/curator/integration/zookeeper"
)

// A site is what the clients of one series talk to. Each series has one of its own, so that none finds what another
// left.
type site interface {
	address() string          // it listens there
	requests() (int64, error) // how many it has taken so far
	apart() bool              // whether it is another process, so that this one's memory is the clients'
	pids() []int              // its processes
	expire(id int64) error    // ends a session
	// crash ends the server, or the leader of several, and returns when it is gone. The function that it returns starts
	// it again, and returns when requests are served.
	crash(ctx context.Context) (revive func() error, err error)
	Close() error
}

var sites = map[string]func(context.Context) (site, error){
	"zookeeper": startZooKeeper,
	"ensemble":  startEnsemble,
	"zktest":    func(context.Context) (site, error) { return memory{zktest.NewServer()}, nil }, //nolint:unparam // as the other
}

func describe(kind string) string {
	switch kind {
	case "ensemble":
		return "Apache ZooKeeper " + zookeeper.Version() + ", three servers, on loopback, without forceSync, data in " + dataRoot()
	case "zookeeper":
		return "Apache ZooKeeper " + zookeeper.Version() + ", standalone, on loopback, data in " + dataRoot()
	}
	return "zktest, in the clients' process"
}

// apache is a ZooKeeper in a process of its own.
type apache struct{ *server.Server }

func startZooKeeper(ctx context.Context) (site, error) {
	s, err := server.Run(ctx, server.ZooKeeper, dataRoot(), server.Options{JVM: []string{
		"-Xmx1g",
		// the removal of empty directories would be measured with whatever comes later
		"-Dznode.container.checkIntervalMs=3600000",
	}})
	if err != nil {
		return nil, err
	}
	return apache{s}, nil
}

func (a apache) address() string { return a.Addr }

// requests includes the question itself, and pings.
func (a apache) requests() (int64, error) {
	figures, err := a.Mntr()
	if err != nil {
		return 0, err
	}
	received, ok := figures["zk_packets_received"]
	if !ok {
		return 0, errors.New("mntr does not report zk_packets_received")
	}
	return int64(received), nil
}

func (apache) apart() bool { return true }

func (a apache) pids() []int { return a.PIDs() }

func (a apache) expire(id int64) error { return zookeeper.EndSession(a.Addr, id) }

func (a apache) crash(ctx context.Context) (func() error, error) {
	a.Kill()
	return func() error { return a.Again(ctx) }, nil
}

// memory is a server in this process.
type memory struct{ *zktest.Server }

func (m memory) address() string { return m.Addr() }

func (m memory) requests() (int64, error) {
	var n int64
	for _, count := range m.Counts() {
		n += int64(count)
	}
	return n, nil
}

func (memory) apart() bool { return false }

func (memory) pids() []int { return nil }

func (m memory) expire(id int64) error {
	m.ExpireSession(id)
	return nil
}

func (m memory) crash(context.Context) (func() error, error) {
	m.RefuseConnections(true)
	m.CutAll()
	return func() error {
		m.RefuseConnections(false)
		return nil
	}, nil
}

// dataRoot is where servers write: in memory, if there is such a place.
func dataRoot() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

// connect is for clients that are given a connection, and not an address.
func connect(ctx context.Context, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

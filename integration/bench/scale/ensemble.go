package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/integration/zookeeper"
)

// three is an ensemble of three real servers, each a process of its own.
type three struct {
	*zookeeper.Ensemble

	dir      string
	problems *problems
}

func startEnsemble(context.Context) (site, error) {
	dir, err := os.MkdirTemp(dataRoot(), "curator-bench-ensemble-")
	if err != nil {
		return nil, err
	}
	p := &problems{}
	e, err := zookeeper.NewEnsemble(dir, zookeeper.EnsembleConfig{Direct: true, SyncLimit: 5, Config: zookeeper.Config{
		TickTime: 2 * time.Second, MaxSessionTimeout: 40 * time.Second, ContainerCheckInterval: time.Hour,
		Properties:  map[string]string{"autopurge.purgeInterval": "1"},
		JavaOptions: []string{"-Xmx1g", "-XX:TieredStopAtLevel=4"},
	}}, p)
	if err != nil {
		return nil, errors.Join(err, p.err(), os.RemoveAll(dir))
	}
	e.Settled()
	return &three{Ensemble: e, dir: dir, problems: p}, p.err()
}

// problems are what an ensemble reports.
type problems struct {
	mu  sync.Mutex
	all []error
}

func (p *problems) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, fmt.Errorf(format, args...))
}

func (p *problems) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.all...)
}

// address has the servers' own addresses: proxies would be measured with them.
func (t *three) address() string {
	var all []string
	for _, m := range t.Members() {
		all = append(all, m.Server.Addr())
	}
	return strings.Join(all, ",")
}

func (t *three) requests() (int64, error) {
	var sum int64
	for _, m := range t.Members() {
		n, err := strconv.ParseInt(m.Mntr()["zk_packets_received"], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("mntr of server %d: %w", m.ID(), errors.Join(err, t.problems.err()))
		}
		sum += n
	}
	return sum, nil
}

func (*three) apart() bool { return true }

func (t *three) pids() []int {
	var all []int
	for _, m := range t.Members() {
		all = append(all, m.PID())
	}
	return all
}

func (t *three) expire(id int64) error {
	leader := t.Leader()
	if leader == nil {
		return t.problems.err()
	}
	return zookeeper.EndSession(leader.Server.Addr(), id)
}

// crash kills the leader. The others elect one of them, and the dead one joins them.
func (t *three) crash(context.Context) (func() error, error) {
	leader := t.Leader()
	if leader == nil {
		return nil, t.problems.err()
	}
	leader.Kill()
	return func() error {
		t.Leader()
		leader.Start()
		return t.problems.err()
	}, t.problems.err()
}

func (t *three) Close() error {
	t.Ensemble.Close()
	return errors.Join(t.problems.err(), os.RemoveAll(t.dir))
}

//go:build unix

package zookeeper

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// EnsembleConfig says what an ensemble is like. The zero value is three servers that are quick about everything.
type EnsembleConfig struct {
	// Servers is how many of them vote; 3 if zero.
	Servers int
	// Observers is how many more only listen.
	Observers int
	// SyncLimit is how many ticks a follower may be without its leader, and a leader without its followers, before they
	// notice; 10 if zero, where ZooKeeper's sample configuration has 5.
	SyncLimit int
	// InitLimit is how many ticks a follower may take to join; 20 s worth if zero.
	InitLimit int
	// Direct has the servers reach each other without proxies, which measurements would feel. Links between them cannot
	// be cut then.
	Direct bool
	// Config is each server's. Its TickTime is 200 ms if zero.
	Config
}

func (c EnsembleConfig) withDefaults() EnsembleConfig {
	setDefault(&c.TickTime, 200*time.Millisecond)
	c.Config = c.Config.withDefaults()
	if c.Servers == 0 {
		c.Servers = 3
	}
	if c.SyncLimit == 0 {
		c.SyncLimit = 10
	}
	if c.InitLimit == 0 {
		c.InitLimit = max(5, int(20*time.Second/c.TickTime))
	}
	c.JavaOptions = slices.Concat([]string{"-Xmx64m", "-Xss512k"}, c.JavaOptions)
	return c
}

// An Ensemble is a number of servers that elect a leader, on loopback. Every link between two of them, and every link
// of a client, goes through a proxy of its own: see [Links]. Its methods are safe for concurrent use; what fails is
// reported to the test by Errorf.
type Ensemble struct {
	t       reporter
	dir     string
	java    string
	jars    string
	members []*Member
	wires   []*wire

	mu     sync.Mutex
	config EnsembleConfig
	routes []*proxy
}

// A Member is a server of an ensemble. What a [Server] can do it can do, too, but for Addr and Restart.
type Member struct {
	*Server
	ensemble  *Ensemble
	id        int
	dir       string
	quorum    int
	election  int
	observer  bool
	clientele *proxy
}

// A wire is what one member reaches another by: the quorum port and the election port.
type wire struct {
	from, to         *Member
	quorum, election *proxy
}

// StartEnsemble starts an ensemble and returns when all its servers serve. It ends with the test, whose log then gets
// the servers' own if the test has failed. Without ZooKeeper it does what [Start] does.
func StartEnsemble(t testing.TB, config EnsembleConfig) *Ensemble {
	t.Helper()
	need(t)
	e, err := NewEnsemble(t.TempDir(), config, t)
	if err != nil {
		t.Fatalf("zookeeper: %v", err)
	}
	t.Cleanup(e.Close)
	return e
}

// NewEnsemble starts an ensemble outside of a test, in an empty directory, and returns when all its servers serve. It
// must be closed.
func NewEnsemble(dir string, config EnsembleConfig, t reporter) (*Ensemble, error) {
	java, jars, err := find()
	if err != nil {
		return nil, err
	}
	var failures error
	for attempt := range 3 { // another process may take a port between our look and a server's start
		e := &Ensemble{t: t, dir: filepath.Join(dir, strconv.Itoa(attempt)), java: java, jars: jars, config: config.withDefaults()}
		err := e.start()
		if err == nil {
			return e, nil
		}
		failures = errors.Join(failures, err)
		e.end()
	}
	return nil, failures
}

func (e *Ensemble) start() error {
	for id := 1; id <= e.config.Servers+e.config.Observers; id++ {
		if err := e.addMember(id); err != nil {
			return err
		}
	}
	for _, from := range e.members {
		for _, to := range e.members {
			if from == to {
				continue
			}
			w, err := newWire(from, to)
			if err != nil {
				return err
			}
			e.wires = append(e.wires, w)
		}
	}
	for _, w := range e.wires {
		back := e.wire(w.to, w.from)
		w.election.greeting = readdress(loopback(w.from.election), back.election.addr())
	}
	for _, w := range e.wires {
		w.quorum.start()
		w.election.start()
	}
	if err := e.configure(); err != nil {
		return err
	}
	for _, m := range e.members {
		if err := m.spawn(); err != nil {
			return err
		}
	}
	for _, m := range e.members {
		if err := m.awaitServing(m.process); err != nil {
			return fmt.Errorf("server %d: %w; its log ends:\n%s", m.id, err, logTail(m.logFile))
		}
	}
	return nil
}

func (e *Ensemble) addMember(id int) error {
	dir := filepath.Join(e.dir, strconv.Itoa(id))
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "myid"), []byte(strconv.Itoa(id)), 0o600); err != nil {
		return err
	}
	m := &Member{ensemble: e, id: id, dir: dir, observer: id > e.config.Servers}
	var ports [3]int
	for i := range ports {
		var err error
		if ports[i], err = FreePort(); err != nil {
			return err
		}
	}
	m.quorum, m.election = ports[1], ports[2]
	m.Server = &Server{t: e.t, java: e.java, port: ports[0], logFile: filepath.Join(dir, "server.log")}
	var err error
	if m.clientele, err = newProxy(m.Server.Addr()); err != nil {
		return err
	}
	m.clientele.start()
	e.members = append(e.members, m)
	return nil
}

func newWire(from, to *Member) (*wire, error) {
	quorum, err := newProxy(loopback(to.quorum))
	if err != nil {
		return nil, err
	}
	election, err := newProxy(loopback(to.election))
	if err != nil {
		quorum.close()
		return nil, err
	}
	// A follower may know its leader before the leader listens. Were the connection refused, it would try again at
	// once, but it cannot be: the proxy has taken it. Broken later, it costs the leader the whole initLimit.
	quorum.patience = 2 * time.Second
	return &wire{from: from, to: to, quorum: quorum, election: election}, nil
}

func loopback(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// configure writes the members' files: each knows itself by its own ports, and the others by those of its proxies.
func (e *Ensemble) configure() error {
	for _, m := range e.members {
		file := filepath.Join(m.dir, "zoo.cfg")
		c := e.config.Config
		properties := map[string]string{
			"initLimit": strconv.Itoa(e.config.InitLimit),
			"syncLimit": strconv.Itoa(e.config.SyncLimit),
		}
		if m.observer {
			properties["peerType"] = "observer"
		}
		if len(e.members) > 1 {
			for _, peer := range e.members {
				properties["server."+strconv.Itoa(peer.id)] = e.line(m, peer)
			}
		}
		maps.Copy(properties, c.Properties)
		c.Properties = properties
		if err := c.writeFile(file, filepath.Join(m.dir, "data"), m.port); err != nil {
			return err
		}
		m.args = c.javaArgs(e.jars, file)
	}
	return nil
}

// line is what m's file says of peer.
func (e *Ensemble) line(m, peer *Member) string {
	quorum, election := strconv.Itoa(peer.quorum), strconv.Itoa(peer.election)
	if w := e.wire(m, peer); w != nil && !e.config.Direct {
		quorum, election = port(w.quorum), port(w.election)
	}
	line := "127.0.0.1:" + quorum + ":" + election
	if peer.observer {
		line += ":observer"
	}
	return line
}

func port(p *proxy) string { return p.addr()[strings.LastIndexByte(p.addr(), ':')+1:] }

func (e *Ensemble) wire(from, to *Member) *wire {
	for _, w := range e.wires {
		if w.from == from && w.to == to {
			return w
		}
	}
	return nil
}

// readdress rewrites how a server introduces itself to another's election port. It says at which address it can be
// reached, and the other may call back there: past the proxies, if it were the address that it listens on. What it says
// is a version, its number, and the address with its length in front. A port has five digits here, so the length stays.
func readdress(direct, proxied string) func(io.Reader) ([]byte, error) {
	return func(r io.Reader) ([]byte, error) {
		head := make([]byte, 20)
		if _, err := io.ReadFull(r, head[:8]); err != nil {
			return nil, err
		}
		if version := int64(binary.BigEndian.Uint64(head)); version >= 0 {
			return head[:8], nil // an old server, which says just its number
		}
		if _, err := io.ReadFull(r, head[8:]); err != nil {
			return nil, err
		}
		n := int32(binary.BigEndian.Uint32(head[16:]))
		if n < 0 || n > 1024 {
			return nil, fmt.Errorf("greeting of %d bytes", n)
		}
		addr := make([]byte, n)
		if _, err := io.ReadFull(r, addr); err != nil {
			return nil, err
		}
		return slices.Concat(head, bytes.ReplaceAll(addr, []byte(direct), []byte(proxied))), nil
	}
}

// Close ends the ensemble.
func (e *Ensemble) Close() {
	e.end()
	if e.t.Failed() {
		for _, m := range e.members {
			e.t.Logf("the log of server %d ends:\n%s", m.id, logTail(m.logFile))
		}
	}
}

func (e *Ensemble) end() {
	for _, m := range e.members {
		m.mu.Lock()
		if m.process != nil {
			_ = m.process.cmd.Process.Kill()
		}
		m.mu.Unlock()
	}
	for _, m := range e.members {
		m.mu.Lock()
		if m.process != nil {
			<-m.process.exited
		}
		m.mu.Unlock()
		m.clientele.close()
	}
	for _, w := range e.wires {
		w.quorum.close()
		w.election.close()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.routes {
		p.close()
	}
}

// Members are the servers, those that vote first; the first has number 1.
func (e *Ensemble) Members() []*Member { return slices.Clone(e.members) }

// ConnectString names the servers' addresses for a client.
func (e *Ensemble) ConnectString() string {
	addrs := make([]string, len(e.members))
	for i, m := range e.members {
		addrs[i] = m.Addr()
	}
	return strings.Join(addrs, ",")
}

// Leader waits until one server leads, and returns it; nil after half a minute.
func (e *Ensemble) Leader() *Member {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if all := e.inRole("leader"); len(all) > 0 {
			return all[0]
		}
	}
	e.t.Errorf("zookeeper: there is no leader")
	return nil
}

// Followers are the servers that follow a leader now.
func (e *Ensemble) Followers() []*Member {
	return e.inRole("follower")
}

// inRole asks all servers at once, since one that is frozen does not answer.
func (e *Ensemble) inRole(role string) []*Member {
	roles := make([]string, len(e.members))
	var asking sync.WaitGroup
	for i, m := range e.members {
		asking.Go(func() { roles[i] = m.Role() })
	}
	asking.Wait()
	var all []*Member
	for i, m := range e.members {
		if roles[i] == role {
			all = append(all, m)
		}
	}
	return all
}

// AwaitServing waits until every server of the ensemble serves.
func (e *Ensemble) AwaitServing() {
	for _, m := range e.members {
		m.AwaitServing()
	}
}

// Between returns the links between two servers, in both directions.
func (e *Ensemble) Between(a, b *Member) Links { return append(e.OneWay(a, b), e.OneWay(b, a)...) }

// OneWay returns the links over which one server hears another.
func (e *Ensemble) OneWay(from, to *Member) Links {
	called, answered := e.wire(from, to), e.wire(to, from)
	return Links{called.quorum.there, called.election.there, answered.quorum.back, answered.election.back}
}

// Peers returns the links between a server and all others.
func (e *Ensemble) Peers(m *Member) Links {
	var all Links
	for _, peer := range e.members {
		if peer != m {
			all = append(all, e.Between(m, peer)...)
		}
	}
	return all
}

// Heal makes every link whole, those of routes included.
func (e *Ensemble) Heal() {
	for _, w := range e.wires {
		w.quorum.links().Heal()
		w.election.links().Heal()
	}
	for _, m := range e.members {
		m.Clients().Heal()
	}
	e.mu.Lock()
	routes := slices.Clone(e.routes)
	e.mu.Unlock()
	for _, p := range routes {
		p.links().Heal()
	}
}

// Restart kills every server that runs and starts all again, with other settings if change is not nil; it returns when
// they serve. How many servers there are cannot be changed.
func (e *Ensemble) Restart(change func(*EnsembleConfig)) {
	for _, m := range e.members {
		m.Kill()
	}
	if change != nil {
		e.mu.Lock()
		change(&e.config)
		err := e.configure()
		e.mu.Unlock()
		if err != nil {
			e.t.Errorf("zookeeper: restart: %v", err)
		}
	}
	for _, m := range e.members {
		m.Start()
	}
	e.AwaitServing()
}

// A Route is one client's own way to a server.
type Route struct {
	Links // in both directions
	// ToServer and FromServer are its directions.
	ToServer, FromServer Links
	addr                 string
}

// Addr is the address at which the client reaches the server.
func (r *Route) Addr() string { return r.addr }

// Route makes a way to the server that no other client takes.
func (m *Member) Route() *Route {
	p, err := newProxy(m.Server.Addr())
	if err != nil {
		m.ensemble.t.Errorf("zookeeper: %v", err)
		return nil
	}
	p.start()
	m.ensemble.mu.Lock()
	defer m.ensemble.mu.Unlock()
	m.ensemble.routes = append(m.ensemble.routes, p)
	return &Route{Links: p.links(), ToServer: Links{p.there}, FromServer: Links{p.back}, addr: p.addr()}
}

// ID is the server's number.
func (m *Member) ID() int { return m.id }

// Addr is the address at which all clients reach the server that have no [Member.Route] of their own.
func (m *Member) Addr() string { return m.clientele.addr() }

// Clients returns the links of the clients that came to Addr.
func (m *Member) Clients() Links { return m.clientele.links() }

// Role is what the server says that it is: leader, follower, observer, or standalone. It is empty if the server does
// not serve or does not answer. The question goes past the proxies.
func (m *Member) Role() string {
	answer, err := fourLetter(m.Server.Addr(), "srvr", time.Second)
	if err != nil {
		return ""
	}
	_, mode, _ := strings.Cut(answer, "Mode: ")
	mode, _, _ = strings.Cut(mode, "\n")
	return strings.TrimSpace(mode)
}

// Start starts the server again on its data, if it is not running, and returns at once: it serves when enough others
// do.
func (m *Member) Start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.process.exited:
	default:
		return
	}
	if err := m.spawn(); err != nil {
		m.t.Errorf("zookeeper: start: %v", err)
	}
}

// AwaitServing waits until the server serves.
func (m *Member) AwaitServing() {
	m.mu.Lock()
	p := m.process
	m.mu.Unlock()
	if err := m.awaitServing(p); err != nil {
		m.t.Errorf("zookeeper: server %d: %v", m.id, err)
	}
}

// Restart kills the server, starts it again, and returns when it serves.
func (m *Member) Restart() {
	m.Kill()
	m.Start()
	m.AwaitServing()
}

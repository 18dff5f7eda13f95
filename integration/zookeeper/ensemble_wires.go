//go:build unix

package zookeeper

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A wire is what one member reaches another by: the quorum port and the election port.
type wire struct {
	from, to         *Member
	quorum, election *proxy
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
	m.Server = &Server{
		t: e.t, java: e.java, port: ports[0], dataDir: filepath.Join(dir, "data"), logFile: filepath.Join(dir, "server.log"),
	}
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
		if m.change != nil {
			m.change(&c)
		}
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
		m.args = c.javaArgs(e.jars+"/*", file)
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

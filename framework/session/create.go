package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A CreateMode is a kind of node.
//
// Curator: CreateMode.
type CreateMode int

// The kinds of nodes.
const (
	Persistent                  CreateMode = transport.Persistent
	Ephemeral                   CreateMode = transport.Ephemeral            // goes with the session
	PersistentSequential        CreateMode = transport.PersistentSequential // the server appends a number
	EphemeralSequential         CreateMode = transport.EphemeralSequential
	Container                   CreateMode = transport.Container // goes after its last child
	PersistentWithTTL           CreateMode = transport.TTL       // removed after the TTL without changes or children
	PersistentSequentialWithTTL CreateMode = transport.TTLSequential
)

// A Creation is a node that is being created.
type Creation struct {
	Dir, Name string // the node's name begins with Name; the server may add a number
	Data      []byte
	ACL       []zk.ACL // empty: that of Config.ACL
	Mode      CreateMode
	TTL       time.Duration
	Protected bool // each try gets a GUID of its own in front of Name

	Namespace  string // made if it is missing; none if empty
	Parents    bool   // make missing ones, of this mode
	ParentMode CreateMode

	guard string // must exist; none if empty
	list  bool   // also list Dir, in the same segment
	try   string // name of the newest try of a protected creation
	lost  []lostTry
}

func (c *Creation) path() string {
	name := c.Name
	if c.try != "" {
		name = c.try
	}
	if c.Dir == "/" {
		return "/" + name
	}
	return c.Dir + "/" + name
}

func (c *Creation) ephemeral() bool {
	return c.Mode == Ephemeral || c.Mode == EphemeralSequential
}

func (c *Creation) sequential() bool {
	return c.Mode == PersistentSequential || c.Mode == EphemeralSequential || c.Mode == PersistentSequentialWithTTL
}

// Left is what a session has to do about a creation that has ended: it looks for the tries whose fate is unknown.
func (c *Creation) Left() Leftovers {
	var left Leftovers
	for _, try := range c.lost {
		left.orphans = append(left.orphans, c.orphan(try))
	}
	return left
}

// protected puts Curator's protection prefix before a name: "_c_", a random UUID, "-".
//
// Curator: ProtectedUtils.toProtectedZNode().
func protected(name string) string {
	var u [16]byte
	_, _ = rand.Read(u[:])  // never fails
	u[6] = u[6]&0x0f | 0x40 // version 4
	u[8] = u[8]&0x3f | 0x80 // variant 10
	x := hex.EncodeToString(u[:])
	return "_c_" + x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:] + "-" + name
}

// Create tries once to create a node, and its parents if it may; the namespace's own node in any case. After a failure
// that is [Retryable] it can be called again with the same c, in any session. It does not wait for a connection.
func (s *Session) Create(ctx context.Context, c *Creation) (Entry, error) {
	if len(c.ACL) == 0 {
		named := Creation{Dir: c.Dir, Name: c.Name} // a GUID means nothing to the provider
		c.ACL = s.cfg.ACL(named.path())
	}
	create := s.createOnce
	if c.Protected {
		create = s.createOrFind
	}
	if c.Mode == Container && s.support.Lacks(transport.FeatureContainers) {
		return Entry{}, fmt.Errorf("%w: containers came with ZooKeeper 3.5", ErrUnsupported)
	}
	for tries := 0; ; tries++ {
		entry, err := create(ctx, c)
		made := !c.Protected && errors.Is(err, errShortLived) // to do so again would be twice
		if made || !errors.Is(err, zk.ErrNoNode) || tries == parentTries {
			return entry, err
		}
		switch {
		case c.Parents:
			err = s.makeParents(ctx, c.Dir, c.ParentMode)
		case c.Namespace != "" && tries == 0:
			err = s.makeParents(ctx, c.Namespace, Container)
		}
		if err != nil {
			return Entry{}, err
		}
	}
}

// createOnce sends an unprotected create. Without its answer it may have been executed.
func (s *Session) createOnce(ctx context.Context, c *Creation) (Entry, error) {
	if err := s.beSure(ctx, s.createCall(c, func(string, *zk.Stat, error) {})); err != nil {
		return Entry{}, err
	}
	var entry Entry
	err := s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(s.createCall(c, func(path string, stat *zk.Stat, err error) {
			if err == nil {
				entry.Path, entry.Stat = path, stat
			}
			finish(err)
		}))
	})
	if err == nil && entry.Stat == nil {
		entry.Stat, err = s.Exists(ctx, entry.Path)
		if err == nil && entry.Stat == nil {
			err = errShortLived
		}
	}
	if err != nil {
		return Entry{}, err
	}
	return entry, nil
}

func (s *Session) orDefault(data []byte) []byte {
	if data == nil {
		return s.cfg.DefaultData
	}
	return data
}

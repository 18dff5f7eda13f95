package live

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
)

// A Creation is a node that is being created.
type Creation struct {
	Dir, Name string // the node's name begins with Name; the server may add a number
	Data      []byte
	ACL       []zk.ACL // empty: that of Config.ACL
	Mode      session.CreateMode
	TTL       time.Duration
	Protected bool // each try gets a GUID of its own in front of Name

	Namespace  string // made if it is missing; none if empty
	Parents    bool   // make missing ones, of this mode
	ParentMode session.CreateMode

	first *transport.Op // done before, in one transaction; none if nil
	list  bool          // also list Dir, in the same segment
	try   string        // name of the newest try of a protected creation
	lost  []lostTry
}

func (c *Creation) path() string {
	name := cmp.Or(c.try, c.Name)
	if c.Dir == "/" {
		return "/" + name
	}
	return c.Dir + "/" + name
}

func (c *Creation) ephemeral() bool {
	return c.Mode == session.Ephemeral || c.Mode == session.EphemeralSequential
}

func (c *Creation) sequential() bool {
	return c.Mode == session.PersistentSequential || c.Mode == session.EphemeralSequential || c.Mode == session.PersistentSequentialWithTTL
}

// Backlog is what a session has to do about a creation that has ended: it looks for the tries whose fate is unknown.
func (c *Creation) Backlog() Backlog {
	var left Backlog
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

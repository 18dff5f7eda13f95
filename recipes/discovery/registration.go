package discovery

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/nodes"
)

// A Registration keeps an instance registered, until Close.
//
// Its methods are safe for concurrent use.
//
// Curator has none: a ServiceDiscovery has the instances that it has registered.
type Registration struct{ node *nodes.PersistentNode }

// Register registers an instance, and keeps it registered through lost connections and sessions, until Close or the end
// of the client. It blocks until the instance's node is there, below the base path, name and ID. ctx bounds this wait,
// and nothing else.
//
// An empty ID becomes a random UUID, and a zero Registered the time of the call. An empty Address stays empty: Java
// takes the first one of the machine, which others may not reach.
//
// A node of Dynamic or DynamicSequential is ephemeral. If it is another client's, as that of the process which ran here
// before and was killed, then Register waits until it goes; so it does for one of Static, which may never go. The node
// of DynamicSequential has a name of its own for each registration. One of Static or Permanent stays when the process
// ends, and Register takes it over, also from a program that is running: two programs must not register one ID.
//
// Errors: all that is wrong with the instance and with the arguments of the constructor, at once; those of
// [nodes.PersistentNode.Start], as nodes.ErrForeign with the end of ctx if the node is still another's, and
// nodes.ErrKept if this client has registered the ID already. After an error nothing of this instance remains, as after
// Start, and the node of another one of the same ID is there as before, unless Register has written to it.
//
// Curator: ServiceDiscovery.registerService(), thisInstance(), which replace the node of another.
func (d *ServiceDiscovery) Register(ctx context.Context, i ServiceInstance) (*Registration, error) {
	if i.ID == "" {
		i.ID = newID()
	}
	if i.Registered.IsZero() {
		i.Registered = time.Now()
	}
	data, err := i.encode() // refuses an empty name
	if err := d.misuse(err, partProblem("name", cmp.Or(i.Name, "-")), partProblem("id", i.ID)); err != nil {
		return nil, err
	}
	opts := []nodes.Option{nodes.WithMode(framework.Ephemeral)}
	switch i.Type {
	case DynamicSequential:
		opts[0] = nodes.WithMode(framework.EphemeralSequential)
	case Static, Permanent:
		opts = []nodes.Option{nodes.WithMode(framework.Persistent), nodes.Overwriting()}
	}
	node := nodes.NewPersistentNode(d.client, d.path(i.Name, i.ID), data, opts...)
	if err := node.Start(ctx); err != nil {
		return nil, err
	}
	return &Registration{node}, nil
}

// encode is MarshalJSON of an instance that is registered here, so that its ports are some.
func (i ServiceInstance) encode() ([]byte, error) {
	data, err := i.MarshalJSON()
	return data, session.JoinErrors(err, portProblem("port", i.Port, 0, 65535), portProblem("sslPort", i.SSLPort, 0, 65535))
}

// newID is a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Update replaces what the instance's node has, with all of i: only a zero Registered leaves that as it was. It blocks
// until the node has it, as [nodes.PersistentNode.Set] does, and later nodes have it too.
//
// Errors: all that is wrong with i, at once, such as another name, ID or type than the registration's; those of Set.
//
// Curator: ServiceDiscovery.updateService().
func (r *Registration) Update(ctx context.Context, i ServiceInstance) error {
	now := r.Instance()
	if i.Registered.IsZero() {
		i.Registered = now.Registered
	}
	var err error
	if i.Type = cmp.Or(i.Type, Dynamic); i.Name != now.Name || i.ID != now.ID || i.Type != now.Type {
		err = fmt.Errorf("name %q, ID %q, type %s: cannot be changed from %q, %q, %s", i.Name, i.ID, i.Type, now.Name, now.ID, now.Type)
	}
	data, dataErr := i.encode()
	if err := session.JoinErrors(err, dataErr); err != nil {
		return fmt.Errorf("discovery: update: %w", err)
	}
	return r.node.Set(ctx, data)
}

// Instance is what was registered, or set by an Update that has begun last.
//
// Curator has none.
func (r *Registration) Instance() ServiceInstance {
	i, _ := decode(r.node.Path(), r.node.Data(), nil) // it was encoded here
	return i
}

// Path is that of the instance's node.
//
// Curator has none.
func (r *Registration) Path() string { return r.node.Path() }

// There reports whether the instance's node is there, as [nodes.PersistentNode.There].
//
// Curator has none.
func (r *Registration) There() bool { return r.node.There() }

// OnChange calls fn when the instance's node goes or comes, as [nodes.PersistentNode.OnChange].
//
// Curator has none.
func (r *Registration) OnChange(fn func(there bool)) (stop func()) { return r.node.OnChange(fn) }

// Err is why the instance's node is not there, as [nodes.PersistentNode.Err]; nil if it is.
//
// Curator has none.
func (r *Registration) Err() error { return r.node.Err() }

// LastLoss says why the instance's node was gone last, as [nodes.PersistentNode.LastLoss].
//
// Curator has none.
func (r *Registration) LastLoss() session.Explanation { return r.node.LastLoss() }

// Close ends the registration. It blocks until the server has removed the node, and has the errors of
// [nodes.PersistentNode.Close]: close the client after it, or a node of Static or Permanent stays. It also removes one
// of Static or Permanent, and does not heed that another program has taken that over: its registration makes the node
// again.
//
// Curator: ServiceDiscovery.unregisterService(), close().
func (r *Registration) Close() error { return r.node.Close() }

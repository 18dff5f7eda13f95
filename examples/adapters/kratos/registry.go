// Package kratosregistry is a registry of Kratos services in ZooKeeper: a registry.Registrar and a registry.Discovery.
//
//	services := kratosregistry.New(client, kratosregistry.DefaultRoot)
//	app := kratos.New(kratos.Name("hello"), kratos.Server(server), kratos.Registrar(services))
//
//	conn, err := grpc.DialInsecure(ctx, grpc.WithEndpoint("discovery:///hello"), grpc.WithDiscovery(services))
//
// Paths and data are those of Kratos's own adapter, contrib/registry/zookeeper: <root>/<name>/<id>, an ephemeral node
// with the instance in JSON. So programs with either adapter find each other, and can be changed one by one.
//
// # What is different
//
//   - A service that was deregistered stays away. The own adapter goes on registering it in each new session, since
//     nothing ends its loop.
//   - A service that is registered stays there, also if its node is deleted by hand, or servers refuse it for a while.
//   - A node of another process is left alone, see below.
//   - Next returns when something has changed, and after an outage once, with what there is then. The own adapter
//     returns an error for each outage, and misses what changes between an event and its next watch.
//   - A service that does not exist has no instances, which is no error; nor is an instance that goes while it is read.
//   - What is no instance in JSON is left out and logged. With the own adapter it hides all instances of its service.
//
// # What to know of Kratos
//
//   - kratos.ID is a new one at each start, unless the program sets it. If it does, a program that is started again may
//     find the node of the process that was killed. Register waits until the servers remove that, for a session timeout
//     at most. App.Run gives it kratos.RegistrarTimeout, ten seconds, which is less: make it longer, or give New
//     nodes.Overwriting(), which replaces the node at once, as the own adapter does, also that of a process that lives.
//   - App.Run deregisters the service, then ends the servers. Close the client after it has returned.
//   - Registering a service again gives its node new data. Watchers of the own adapter hear nothing of that, until the
//     next instance comes or goes.
//   - The resolver of gRPC keeps the last instances when there is none left, and logs that.
//
// For Kratos v3 the import of its package registry is another one, and nothing else.
package kratosregistry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/go-kratos/kratos/v2/registry"
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
)

// DefaultRoot is the root of Kratos's own adapter.
const DefaultRoot = "/microservices"

// ErrNotRegistered is the error of Deregister for a service that this Registry has not registered.
var ErrNotRegistered = errors.New("kratosregistry: not registered here")

// A Registry registers services and finds them. Its methods are safe for concurrent use.
type Registry struct {
	client *framework.Client
	root   string
	opts   []nodes.Option

	mu         sync.Mutex
	registered map[string]*nodes.PersistentNode // by path; guarded by mu
}

var (
	_ registry.Registrar = (*Registry)(nil)
	_ registry.Discovery = (*Registry)(nil)
)

// New returns a registry of the services below root. It does no I/O. opts are those of its nodes, nodes.Overwriting for
// one; their ACL is that of the client.
func New(client *framework.Client, root string, opts ...nodes.Option) *Registry {
	return &Registry{client: client, root: root, opts: opts, registered: map[string]*nodes.PersistentNode{}}
}

// Register makes the service's node, and keeps it there until [Registry.Deregister] or the end of the client. It blocks
// until the node is there, which ctx bounds. A service that is registered already gets the new data.
//
// Errors: a service whose name or id is empty or no part of a path; those of nodes.PersistentNode.Start, such as
// nodes.ErrForeign if the node of another process was in the way until ctx ended, or of Set. After an error the service
// is not registered, or as it was before.
func (r *Registry) Register(ctx context.Context, service *registry.ServiceInstance) error {
	dir, at, err := r.place(service)
	if err != nil {
		return err
	}
	data, err := json.Marshal(service)
	if err != nil {
		return fmt.Errorf("kratosregistry: register %s: %w", at, err)
	}
	node, first := r.enter(at, data)
	if !first {
		return node.Set(ctx, data)
	}
	if err = r.makeDirectory(ctx, dir); err == nil {
		err = node.Start(ctx)
	}
	if err != nil {
		r.leave(at)
	}
	return err
}

// Deregister removes the service's node. It blocks until the servers have answered, for at most the client's connection
// timeout, whatever ctx says. Errors: [ErrNotRegistered]; those of nodes.PersistentNode.Close. The service is not
// registered again after an error either, and its node goes with the client's session at the latest.
func (r *Registry) Deregister(_ context.Context, service *registry.ServiceInstance) error {
	_, at, err := r.place(service)
	if err != nil {
		return err
	}
	node := r.leave(at)
	if node == nil {
		return fmt.Errorf("%w: %s", ErrNotRegistered, at)
	}
	return node.Close()
}

// makeDirectory makes the directory of a service. It is a permanent node, as the own adapter's: from containers, which
// the servers remove when they are empty, its watches and its registrations would go as well.
func (r *Registry) makeDirectory(ctx context.Context, dir string) error {
	_, _, err := r.client.Create(ctx, dir, []byte{}, framework.CreatingParentsIfNeeded())
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// place returns the directory of a service, and the path of its node.
func (r *Registry) place(service *registry.ServiceInstance) (dir, at string, err error) {
	if service == nil {
		return "", "", errors.New("kratosregistry: the service is nil")
	}
	dir, err = r.directory(service.Name)
	switch id := service.ID; {
	case err != nil:
		return "", "", err
	case id == "" || id == "." || id == ".." || strings.Contains(id, "/"):
		return "", "", fmt.Errorf("kratosregistry: service %q: the id %q is no name of a node", service.Name, id)
	}
	return dir, dir + "/" + service.ID, nil
}

// directory returns the directory of the services of a name: the same path as the own adapter's, but no other place.
func (r *Registry) directory(name string) (string, error) {
	dir := path.Join(r.root, name)
	if below := strings.TrimSuffix(path.Join(r.root), "/") + "/"; !strings.HasPrefix(dir, below) || dir == below {
		return "", fmt.Errorf("kratosregistry: service %q: the name is no path below %s", name, r.root)
	}
	return dir, nil
}

func (r *Registry) enter(at string, data []byte) (node *nodes.PersistentNode, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if node := r.registered[at]; node != nil {
		return node, false
	}
	node = nodes.NewPersistentNode(r.client, at, data, r.opts...)
	r.registered[at] = node
	return node, true
}

func (r *Registry) leave(at string) *nodes.PersistentNode {
	r.mu.Lock()
	defer r.mu.Unlock()
	node := r.registered[at]
	delete(r.registered, at)
	return node
}

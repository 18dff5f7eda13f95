package discovery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// ErrBadInstance says that a node cannot be read, or does not decode as an instance.
var ErrBadInstance = errors.New("discovery: not an instance")

// A ServiceDiscovery finds the instances of services below one node, and registers some. It has no state of its own,
// and is safe for concurrent use.
//
// Curator: ServiceDiscovery.
type ServiceDiscovery struct {
	client   *framework.Client
	basePath string
}

// NewServiceDiscovery returns the discovery of the services whose nodes are below basePath. It does no I/O, and nothing
// needs to be closed. An invalid path and a nil client are reported by the methods, both at once.
//
// Curator: ServiceDiscoveryBuilder.builder().client().basePath().build().
func NewServiceDiscovery(client *framework.Client, basePath string) *ServiceDiscovery {
	return &ServiceDiscovery{client: client, basePath: basePath}
}

// misuse is all that is wrong with the arguments of the constructor, and what a method has found besides.
func (d *ServiceDiscovery) misuse(also ...error) error {
	if d.client == nil {
		also = append(also, errors.New("client is nil"))
	}
	if err := session.JoinErrors(append(also, session.ValidatePath(d.basePath))...); err != nil {
		return fmt.Errorf("discovery: %w", err)
	}
	return nil
}

// path is that of a service, or of what is below it.
func (d *ServiceDiscovery) path(parts ...string) string {
	return strings.TrimSuffix(d.basePath, "/") + "/" + strings.Join(parts, "/")
}

// Names returns the names of the services, sorted. A service whose last instance has gone may still be among them:
// servers remove its node within a minute or so. Without a node at the base path there are none. It blocks until the
// server has answered.
//
// Errors: what is wrong with the arguments of the constructor; those of framework.Client.Children, but zk.ErrNoNode.
//
// Curator: ServiceDiscovery.queryForNames(), which throws NoNodeException without a node at the base path.
func (d *ServiceDiscovery) Names(ctx context.Context) ([]string, error) {
	if err := d.misuse(); err != nil {
		return nil, err
	}
	names, _, err := d.client.Children(ctx, d.basePath)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	slices.Sort(names)
	return names, err
}

// Instances returns the instances of a service, by the names of their nodes, also those that are not enabled. A service
// that does not exist has none. It blocks until the servers have answered. A program that asks often keeps a
// [ServiceCache].
//
// Nodes that cannot be decoded, or may not be read, are left out. An error is then returned alongside the other
// instances, as by net.LookupSRV: an [ErrBadInstance] for each.
//
// Errors without instances: what is wrong with the arguments, all at once; those of framework.Client.Children and of
// session.Reads.ReadMany.
//
// Curator: ServiceDiscovery.queryForInstances(), which throws if it cannot decode one.
func (d *ServiceDiscovery) Instances(ctx context.Context, name string) ([]ServiceInstance, error) {
	if err := d.misuse(partProblem("name", name)); err != nil {
		return nil, err
	}
	paths, err := d.children(ctx, d.path(name))
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	for s, err := range d.client.Sessions(ctx) {
		if err != nil {
			return nil, err
		}
		instances, err := d.read(ctx, s, paths)
		if !session.ShouldStartOver(ctx, err) {
			return instances, err
		}
	}
	return nil, nil // not reached: the loop ends with an error, or with an answer
}

// children returns the absolute paths of the children of a node, by their names.
func (d *ServiceDiscovery) children(ctx context.Context, path string) ([]string, error) {
	names, _, err := d.client.Children(ctx, path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	dir, pathErr := d.client.AbsolutePath(path)
	for i, name := range names {
		names[i] = dir + "/" + name
	}
	slices.Sort(names)
	return names, cmp.Or(err, pathErr)
}

// read reads instances in one session.
func (d *ServiceDiscovery) read(ctx context.Context, s session.Session, paths []string) ([]ServiceInstance, error) {
	var instances []ServiceInstance
	var bad []error
	for read, err := range s.ReadMany(ctx, paths, session.ReadData) {
		if err != nil {
			return nil, err
		}
		i, err := decode(d.client.RelativePath(read.Path), read.Data, read.Err)
		switch {
		case err == nil:
			instances = append(instances, i)
		case !errors.Is(err, zk.ErrNoNode): // otherwise it has gone since the listing
			bad = append(bad, err)
		}
	}
	return instances, session.JoinErrors(bad...)
}

// Instance returns the instance of a service that has a node of this name: its ID, unless it is DynamicSequential. It
// blocks until the server has answered.
//
// Errors: what is wrong with the arguments, all at once; those of framework.Client.Get, so zk.ErrNoNode if there is no
// such instance; [ErrBadInstance].
//
// Curator: ServiceDiscovery.queryForInstance(), which returns null if there is none.
func (d *ServiceDiscovery) Instance(ctx context.Context, name, id string) (ServiceInstance, error) {
	if err := d.misuse(partProblem("name", name), partProblem("id", id)); err != nil {
		return ServiceInstance{}, err
	}
	data, _, err := d.client.Get(ctx, d.path(name, id))
	if err != nil {
		return ServiceInstance{}, err
	}
	return decode(d.path(name, id), data, nil)
}

// decode decodes what a node has, unless that could not be read.
func decode(path string, data []byte, err error) (i ServiceInstance, _ error) {
	if err == nil {
		err = json.Unmarshal(data, &i)
	}
	if err != nil {
		return i, fmt.Errorf("%w: %q: %w", ErrBadInstance, path, err)
	}
	return i, nil
}

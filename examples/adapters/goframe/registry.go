// Package goframeregistry is a registry of GoFrame services in ZooKeeper, a gsvc.Registry:
//
//	gsvc.SetRegistry(goframeregistry.New[gsvc.Watcher, gsvc.SearchInput](
//		client, goframeregistry.DefaultRoot, gsvc.NewServiceWithKV))
//
// It does not require GoFrame. Its types have those of GoFrame's package gsvc as parameters, and what the compiler
// makes of the line above is a gsvc.Registry.
//
// Paths and data are those of GoFrame's own adapter, contrib/registry/zookeeper: <root>/<prefix>/…, an ephemeral node
// with the key and the value of a service in JSON, below a directory whose name is the prefix with - for each slash. So
// programs with either adapter find each other, and can be changed one by one.
//
// # What is different
//
//   - A service that was deregistered stays away. The own adapter goes on registering it in each new session, since
//     nothing ends its loop.
//   - A node is called by the service's name and its endpoints. The own adapter calls it by the name alone: of two
//     processes with one service, the second one removes the first. Readers of both look at the data, and not at names.
//   - A service that is registered stays there, also if its node is deleted by hand, or servers refuse it for a while.
//   - A watcher hears of a service that comes later. The own adapter's is deaf from the first time that the directory
//     does not exist, and so is one whose servers were away at the wrong moment.
//   - Proceed begins with the services that are there: GoFrame searches, then watches, and would miss what comes in
//     between. From then on it returns when something has changed, and after an outage once.
//   - Search without a prefix finds services by their name alone, as GoFrame's client does. The own adapter takes
//     directories for services then, and fails.
//   - What is no service is left out and logged. With the own adapter it hides all services of its directory.
//
// # What to know of GoFrame
//
//   - Its client hands the context of its first request to Watch, and never closes the watcher. So a watcher here ends
//     with Close or with the client of ZooKeeper, and not with that context. The own adapter's is over with the
//     request, and the client learns of no change from then on.
//   - Its server registers without a deadline. One that is started again on the same address, after it was killed,
//     finds the node of its predecessor, and waits until the servers remove that, for a session timeout at most. With
//     nodes.Overwriting() the node is replaced at once.
//   - Close the client after Server.Run has returned.
package goframeregistry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
)

// DefaultRoot is the root of GoFrame's own adapter.
const DefaultRoot = "/microservices"

// ErrNotRegistered is the error of Deregister for a service that this Registry has not registered.
var ErrNotRegistered = errors.New("goframeregistry: not registered here")

// A Service is what a registry asks of a gsvc.Service. M is gsvc.Metadata.
type Service[M ~map[string]any] interface {
	GetName() string
	GetVersion() string
	GetPrefix() string
	GetKey() string
	GetValue() string
	GetMetadata() M
}

// A Watcher is gsvc.Watcher. S is gsvc.Service.
type Watcher[S any] interface {
	Proceed() ([]S, error)
	Close() error
}

// A SearchInput is gsvc.SearchInput, of which the empty fields choose nothing.
type SearchInput[M ~map[string]any] interface {
	~struct {
		Prefix   string
		Name     string
		Version  string
		Metadata M
	}
}

// A Registry registers services and finds them: a gsvc.Registry. Its methods are safe for concurrent use.
type Registry[W Watcher[S], In SearchInput[M], S Service[M], M ~map[string]any] struct {
	client *framework.Client
	root   string
	parse  func(key, value string) (S, error)
	opts   []nodes.Option

	mu         sync.Mutex
	registered map[string]*nodes.PersistentNode // by path; guarded by mu
}

// New returns a registry of the services below root. It does no I/O. parse is gsvc.NewServiceWithKV. opts are those of
// its nodes, nodes.Overwriting for one; their ACL is that of the client.
func New[W Watcher[S], In SearchInput[M], S Service[M], M ~map[string]any](
	client *framework.Client, root string, parse func(key, value string) (S, error), opts ...nodes.Option,
) *Registry[W, In, S, M] {
	return &Registry[W, In, S, M]{
		client: client, root: path.Join("/", root), parse: parse, opts: opts, registered: map[string]*nodes.PersistentNode{},
	}
}

// content is what a node contains. The names are the own adapter's.
type content struct {
	Key   string
	Value string
}

// Register makes the service's node, and keeps it there until Deregister or the end of the client. It blocks until the
// node is there, which ctx bounds. A service that is registered already, with the same endpoints, gets the new data. It
// returns the service as it is.
//
// Errors: a service that could not be read again, such as one without endpoints; those of nodes.PersistentNode.Start,
// such as nodes.ErrForeign if the node of another process was in the way until ctx ended, or of Set. After an error the
// service is not registered, or as it was before.
func (r *Registry[W, In, S, M]) Register(ctx context.Context, service S) (registered S, err error) {
	dir, at, err := r.place(service)
	if err != nil {
		return service, err
	}
	data, err := json.Marshal(content{service.GetKey(), service.GetValue()})
	if err != nil {
		return service, fmt.Errorf("goframeregistry: register %s: %w", at, err)
	}
	node, first := r.enter(at, data)
	if !first {
		return service, node.Set(ctx, data)
	}
	if err = r.makeDirectory(ctx, dir); err == nil {
		err = node.Start(ctx)
	}
	if err != nil {
		r.leave(at)
	}
	return service, err
}

// Deregister removes the service's node. It blocks until the servers have answered, for at most the client's connection
// timeout, whatever ctx says. Errors: [ErrNotRegistered]; those of nodes.PersistentNode.Close. The service is not
// registered again after an error either, and its node goes with the client's session at the latest.
func (r *Registry[W, In, S, M]) Deregister(_ context.Context, service S) error {
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
func (r *Registry[W, In, S, M]) makeDirectory(ctx context.Context, dir string) error {
	_, _, err := r.client.Create(ctx, dir, []byte{}, framework.CreatingParentsIfNeeded())
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// place returns the directory of a service, and the path of its node.
func (r *Registry[W, In, S, M]) place(service S) (dir, at string, err error) {
	if any(service) == nil {
		return "", "", errors.New("goframeregistry: the service is nil")
	}
	key, name := service.GetKey(), service.GetName()
	if _, err := r.parsed(key, service.GetValue()); err != nil {
		return "", "", fmt.Errorf("goframeregistry: service %q could not be read again: %w", name, err)
	}
	dir = r.directory(service.GetPrefix())
	if dir == r.root || name == "" {
		return "", "", fmt.Errorf("goframeregistry: service %q has no name, or no prefix", key)
	}
	endpoints := strings.Trim(strings.TrimPrefix(key, service.GetPrefix()), "/")
	return dir, dir + "/" + strings.ReplaceAll(name+"@"+endpoints, "/", "-"), nil
}

// directory returns the directory of a prefix, which is the root for none.
func (r *Registry[W, In, S, M]) directory(prefix string) string {
	return path.Join(r.root, strings.Trim(strings.ReplaceAll(prefix, "/", "-"), "-"))
}

func (r *Registry[W, In, S, M]) enter(at string, data []byte) (node *nodes.PersistentNode, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if node := r.registered[at]; node != nil {
		return node, false
	}
	node = nodes.NewPersistentNode(r.client, at, data, r.opts...)
	r.registered[at] = node
	return node, true
}

func (r *Registry[W, In, S, M]) leave(at string) *nodes.PersistentNode {
	r.mu.Lock()
	defer r.mu.Unlock()
	node := r.registered[at]
	delete(r.registered, at)
	return node
}

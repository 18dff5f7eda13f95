package framework

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	PersistentWithTTL           CreateMode = transport.TTL       // goes when it has had no change and no child for so long
	PersistentSequentialWithTTL CreateMode = transport.TTLSequential
)

func (m CreateMode) sequential() bool {
	return m == PersistentSequential || m == EphemeralSequential || m == PersistentSequentialWithTTL
}

// A CreateOption changes how a node is created.
type CreateOption func(*createSpec)

type createSpec struct {
	mode       CreateMode
	acl        []zk.ACL
	ttl        time.Duration
	name       string // of the node, with its GUID
	parents    bool
	parentMode CreateMode
	protection bool
}

// WithMode sets the kind of node; without it, it is [Persistent].
//
// Curator: CreateModable.withMode().
func WithMode(mode CreateMode) CreateOption { return func(s *createSpec) { s.mode = mode } }

// WithACL sets who may do what with the node; without it, the client's ACL provider is asked.
//
// Curator: ACLable.withACL().
func WithACL(acl ...zk.ACL) CreateOption { return func(s *createSpec) { s.acl = acl } }

// WithTTL sets the time to live of the modes that have one. It counts in milliseconds.
//
// Curator: CreateBuilder.withTtl().
func WithTTL(ttl time.Duration) CreateOption { return func(s *createSpec) { s.ttl = ttl } }

// CreatingParentsIfNeeded makes missing parents as persistent nodes.
//
// Curator: CreateBuilder.creatingParentsIfNeeded().
func CreatingParentsIfNeeded() CreateOption {
	return func(s *createSpec) { s.parents, s.parentMode = true, Persistent }
}

// CreatingParentContainersIfNeeded makes missing parents as containers, which go after their last child.
//
// Curator: CreateBuilder.creatingParentContainersIfNeeded().
func CreatingParentContainersIfNeeded() CreateOption {
	return func(s *createSpec) { s.parents, s.parentMode = true, Container }
}

// WithProtection puts a GUID in front of the node's name, by which the node is found again if the connection breaks before the
// create is answered: it is then adopted, and never made twice. A create that is given up leaves no node either: it is removed
// in the background.
//
// Curator: CreateBuilder.withProtection().
func WithProtection() CreateOption { return func(s *createSpec) { s.protection = true } }

// Create makes a node and returns its path, with the number of a sequential one, and its Stat, whose Czxid orders all
// creations. nil data stands for the client's default data, empty data for none.
//
// If the connection breaks, the create is tried again. Without protection that can leave two sequential nodes, or give
// zk.ErrNodeExists for a node of one's own.
//
// Errors: zk.ErrNodeExists, zk.ErrNoNode if there is no parent, zk.ErrNoChildrenForEphemerals, zk.ErrNoAuth, [ErrUnsupported]
// for TTLs that are switched off, and those of all operations.
//
// Curator: CuratorFramework.create().
func (c *Client) Create(ctx context.Context, path string, data []byte, opts ...CreateOption) (created string, stat *zk.Stat, err error) {
	spec := createSpec{mode: Persistent}
	for _, opt := range opts {
		opt(&spec)
	}
	if err := spec.validate(path); err != nil {
		return "", nil, &OpError{Op: "create", Path: path, Err: err}
	}
	// The path of a sequential node may end in a slash: its name is then the number alone.
	bare := path
	if spec.mode.sequential() && len(path) > 1 {
		bare = strings.TrimSuffix(path, "/")
	}
	spec.name = path[strings.LastIndexByte(path, '/')+1:]
	if spec.protection {
		spec.name = protected(spec.name)
	}
	var made *creation // one for all tries: a node of the try before is found by its GUID
	var entry Entry
	err = c.do(ctx, "create", bare, func(s *Session, absolute string, _ bool) (err error) {
		if made == nil {
			made = c.core.creation(absolute+path[len(bare):], data, &spec)
		}
		entry, err = s.createNode(ctx, c, made, &spec)
		return err
	})
	if made != nil && made.lost {
		c.core.later(leftovers{orphans: []orphan{made.orphan()}})
	}
	if err != nil {
		return "", nil, err
	}
	return c.RelativePath(entry.Path), entry.Stat, nil
}

func (c *core) creation(path string, data []byte, spec *createSpec) *creation {
	made := &creation{
		dir: parent(path), prefix: spec.name, data: c.orDefault(data), acl: spec.acl, kind: int32(spec.mode), ttl: spec.ttl,
	}
	if len(made.acl) == 0 {
		made.acl = c.acl(path)
	}
	return made
}

func (spec *createSpec) validate(path string) error {
	hasTTL := spec.mode == PersistentWithTTL || spec.mode == PersistentSequentialWithTTL
	switch {
	case spec.mode < Persistent || spec.mode > PersistentSequentialWithTTL:
		return fmt.Errorf("unknown mode %d", spec.mode)
	case hasTTL && spec.ttl < time.Millisecond:
		return fmt.Errorf("a TTL of %v is too short: it counts in milliseconds", spec.ttl)
	case !hasTTL && spec.ttl != 0:
		return errors.New("a TTL is given, but the mode has none")
	case spec.protection && spec.mode == Container:
		return errors.New("containers cannot be protected")
	case path == "/":
		return fmt.Errorf("%w: the root is always there", ErrInvalidPath)
	default:
		return nil
	}
}

// createNode tries once to create a node, and its parents if it may. The namespace's own node is always made.
func (s *Session) createNode(ctx context.Context, c *Client, made *creation, spec *createSpec) (Entry, error) {
	create := s.createOnce
	if spec.protection {
		create = s.createOrFind
	}
	namespaced := c.prefix != s.core.cfg.chroot
	for tries := 0; ; tries++ {
		entry, err := create(ctx, made)
		if !errors.Is(err, zk.ErrNoNode) || tries == parentTries {
			return entry, err
		}
		switch {
		case spec.parents:
			err = s.makeParents(ctx, made.dir, spec.parentMode)
		case namespaced && tries == 0:
			err = s.makeParents(ctx, c.prefix, Container)
		}
		if err != nil {
			return Entry{}, err
		}
	}
}

// createOnce sends an unprotected create. Whether it was executed is not known if the answer is lost, or not waited for.
func (s *Session) createOnce(ctx context.Context, c *creation) (Entry, error) {
	var entry Entry
	err := s.call(ctx, func(finish func(error)) []*transport.Call {
		return one(transport.Create(c.path(), c.data, c.acl, c.kind, c.ttl, func(path string, stat *zk.Stat, err error) {
			if err == nil {
				entry.Path, entry.Stat = path, stat
			}
			finish(err)
		}))
	})
	if err != nil {
		return Entry{}, err
	}
	return entry, nil
}

package framework

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/session"
)

// A CreateMode is a kind of node.
//
// Curator: CreateMode.
type CreateMode = session.CreateMode

// The kinds of nodes.
const (
	Persistent                  = session.Persistent
	Ephemeral                   = session.Ephemeral            // goes with the session
	PersistentSequential        = session.PersistentSequential // the server appends a number
	EphemeralSequential         = session.EphemeralSequential
	Container                   = session.Container         // goes after its last child
	PersistentWithTTL           = session.PersistentWithTTL // removed after the TTL without changes or children
	PersistentSequentialWithTTL = session.PersistentSequentialWithTTL
)

func sequential(m CreateMode) bool {
	return m == PersistentSequential || m == EphemeralSequential || m == PersistentSequentialWithTTL
}

// A CreateOption changes how a node is created.
type CreateOption func(*createSpec)

type createSpec struct {
	mode       CreateMode
	acl        []zk.ACL
	ttl        time.Duration
	name       string // the node's name, without a GUID
	parents    bool
	parentMode CreateMode
	protection bool
	orSet      bool
	version    int32 // used with orSet
	problem    error // what is wrong with the options
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

// CreatingParentContainersIfNeeded makes missing parents as containers.
//
// Curator: CreateBuilder.creatingParentContainersIfNeeded().
func CreatingParentContainersIfNeeded() CreateOption {
	return func(s *createSpec) { s.parents, s.parentMode = true, Container }
}

// WithProtection puts a GUID in front of the node's name. If the connection breaks before the answer, the node is found
// by it and adopted. One that a server creates late, after the search, is removed, and so is that of a create that is
// given up: in the background, for up to four session timeouts.
//
// Curator: CreateBuilder.withProtection().
func WithProtection() CreateOption { return func(s *createSpec) { s.protection = true } }

// OrSetData replaces the data of a node that exists and has the given version; -1 is any. Create then returns its path
// and its new Stat: Version is 0 of a new node, more of another. Mode, ACL and TTL of a node that existed stay. If the
// connection breaks and the retry finds the node of the try before, it sets the same data again. Sequential and
// protected nodes, which are always new, refuse it.
//
// Curator: CreateBuilder.orSetData().
func OrSetData(version int32) CreateOption {
	return func(s *createSpec) { s.orSet, s.version = true, version }
}

// Create makes a node and returns its path, with the number of a sequential one, and its Stat, whose Czxid orders all
// creations. nil data stands for that of [WithDefaultData], as with Curator; empty data, []byte{}, for none.
//
// If the connection breaks, Create tries again. Without protection that can leave two sequential nodes, or give
// zk.ErrNodeExists for its own node. The answer to a try after one without an answer is [ErrConnectionLost], too: the
// node may have been created.
//
// Errors: zk.ErrNodeExists, zk.ErrNoNode if there is no parent, [ErrNoChroot] without the chroot,
// zk.ErrNoChildrenForEphemerals, zk.ErrNoAuth, [ErrUnsupported] for TTLs that are switched off, and those of all
// operations. With [OrSetData] also zk.ErrBadVersion, and no zk.ErrNodeExists.
//
// Curator: CuratorFramework.create().
func (c *Client) Create(ctx context.Context, path string, data []byte, opts ...CreateOption) (created string, stat *zk.Stat, err error) {
	spec := newCreateSpec(opts)
	if err := spec.validate(path); err != nil {
		return "", nil, &OpError{Op: "create", Path: path, Err: err}
	}
	// A sequential path may end in a slash: the name is then the number alone.
	bare := path
	if sequential(spec.mode) && len(path) > 1 {
		bare = strings.TrimSuffix(path, "/")
	}
	spec.name = path[strings.LastIndexByte(path, '/')+1:]
	var made *live.Creation // one for all tries: it finds the node of an earlier one
	var entry session.CreatedNode
	err = c.do(ctx, "create", bare, func(ctx context.Context, s *live.Session, absolute string, ambiguous bool) (err error) {
		if made == nil {
			made = c.creation(absolute+path[len(bare):], data, &spec)
		}
		if spec.orSet {
			entry, err = createOrSet(ctx, s, made, absolute, spec.version)
		} else {
			entry, err = s.Create(ctx, made)
		}
		if ambiguous && !spec.protection && err != nil && live.IsAnswer(err) {
			err = &finalError{fmt.Errorf("%w, after a try without an answer: %w", err, ErrConnectionLost)}
		}
		return err
	})
	if made != nil {
		c.core.later(made.Backlog())
	}
	if err != nil {
		return "", nil, err
	}
	return c.RelativePath(entry.Path), entry.Stat, nil
}

// createOrSet starts again if the node vanishes between its two requests.
func createOrSet(ctx context.Context, s *live.Session, made *live.Creation, path string, version int32) (session.CreatedNode, error) {
	for {
		entry, err := s.Create(ctx, made)
		if !errors.Is(err, zk.ErrNodeExists) {
			return entry, err
		}
		stat, err := s.Set(ctx, path, made.Data, version)
		if !errors.Is(err, zk.ErrNoNode) {
			return session.CreatedNode{Path: path, Stat: stat}, err
		}
	}
}

func (c *Client) creation(path string, data []byte, spec *createSpec) *live.Creation {
	dir := path[:strings.LastIndexByte(path, '/')]
	if dir == "" {
		dir = "/"
	}
	made := &live.Creation{
		Dir: dir, Name: spec.name, Data: c.core.orDefault(data), ACL: spec.acl,
		Mode: spec.mode, TTL: spec.ttl, Protected: spec.protection, Parents: spec.parents, ParentMode: spec.parentMode,
	}
	if c.prefix != c.core.cfg.chroot {
		made.Namespace = c.prefix
	}
	return made
}

func (c *core) acl(path string) []zk.ACL {
	if acl := c.cfg.acl(path); len(acl) > 0 {
		return acl
	}
	return zk.WorldACL(zk.PermAll)
}

func (c *core) orDefault(data []byte) []byte {
	if data == nil {
		return c.cfg.data
	}
	return data
}

func newCreateSpec(opts []CreateOption) createSpec {
	spec := createSpec{mode: Persistent}
	spec.problem = apply(&spec, opts)
	return spec
}

func (spec *createSpec) validate(path string) error {
	hasTTL := spec.mode == PersistentWithTTL || spec.mode == PersistentSequentialWithTTL
	switch {
	case spec.problem != nil:
		return spec.problem
	case spec.mode < Persistent || spec.mode > PersistentSequentialWithTTL:
		return fmt.Errorf("unknown mode %d", spec.mode)
	case hasTTL && spec.ttl < time.Millisecond:
		return fmt.Errorf("a TTL of %v is too short: it counts in milliseconds", spec.ttl)
	case !hasTTL && spec.ttl != 0:
		return errors.New("a TTL is given, but the mode has none")
	case spec.protection && spec.mode == Container:
		return errors.New("containers cannot be protected")
	case spec.orSet && (spec.protection || sequential(spec.mode)):
		return errors.New("a sequential or protected node is always new: OrSetData would set nothing")
	case path == "/":
		return fmt.Errorf("%w: the root is always there", ErrInvalidPath)
	default:
		return nil
	}
}

package live

import (
	"context"
)

// Create tries once to create a node, and its parents if it may; the namespace's own node in any case. After a failure
// that is [Retryable] it can be called again with the same c, in any session. It does not wait for a connection.
func (s *Session) Create(ctx context.Context, c *Creation) (Entry, error) {
	return s.maker.create(ctx, c)
}

// CreateProtected creates an ephemeral sequential node called name, with a GUID in front, under dir, and lists dir, in
// one round trip. It makes missing parents as containers.
//
// It blocks until the server has answered, however often the connection breaks: a node whose creation was not answered
// is found by its GUID. A server may execute that creation late, after the search; the session goes on to look for such
// a node for four session timeouts, and removes it. ctx and the end of the session end the wait; a node that was
// created all the same is then removed in the background.
//
// Errors: the server's (zk.ErrNoAuth, zk.ErrNoChildrenForEphemerals if dir is ephemeral, …), [ErrTooLarge], a
// [*HangUpError], the session's [Session.Err], or ctx's cause. No node remains, with these exceptions, until the
// session ends: one whose answer was lost where the client may create but not list, of which a warning is logged; and
// one that a server creates later than that.
func (s *Session) CreateProtected(ctx context.Context, dir, name string, data []byte) (Entry, error) {
	return s.maker.createProtected(ctx, dir, name, data, true)
}

// CreateProtectedUnlisted is [Session.CreateProtected] without the listing, for observers of dir. Entry.Children is
// nil, unless the answer was lost and the node had to be looked for.
func (s *Session) CreateProtectedUnlisted(ctx context.Context, dir, name string, data []byte) (Entry, error) {
	return s.maker.createProtected(ctx, dir, name, data, false)
}

// CreateIfExists creates an ephemeral node called name, with a GUID in front, under dir, if the node guard exists: in
// one transaction. It returns the path. Like [Session.CreateProtected] it blocks until the server has answered, and
// removes what a server creates late. It needs no right to read dir.
//
// Errors: zk.ErrNoNode without guard, and those of CreateProtected. No node remains.
func (s *Session) CreateIfExists(ctx context.Context, guard, dir, name string, data []byte) (string, error) {
	return s.maker.createIfExists(ctx, guard, dir, name, data)
}

// Remove deletes one of the session's ephemeral nodes for sure, in the background if need be, until the session is
// over. It goes ahead of all later requests: a listing that is sent after it does not have the node.
func (s *Session) Remove(path string) *Removal { return s.removals.remove(path, false) }

package nodes

import (
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
)

// A registry is what the persistent nodes of one client share.
type registry struct {
	mu       ranked.Mutex[ranked.Leaf, registry]
	sessions map[int64]struct{} // that the client has had nodes in
	kept     map[string]struct{}
}

func registryOf(client *framework.Client) *registry {
	return session.Attach(client.Attachments(), func() *registry {
		return &registry{sessions: map[int64]struct{}{}, kept: map[string]struct{}{}}
	})
}

// keep reserves a path: two persistent nodes there would take each other's node for their own.
func (r *registry) keep(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, kept := r.kept[path]; kept {
		return fmt.Errorf("%w: %q", ErrKept, path)
	}
	r.kept[path] = struct{}{}
	return nil
}

func (r *registry) drop(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.kept, path)
}

// enter notes that nodes of a session may be ours.
func (r *registry) enter(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions[id] = struct{}{}
}

// had reports whether a node of a session may be ours.
func (r *registry) had(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, had := r.sessions[id]
	return had
}

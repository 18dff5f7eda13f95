package lockstest

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func sameWire() []law {
	return []law{
		{name: "G13 same wire/names", unless: composed, run: namesAreCurators},
		{name: "G13 same wire/nodes are ephemeral", run: nodesAreEphemeral},
		{name: "G13 same wire/data", unless: composed, run: dataIsCurators},
		{name: "G13 same wire/parents are bare", run: parentsAreBare},
		{name: "G13 same wire/ACLs", run: aclsComeFromTheProvider},
		{name: "G13 same wire/namespaces", unless: composed, run: namespacesArePrefixes},
	}
}

func namesAreCurators(t testing.TB, w *world) {
	c := w.client()
	pattern := regexp.MustCompile(`^_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-` +
		regexp.QuoteMeta(w.recipe.Marker) + `[0-9]{10}$`)
	lease := c.start(c.lock()).get()
	if !pattern.MatchString(lease.NodeName()) {
		t.Errorf("the node is called %q, want %v", lease.NodeName(), pattern)
	}
	if lease.Path() != w.path {
		t.Errorf("the lease's path is %q, want %q", lease.Path(), w.path)
	}
}

func nodesAreEphemeral(t testing.TB, w *world) {
	c := w.client()
	c.hold()
	session := c.session()
	for _, node := range w.nodes() {
		if stat := w.server.Stat(node); stat == nil || stat.EphemeralOwner != session {
			t.Errorf("%s: %+v, want it to belong to session %#x", node, stat, session)
		}
	}
}

func dataIsCurators(t testing.TB, w *world) {
	const standard = "10.1.2.3"
	c := w.client(framework.WithDefaultData([]byte(standard)))
	given := []byte("worker 7")
	for want, opts := range map[string][]locks.Option{
		standard: nil, "worker 7": {locks.WithLockData(given)}, "": {locks.WithLockData(nil)},
	} {
		lock := c.lock(opts...)
		given[0] = 'W' // it was copied
		lease := c.start(lock).get()
		given[0] = 'w'
		if got := w.server.Data(w.node(lease)); string(got) != want {
			t.Errorf("the node contains %q, want %q", got, want)
		}
		if got, err := lease.Data(t.Context()); err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("Data: %q, %v, want %q", got, err, want)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}
}

// That the parents are containers cannot be seen but by their end, which is a law of G5.
func parentsAreBare(t testing.TB, w *world) {
	w.client().standEverywhere()
	for _, dir := range append(w.dirs(), w.path) {
		stat := w.server.Stat(dir)
		if stat == nil || stat.EphemeralOwner != 0 {
			t.Errorf("%s: %+v, want a node of no session", dir, stat)
		}
		if data := w.server.Data(dir); len(data) > 0 {
			t.Errorf("%s contains %q", dir, data)
		}
	}
}

func aclsComeFromTheProvider(t testing.TB, w *world) {
	acl := zk.DigestACL(zk.PermAll, "law", "abider")
	c := w.client(
		framework.WithAuthorization("digest", []byte("law:abider")),
		framework.WithACLProvider(func(path string) []zk.ACL {
			if strings.HasPrefix(path, w.path) {
				return acl
			}
			return nil
		}))
	c.standEverywhere()
	for _, path := range append(w.nodes(), w.dirs()...) {
		got, _, err := c.ACL(t.Context(), path)
		if err != nil || len(got) != 1 || got[0] != acl[0] {
			t.Errorf("%s has the ACL %v, %v, want %v", path, got, err, acl)
		}
	}
}

func namespacesArePrefixes(t testing.TB, w *world) {
	c := w.client()
	namespace, rest := w.path[1:5], w.path[5:] // "laws" and "/…"
	inside := w.recipe.New(c.UsingNamespace(namespace), rest)
	lease, err := inside.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.node(lease) // stands where it should
	if w.recipe.Reentrant {
		again, err := c.lock().Acquire(lease.Context(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Release(); err != nil {
			t.Error(err)
		}
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

//go:build unix

package integration_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// What the holder of some permissions on a lock's directory may do, which error it gets otherwise, and what remains:
// every set of CREATE, READ and DELETE, alone and with WRITE and ADMIN, which count for nothing.
func TestPermissionsOnALocksDirectory(t *testing.T) {
	t.Run("in memory", func(t *testing.T) {
		server := zktest.NewServer()
		t.Cleanup(func() { _ = server.Close() })
		permissionTable(t, server.Addr())
	})
	t.Run("real", func(t *testing.T) { permissionTable(t, zookeeper.Start(t, zookeeper.Config{}).Addr()) })
}

func permissionTable(t *testing.T, servers string) {
	t.Helper()
	for perms := int32(0); perms <= zk.PermAll; perms++ {
		if more := perms & (zk.PermWrite | zk.PermAdmin); perms == 0 || more != 0 && more != zk.PermWrite|zk.PermAdmin {
			continue // no permission at all is no ACL; WRITE and ADMIN come together
		}
		for kind, lock := range map[string]func(c *framework.Client, path string) locks.Lock{
			"mutex": func(c *framework.Client, path string) locks.Lock { return locks.NewInterProcessMutex(c, path) },
			"reader": func(c *framework.Client, path string) locks.Lock {
				return locks.NewInterProcessReadWriteLock(c, path).ReadLock()
			},
		} {
			t.Run(fmt.Sprintf("%s %05b", kind, perms), func(t *testing.T) {
				c := permissionCase{path: fmt.Sprintf("/%s-%d", kind, perms), perms: perms, lock: lock}
				c.run(t, servers)
			})
		}
	}
}

type permissionCase struct {
	path  string
	perms int32
	lock  func(c *framework.Client, path string) locks.Lock
}

func (c permissionCase) has(permission int32) bool { return c.perms&permission != 0 }

func (c permissionCase) run(t *testing.T, servers string) {
	t.Helper()
	admin := secureClient(t, servers, framework.WithAuthorization("digest", []byte("admin:a")))
	acl := append(zk.DigestACL(c.perms, "alice", "secret"), zk.DigestACL(zk.PermAll, "admin", "a")...)
	if _, _, err := admin.Create(t.Context(), c.path, nil, framework.WithACL(acl...)); err != nil {
		t.Fatal(err)
	}
	alice := secureClient(t, servers, framework.WithAuthorization("digest", []byte("alice:secret")))
	remains := func(when string, want int) {
		t.Helper()
		var left []string
		var err error
		if !await.Within(patience, func() bool {
			left, _, err = admin.Children(t.Context(), c.path)
			return err == nil && len(left) == want
		}) {
			t.Fatalf("%s: got the nodes %v, %v after %v, want %d", when, left, err, patience, want)
		}
	}
	// A try lists the directory before it creates anything.
	lease, err := c.lock(alice, c.path).TryAcquire(t.Context())
	switch {
	case !c.has(zk.PermRead):
		c.wantMissing(t, err, "READ")
	case !c.has(zk.PermCreate):
		c.wantMissing(t, err, "CREATE")
	case err != nil:
		t.Fatalf("got %v, want a lease", err)
	}
	unremovable := 1 // what the client may not remove stays until its session ends
	if c.has(zk.PermDelete) {
		unremovable = 0
	}
	if err != nil {
		remains("nothing was created by the try", 0)
		lease, err = c.lock(alice, c.path).Acquire(t.Context())
	}
	switch {
	case !c.has(zk.PermCreate):
		c.wantMissing(t, err, "CREATE")
		remains("not created", 0)
	case !c.has(zk.PermRead):
		c.wantMissing(t, err, "READ")
		remains("created and not listed", unremovable)
	default:
		var unreleased *locks.ReleaseError
		if err := lease.Release(); c.has(zk.PermDelete) != (err == nil) || err != nil && !errors.As(err, &unreleased) {
			t.Errorf("release: got %v, want success: %t", err, c.has(zk.PermDelete))
		}
		remains("released", unremovable)
	}
	_ = alice.Close() // a busy server may not confirm it in time; the session then ends by itself
	remains("the session has ended", 0)
}

func (c permissionCase) wantMissing(t *testing.T, err error, permission string) {
	t.Helper()
	var missing *framework.NoAuthError
	if !errors.As(err, &missing) || missing.Permission != permission || missing.Node != c.path {
		t.Errorf("got %v, want a NoAuthError that names %s on %s", err, permission, c.path)
	}
}

package security_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/saslmd5"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// The code of the page, which TestPagesShowCodeThatRuns compares.

func TestClientOfThePageIsMade(t *testing.T) {
	var pem []byte
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem) // the authority that signed the servers' certificates
	client, err := framework.NewClient("zk1.example:2281,zk2.example:2281", framework.WithTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: roots,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			// read again at each connection: certificates are renewed
			pair, err := tls.LoadX509KeyPair("client.pem", "client.key")
			return &pair, err
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestClientOfThePageProvesWhoItIs(t *testing.T) {
	t.Setenv("ZOOKEEPER_PASSWORD", "hunter2")
	server := zktest.NewServer(zktest.WithSASL(map[string]string{"billing": "hunter2"}), zktest.WithSASLRequired())
	defer server.Close()
	servers := server.Addr()
	client, err := framework.NewClient(servers, framework.WithSASL(
		saslmd5.New("billing", func(context.Context) (string, error) { return os.Getenv("ZOOKEEPER_PASSWORD"), nil })))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, _, err := client.Create(t.Context(), "/mine", nil, framework.WithACL(zk.AuthACL(zk.PermAll)...)); err != nil {
		t.Error(err)
	}
}

func TestNodesOfTheServiceAreItsOwn(t *testing.T) {
	server := zktest.NewServer()
	defer server.Close()
	servers := server.Addr()
	client, err := framework.NewClient(servers,
		framework.WithAuthorization("digest", []byte("billing:secret")),
		framework.WithACLProvider(func(string) []zk.ACL { return zk.AuthACL(zk.PermAll) })) // to itself alone
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	lease, err := locks.NewInterProcessMutex(client, "/locks/nightly").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}()
	stranger, err := framework.NewClient(servers)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, err := locks.NewInterProcessMutex(stranger, "/locks/nightly").TryAcquire(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("got %v for a stranger, want %v", err, zk.ErrNoAuth)
	}
}

const lock = "/locks/nightly"

// user returns a client of the user alice, whose permissions the test chooses.
func user(t *testing.T, server *zktest.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("any:2181", append([]framework.Option{
		framework.WithDialer(server.DialContext), framework.WithAuthorization("digest", []byte("alice:secret")),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// prepare makes the lock's directory, on which alice has only these permissions.
func prepare(t *testing.T, server *zktest.Server, perms int32) {
	t.Helper()
	_, _, err := user(t, server).Create(t.Context(), lock, nil, framework.CreatingParentsIfNeeded(),
		framework.WithACL(zk.DigestACL(perms, "alice", "secret")...))
	if err != nil {
		t.Fatal(err)
	}
}

func TestPermissionsThatALockNeeds(t *testing.T) {
	const needed = zk.PermCreate | zk.PermRead | zk.PermDelete
	for name, c := range map[string]struct {
		perms            int32
		acquire, release bool
		missing          string
	}{
		"create, read, delete": {needed, true, true, ""},
		"no CREATE":            {needed &^ zk.PermCreate, false, false, "CREATE"},
		"no READ":              {needed &^ zk.PermRead, false, false, "READ"},
		"no DELETE":            {needed &^ zk.PermDelete, true, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t)
				prepare(t, server, c.perms)
				lease, err := locks.NewInterProcessMutex(user(t, server), lock).Acquire(t.Context())
				if !c.acquire {
					var noAuth *framework.NoAuthError
					if !errors.As(err, &noAuth) || noAuth.Permission != c.missing || noAuth.Node != lock {
						t.Errorf("got %v, want one that names %s on %s", err, c.missing, lock)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				var unreleased *locks.ReleaseError
				if err := lease.Release(); c.release != (err == nil) || err != nil && !errors.As(err, &unreleased) {
					t.Errorf("got %v of the release, want success: %v", err, c.release)
				}
				if left := len(server.Children(lock)); c.release != (left == 0) {
					t.Errorf("got %d nodes after the release, want none: %v", left, c.release)
				}
			})
		})
	}
}

func TestAskingAHolderToLeaveNeedsWRITE(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		prepare(t, server, zk.PermAll)
		readable := framework.WithACLProvider(func(string) []zk.ACL { return zk.DigestACL(zk.PermRead, "alice", "secret") })
		client := user(t, server, readable)
		mutex := locks.NewInterProcessMutex(client, lock)
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		queue, err := mutex.Participants(t.Context())
		if err != nil || len(queue) != 1 {
			t.Fatal(queue, err)
		}
		if err := locks.AttemptRevoke(t.Context(), client, queue[0].Path); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("got %v, want %v", err, zk.ErrNoAuth)
		}
		if err := lease.Release(); err != nil {
			t.Errorf("got %v of the release, want none: the directory's DELETE is enough", err)
		}
	})
}

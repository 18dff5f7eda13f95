//go:build unix

package integration_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/saslmd5"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// The password has what must be quoted and what is hashed in another encoding than it is sent in.
const saslUser, saslPassword = `bö"b`, `se\cret, ä"=`

// A jaas is a server's file of users, which the server reads when it starts.
type jaas string

func newJAAS(t *testing.T, passwords map[string]string) jaas {
	t.Helper()
	file := jaas(filepath.Join(t.TempDir(), "jaas.conf"))
	file.write(t, passwords)
	return file
}

func (file jaas) write(t *testing.T, passwords map[string]string) {
	t.Helper()
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var text strings.Builder
	text.WriteString("Server { org.apache.zookeeper.server.auth.DigestLoginModule required")
	for user, password := range passwords {
		fmt.Fprintf(&text, ` "user_%s"="%s"`, quote.Replace(user), quote.Replace(password))
	}
	if err := os.WriteFile(string(file), []byte(text.String()+";\n};\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// config is a server's that takes these users. FIPS mode is on by default since 3.9; releases after 3.9.5 then have no
// DIGEST-MD5.
func (file jaas) config(required bool) zookeeper.Config {
	c := zookeeper.Config{
		MaxSessionTimeout: outlasting,
		Properties:        map[string]string{"authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"},
		JavaOptions:       []string{"-Djava.security.auth.login.config=" + string(file), "-Dzookeeper.fips-mode=false", "-Dfile.encoding=UTF-8"},
	}
	if required {
		c.Properties["sessionRequireClientSASLAuth"] = "true"
	}
	return c
}

func saslClient(t *testing.T, servers, user, password string, opts ...framework.Option) *framework.Client {
	t.Helper()
	return secureClient(t, servers, append(opts,
		framework.WithSASL(saslmd5.New(user, func(context.Context) (string, error) { return password, nil })))...)
}

func secureClient(t *testing.T, servers string, opts ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(servers, append([]framework.Option{
		framework.WithSessionTimeout(time.Minute), framework.WithConnectionTimeout(time.Minute),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// connected waits until the client is connected, or returns why it will not be.
func connected(t *testing.T, client *framework.Client) error {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, "a client to be connected or refused")
	defer cancel()
	return client.BlockUntilConnected(ctx)
}

func TestSASLOnARealServerThatRequiresIt(t *testing.T) {
	users := map[string]string{saslUser: saslPassword, "eve": "e"}
	file := newJAAS(t, users)
	server := zookeeper.Start(t, file.config(true))

	t.Run("wrong password", func(t *testing.T) {
		err := connected(t, saslClient(t, server.Addr(), saslUser, "wrong"))
		wantRefused(t, err, "SASL DIGEST-MD5")
	})
	t.Run("missing mechanism", func(t *testing.T) {
		client := secureClient(t, server.Addr())
		_, err := client.Exists(t.Context(), "/")
		wantRefused(t, err, "enforce.auth.schemes")
	})
	t.Run("an ACL of its own", func(t *testing.T) {
		client := saslClient(t, server.Addr(), saslUser, saslPassword)
		if _, _, err := client.Create(t.Context(), "/mine", nil, framework.WithACL(zk.AuthACL(zk.PermAll)...)); err != nil {
			t.Fatal(err)
		}
		acl, _, err := client.ACL(t.Context(), "/mine")
		if want := (zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: saslUser}); err != nil || len(acl) != 1 || acl[0] != want {
			t.Errorf("got %v, %v, want %v", acl, err, want)
		}
		_, _, err = saslClient(t, server.Addr(), "eve", "e").Get(t.Context(), "/mine")
		if !isNoAuth(err) {
			t.Errorf("another user: got %v, want %v", err, zk.ErrNoAuth)
		}
	})
	t.Run("a lock is held while the password changes", func(t *testing.T) {
		var password atomic.Pointer[string]
		var exchanges atomic.Int32
		old, next := saslPassword, "next"
		password.Store(&old)
		client := secureClient(t, server.Addr(), framework.WithSessionTimeout(outlasting), framework.WithSASL(saslmd5.New(saslUser,
			func(context.Context) (string, error) {
				exchanges.Add(1)
				return *password.Load(), nil
			})))
		lease, err := locks.NewInterProcessMutex(client, "/locks/a").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		file.write(t, map[string]string{saslUser: next, "eve": "e"})
		server.Restart()
		begun := exchanges.Load()
		await.Until(t, patience, "two refusals", func() bool { return exchanges.Load() >= begun+3 })
		if s.Connected() || client.Err() != nil {
			t.Errorf("after a refusal on a reconnection: connected %t, %v, want neither", s.Connected(), client.Err())
		}
		password.Store(&next)
		if err := connected(t, client); err != nil {
			t.Fatal(err)
		}
		if err := lease.Err(); err != nil {
			t.Errorf("got %v, want a lock that is held", err)
		}
		if again, err := client.Session(t.Context()); err != nil || again != s {
			t.Errorf("got %v, %v, want the same session", again, err)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
		// The server removes the empty directory, maybe before it answers.
		if left, _, err := client.Children(t.Context(), "/locks/a"); err != nil && !errors.Is(err, zk.ErrNoNode) || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

func TestSASLOnARealServerThatDoesNotRequireIt(t *testing.T) {
	server := zookeeper.Start(t, newJAAS(t, map[string]string{saslUser: saslPassword}).config(false))
	wantRefused(t, connected(t, saslClient(t, server.Addr(), saslUser, "wrong")), "SASL DIGEST-MD5")
	for _, client := range []*framework.Client{secureClient(t, server.Addr()), saslClient(t, server.Addr(), saslUser, saslPassword)} {
		if err := connected(t, client); err != nil {
			t.Error(err)
		}
		addAuthLater(t, client)
	}
}

// addAuthLater has a server refuse one authorization, and accept another, while a lock is held.
func addAuthLater(t *testing.T, client *framework.Client) {
	t.Helper()
	lease, err := locks.NewInterProcessMutex(client, "/locks/auth").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantRefused(t, client.AddAuth(t.Context(), "nosuch", []byte("x")), `add authorization "nosuch"`)
	if err := client.AddAuth(t.Context(), "digest", []byte("later:secret")); err != nil {
		t.Error(err)
	}
	if _, _, err := client.Create(t.Context(), "/later", nil, framework.WithACL(zk.DigestACL(zk.PermAll, "later", "secret")...)); err != nil {
		t.Error(err)
	}
	if err := client.Delete(t.Context(), "/later", -1); err != nil {
		t.Error(err)
	}
	if _, _, err := client.Children(t.Context(), "/"); err != nil || lease.Err() != nil || client.Err() != nil {
		t.Errorf("after a refusal: got %v, lease %v, client %v, want nothing", err, lease.Err(), client.Err())
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// What a server says that has no SASL must not be taken for consent. Each attempt opens a session there, which would
// stay for a minute if the client did not close it. On a busy machine an answer may come after the client has given up,
// so a few may stay.
func TestARealServerWithoutSASLIsNamed(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	var attempts atomic.Int64
	client := secureClient(t, server.Addr(), framework.WithSASL(saslmd5.New(saslUser, func(context.Context) (string, error) {
		attempts.Add(1)
		return saslPassword, nil
	})))
	awaitFailure(t, client, "no SASL with DIGEST-MD5 configured")
	if client.Err() != nil {
		t.Errorf("got %v, want a client that goes on", client.Err())
	}
	await.Until(t, patience, "twelve attempts", func() bool { return attempts.Load() >= 12 })
	_ = client.Close()
	awaitFewerSessions(t, server, 6)
}

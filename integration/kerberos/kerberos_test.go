//go:build unix

package kerberos_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/keytab"

	"github.com/gocurator/curator/examples/kerberos"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// login logs in a user whose keys are in the KDC's file.
func (k *kdc) login(t *testing.T, user string) *client.Client {
	t.Helper()
	krb, err := config.Load(k.file("krb5.conf"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keytab.Load(k.file("keys"))
	if err != nil {
		t.Fatal(err)
	}
	cl := client.NewWithKeytab(user, realm, keys, krb, client.DisablePAFXFAST(true))
	t.Cleanup(cl.Destroy)
	return cl
}

// serve starts a server that takes clients with tickets only, and returns its address by name: tickets are for names.
func (k *kdc) serve(t *testing.T) (address string) {
	t.Helper()
	k.write(t, "jaas.conf", fmt.Sprintf(`Server {
  com.sun.security.auth.module.Krb5LoginModule required
  useKeyTab=true keyTab="%s" storeKey=true useTicketCache=false principal="zookeeper/localhost@%s";
};
`, k.file("keys"), realm))
	server := zookeeper.Start(t, zookeeper.Config{
		Properties: map[string]string{
			"authProvider.1":               "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
			"sessionRequireClientSASLAuth": "true",
		},
		JavaOptions: []string{"-Djava.security.auth.login.config=" + k.file("jaas.conf"), "-Djava.security.krb5.conf=" + k.file("krb5.conf")},
	})
	_, port, err := net.SplitHostPort(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("localhost", port)
}

func connect(t *testing.T, address string, m sasl.Mechanism, opts ...framework.Option) *framework.Client {
	t.Helper()
	zkClient, err := framework.NewClient(address, append(opts, framework.WithSASL(m), framework.WithSessionTimeout(time.Minute))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = zkClient.Close() })
	return zkClient
}

func TestALockIsHeldByTicket(t *testing.T) {
	k := startKDC(t, "zookeeper/localhost", "billing")
	address := k.serve(t)
	conns := make(chan net.Conn, 100)
	c := connect(t, address, kerberos.New(k.login(t, "billing"), "zookeeper"),
		framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				conns <- conn
			}
			return conn, err
		}))
	if _, _, err := c.Create(t.Context(), "/mine", nil, framework.WithACL(zk.AuthACL(zk.PermAll)...)); err != nil {
		t.Fatal(err)
	}
	acl, _, err := c.ACL(t.Context(), "/mine")
	if want := (zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: "billing@" + realm}); err != nil || len(acl) != 1 || acl[0] != want {
		t.Errorf("got %v, %v, want %v", acl, err, want)
	}
	lease, err := locks.NewInterProcessMutex(c, "/locks/a").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k.stop() // a ticket is good without its KDC
	_ = (<-conns).Close()
	<-conns // the client has dialed again
	ctx, cancel := await.Context(t.Context(), t, time.Minute, "an answer after a reconnection without the KDC")
	defer cancel()
	if _, _, err := c.Get(ctx, "/mine"); err != nil {
		t.Fatalf("after a reconnection without the KDC: got %v", err)
	}
	if err := lease.Err(); err != nil {
		t.Errorf("got %v, want a lock that is held", err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

func TestAClientWithoutATicketIsAFailedAttemptUntilTheKDCIsBack(t *testing.T) {
	k := startKDC(t, "zookeeper/localhost", "billing")
	address := k.serve(t)
	k.stop()
	c := connect(t, address, kerberos.New(k.login(t, "billing"), "zookeeper"))
	awaitFailure(t, c, "SASL GSSAPI: ticket for zookeeper/localhost")
	k.start(t)
	ctx, cancel := await.Context(t.Context(), t, time.Minute, "a connection after the KDC is back")
	defer cancel()
	if err := c.BlockUntilConnected(ctx); err != nil {
		t.Fatal(err)
	}
	stranger := connect(t, address, kerberos.New(k.login(t, "billing"), "nosuch"))
	awaitFailure(t, stranger, "ticket for nosuch/localhost")
	if err := stranger.Err(); err != nil {
		t.Errorf("got %v, want a client that goes on", err)
	}
}

func awaitFailure(t *testing.T, c *framework.Client, says string) {
	t.Helper()
	var err error
	if !await.Within(time.Minute, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err = c.BlockUntilConnected(ctx); err == nil {
			t.Fatalf("got a connection, want an error with %q in it", says)
		}
		var unreachable *framework.ConnectError
		return errors.As(err, &unreachable) && strings.Contains(err.Error(), says)
	}) {
		await.Fatalf(t, "an error with %q in it, got %v", says, err)
	}
}

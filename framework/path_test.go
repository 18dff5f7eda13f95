package framework_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// nowhere is a client that never finds a server.
func nowhere(t *testing.T, connect string, opts ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(connect, append(opts, framework.WithDialer(
		func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }))...)
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestAbsoluteAndRelativePathsAreInverse(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		for _, connect := range []string{"a:1", "a:1/", "a:1/root", "a:1/root/sub"} {
			_, chroot, _ := strings.Cut(connect, "/")
			for _, namespace := range []string{"", "ns", "ns/deep"} {
				client := nowhere(t, connect)
				prefix := ""
				if chroot != "" {
					prefix = "/" + chroot
				}
				if namespace != "" {
					client = client.UsingNamespace(namespace)
					prefix += "/" + namespace
				}
				for _, path := range []string{"/", "/x", "/x/y"} {
					absolute, err := client.AbsolutePath(path)
					want := prefix + path
					if path == "/" && prefix != "" {
						want = prefix
					}
					if err != nil || absolute != want {
						t.Errorf("%s, namespace %q: %s becomes %s (%v), want %s", connect, namespace, path, absolute, err, want)
					}
					if back := client.RelativePath(absolute); back != path {
						t.Errorf("%s, namespace %q: %s comes back as %s", connect, namespace, path, back)
					}
				}
			}
		}
	})
}

func TestAPathOutsideTheNamespaceStaysAsItIs(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		client := nowhere(t, "zk:2181/a")
		for _, path := range []string{"/ab", "/ab/c", "/b", "/"} {
			if got := client.RelativePath(path); got != path {
				t.Errorf("%s became %s", path, got)
			}
		}
	})
}

func TestAnInvalidNamespaceFailsEveryOperation(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for _, namespace := range []string{"", "/a", "a/", "a//b", "..", "a\x00"} {
			client := w.Client.UsingNamespace(namespace)
			_, err := client.Exists(t.Context(), "/n")
			wantErr(t, err, framework.ErrInvalidPath)
			_, _, err = client.Create(t.Context(), "/n", nil)
			wantErr(t, err, framework.ErrInvalidPath)
			_, err = client.Transaction(t.Context(), framework.CheckOp("/n", -1))
			wantErr(t, err, framework.ErrInvalidPath)
		}
	})
}

func TestFacadesShareOneConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		a, b := w.Client.UsingNamespace("a"), w.Client.UsingNamespace("b")
		if a.NonNamespaceView() != b.NonNamespaceView() || a.NonNamespaceView() != w.Client.NonNamespaceView() {
			t.Error("got different views without a namespace, want one")
		}
		if w.Server.Connections() != 1 {
			t.Errorf("%d connections", w.Server.Connections())
		}
	})
}

func TestConnectStrings(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		for connect, servers := range map[string][]string{
			"a:2181":               {"a:2181"},
			"a":                    {"a:2181"},
			"a,b:1":                {"a:2181", "b:1"},
			" a:2181 , b:65535 ":   {"a:2181", "b:65535"},
			"[::1]:2181":           {"[::1]:2181"},
			"[::1]":                {"[::1]:2181"},
			"[fe80::1%eth0]:1":     {"[fe80::1%eth0]:1"},
			"127.0.0.1:2181":       {"127.0.0.1:2181"},
			"a:2181/":              {"a:2181"},
			"a:1,b:2/chroot/below": {"a:1", "b:2"},
			",a:1, ,b:2,/chroot":   {"a:1", "b:2"},
		} {
			var named *framework.ConnectError
			err := nowhere(t, connect).BlockUntilConnected(canceled(t))
			if !errors.As(err, &named) {
				t.Fatalf("%q: %v", connect, err)
			}
			var got []string
			for server := range named.Servers {
				got = append(got, server)
			}
			slices.Sort(got)
			slices.Sort(servers)
			if !slices.Equal(got, servers) {
				t.Errorf("%q means %q, want %q", connect, got, servers)
			}
		}
	})
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestMalformedConnectStringsAreRefused(t *testing.T) {
	for connect, problem := range map[string]string{
		",":               "names no server",
		" ":               "names no server",
		"/chroot":         "names no server",
		"a:":              "port",
		":2181":           "no host",
		"a:0":             "port",
		"a:65536":         "port",
		"a:99999":         "port",
		"a:-1":            "port",
		"a:+1":            "port",
		"a:b":             "port",
		"a:1:2":           "brackets",
		"::1":             "brackets",
		"[::1":            "]",
		"[::1]x":          "",
		"user@a:2181":     "WithAuthorization",
		"a:2181/x/":       "must not end with /",
		"a:2181//":        "",
		"a/x//y":          "empty part",
		"a/x/../y":        "relative",
		"http://a:2181/x": "port",
	} {
		_, err := framework.NewClient(connect)
		if err == nil {
			t.Errorf("%q passes", connect)
		} else if !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %q does not say %q", connect, err, problem)
		}
	}
}

func TestEverythingThatIsWrongIsNamedAtOnceAndNothingIsStarted(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		_, err := framework.NewClient("a:0,:1,::1,c:x/y//z",
			nil,
			framework.WithSessionTimeout(-1),
			framework.WithConnectionTimeout(0),
			framework.WithRetryPolicy(retry.NTimes(-1, time.Second)),
			framework.WithErrorPolicy(9),
			framework.WithNamespace("/n"),
			framework.WithStateListener(nil),
			framework.WithAuthorization("", nil),
			framework.WithACLProvider(nil),
			framework.WithDialer(nil),
			framework.WithTLS(nil),
			framework.WithSASL(nil),
			framework.WithLogger(nil),
		)
		if err == nil {
			t.Fatal("got no error, want one")
		}
		wantErr(t, err, framework.ErrInvalidPath, retry.ErrInvalidPolicy)
		for _, part := range []string{
			`"a:0"`, `":1"`, `"::1"`, `"c:x"`, `"/y//z"`, "option is nil", "session timeout", "connection timeout", "error policy", `"/n"`,
			"state listener", "scheme", "ACL provider", "dialer", "TLS", "SASL", "logger",
		} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	})
	for _, d := range []time.Duration{0, time.Microsecond, 25 * 24 * time.Hour} {
		if _, err := framework.NewClient("a", framework.WithSessionTimeout(d)); err == nil {
			t.Errorf("a session timeout of %v passes", d)
		}
	}
}

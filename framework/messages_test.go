package framework_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestMistakesInAConnectStringAreNamed(t *testing.T) {
	const form = "write host:port,host:port/chroot"
	for connect, want := range map[string]string{
		"a:2181;b:2181":             `connect string "a:2181;b:2181" must separate servers by commas: ` + form,
		"a:2181 b:2181/app":         `connect string "a:2181 b:2181/app" must separate servers by commas: ` + form,
		"zk://a:2181/app":           `connect string has a URL that begins with "zk://": ` + form,
		"a:2181,http://b:2181":      `connect string has a URL that begins with "http://": ` + form,
		"a:2181/app,b:2181/app":     `chroot "/app,b:2181/app": has a comma, but the chroot stands once, behind the last server: ` + form,
		"u:secret@a:2181":           "connect string names a user before an @: give the user to WithAuthorization, and " + form,
		"zk://u:secret@a:2181/x":    "connect string names a user before an @: give the user to WithAuthorization, and " + form,
		"b:2181,u:secret@a:2181":    "connect string names a user before an @: give the user to WithAuthorization, and " + form,
		"a:2181/x,u:secret@b:2181":  "connect string names a user before an @: give the user to WithAuthorization, and " + form,
		"u:sec/ret@a:2181":          "connect string names a user before an @: give the user to WithAuthorization, and " + form,
		"zk://u:sec/ret@a:2181/app": "connect string names a user before an @: give the user to WithAuthorization, and " + form,
		"":                          "the connect string names no server: " + form,
	} {
		_, err := framework.NewClient(connect)
		if err == nil || err.Error() != "framework: invalid client: "+want {
			t.Errorf("%q:\ngot  %v\nwant framework: invalid client: %s", connect, err, want)
		}
	}
}

func TestMistakesInANamespaceAreNamed(t *testing.T) {
	for _, namespace := range []string{"/app", "app/", "/app/"} {
		_, err := framework.NewClient("a:2181", framework.WithNamespace(namespace))
		if want := `must not begin or end with /, write "app"`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", namespace, err, want)
		}
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	_, err := framework.NewClient("a:1;b", framework.WithSessionTimeout(-1), framework.WithNamespace("/"), nil)
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	client, err := framework.NewClient("a:2181", framework.WithDialer(func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.Join(errors.New("one"), errors.New("two"))
	}))
	must(t, err)
	defer client.Close()
	for wait := 100 * time.Millisecond; wait < time.Minute; wait *= 2 { // a busy machine may not have tried yet
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		err = client.BlockUntilConnected(ctx)
		cancel()
		if err == nil || strings.Contains(err.Error(), "one; two") {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "one; two") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one; two", err)
	}
}

func TestAnEndedContextIsNamedAsTheReason(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := w.Client.Get(ctx, "/")
		wantErr(t, err, context.Canceled)
		if want := `framework: get "/": retry: not attempted, the context had ended: context canceled`; err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

// answering is a server that greets every client with a text, and reads what it says.
func answering(text string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Read(make([]byte, 1<<14))
			_, _ = theirs.Write([]byte(text))
			_ = theirs.Close()
		}()
		return ours, nil
	}
}

func TestServersOfAnotherKindAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		says, want string
		opts       []framework.Option
	}{
		"HTTP":             {"HTTP/1.1 400 Bad Request\r\n\r\n", "the server answers in HTTP, so this is not ZooKeeper's client port", nil},
		"TLS":              {"\x15\x03\x03\x00\x02\x02\x46", "the server answers in TLS, use WithTLS", nil},
		"silent":           {"", "read-only for lack of a quorum, it takes TLS alone on this port, has reached its connection limit", nil},
		"no TLS":           {"", "does the server speak TLS on this port?", []framework.Option{framework.WithTLS(&tls.Config{MinVersion: tls.VersionTLS12})}},
		"no TLS, it talks": {"HTTP/1.1 400", "does the server speak TLS on this port?", []framework.Option{framework.WithTLS(&tls.Config{MinVersion: tls.VersionTLS12})}},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				client, err := framework.NewClient("zk:2181", append(test.opts, framework.WithDialer(answering(test.says)))...)
				must(t, err)
				defer client.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err = client.BlockUntilConnected(ctx)
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v, want %s", err, test.want)
				}
			})
		})
	}
}

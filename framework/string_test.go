package framework_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/printtest"
)

const secret = printtest.Password

// No exported type shows a credential, however it is printed.
func TestNoExportedTypeShowsACredential(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := saslEnv(t)
		auth := framework.WithAuthorization("digest", []byte(printtest.Credentials))
		proof := bob(printtest.Password)
		client := w.Dial("zk:2181", auth, proof)
		s, err := client.Session(t.Context())
		must(t, err)
		hold, err := s.Bind(func(error) {}, nil)
		must(t, err)
		defer hold.Release()
		watch := s.WatchData("/", func() {})
		defer watch.Stop()
		_, connectErr := framework.NewClient("zk://"+printtest.Credentials+"@zk:2181", auth)
		_, _, opErr := client.ACL(t.Context(), "/missing")
		refused := client.AddAuth(t.Context(), "nosuch", []byte(printtest.Credentials))
		must(t, client.AddAuth(t.Context(), "digest", []byte(printtest.Credentials)))
		values := map[string]any{
			"Client": client, "Session": s, "View": watch.View(), "Option": []framework.Option{auth, proof},
			"Op": framework.CheckOp("/", -1), "OpError": []error{opErr, refused},
			"ConnectError":     &framework.ConnectError{Servers: map[string]error{"zk:2181": connectErr}, Cause: connectErr},
			"TransactionError": &framework.TransactionError{Op: "check", Path: "/", Err: connectErr},
			"DisconnectError":  &framework.DisconnectError{Request: "create", Path: "/", Server: "zk:2181", Times: 5, Err: connectErr},
			"Operation":        framework.Operation{Op: "add authorization", Path: "/", Err: refused},
			"Result":           framework.Result{Path: "/"},
			"State":            framework.StateLost, "ErrorPolicy": framework.StandardErrorPolicy, "Status": framework.StatusGone,
			"CreateMode": framework.Ephemeral, "CreateOption": framework.WithACL(zk.DigestACL(zk.PermAll, "user", "other")[0]),
			"DeleteOption": framework.Guaranteed(), "Trace": framework.Trace{}, "StateChange": framework.StateChange{Err: refused},
			"Explanation": framework.Explanation{Sentence: "no server was reached"}, "LossKind": framework.LossKind(0),
			"NoAuthError": &framework.NoAuthError{Op: "create", Path: "/", Permission: "CREATE", Node: "/"},
		}
		synctest.Wait() // no goroutine of the client writes while its fields are read
		printtest.WantNoCredentials(t, ".", values)
	})
}

func TestAClientAndASessionSayWhatTheyAre(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		client := w.Dial("zk:2181", framework.WithNamespace("app"))
		must(t, client.BlockUntilConnected(t.Context()))
		mine, err := client.Session(t.Context())
		must(t, err)
		id := fmt.Sprintf("%#x", mine.ID())
		if got, want := fmt.Sprint(client), "client of zk:2181/app (CONNECTED, server zk:2181, session "+id+")"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		nowhere := w.Dial("nowhere:1", framework.WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") }))
		if got, want := fmt.Sprint(nowhere), "client of nowhere:1 (LATENT)"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		s := w.Session()
		if got, want := fmt.Sprint(s), fmt.Sprintf("session %#x", s.ID()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		for form, got := range printtest.Texts(*client) {
			if !strings.HasPrefix(form, "slog") && !strings.Contains(got, id) {
				t.Errorf("a copied client as %s: got %s, want its text, with the session %s", form, got, id)
			}
		}
	})
}

package framework_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

const secret = "hunter2"

// No exported type shows a credential, however it is printed.
func TestNoExportedTypeShowsACredential(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := saslEnv(t)
		auth := framework.WithAuthorization("digest", []byte("user:"+secret))
		proof := bob(secret)
		client := w.Dial("zk:2181", auth, proof)
		s, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hold, err := s.Bind(func(error) {}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer hold.Release()
		watch := s.WatchData("/", func() {})
		defer s.Unwatch(watch)
		_, connectErr := framework.NewClient("zk://user:"+secret+"@zk:2181", auth)
		_, _, opErr := client.ACL(t.Context(), "/missing")
		refused := client.AddAuth(t.Context(), "nosuch", []byte("user:"+secret))
		if err := client.AddAuth(t.Context(), "digest", []byte("user:"+secret)); err != nil {
			t.Fatal(err)
		}
		values := map[string]any{
			"Client": client, "Session": s, "Binding": hold, "Watch": watch, "View": s.View(watch), "Option": []framework.Option{auth, proof},
			"Op": framework.CheckOp("/", -1), "Removal": s.Remove("/missing"), "OpError": []error{opErr, refused},
			"ConnectError":     &framework.ConnectError{Servers: map[string]error{"zk:2181": connectErr}, Cause: connectErr},
			"TransactionError": &framework.TransactionError{Op: "check", Path: "/", Err: connectErr},
			"HangUpError":      &framework.HangUpError{Request: "create", Path: "/", Server: "zk:2181", Times: 5, Err: connectErr},
			"Operation":        framework.Operation{Op: "add authorization", Path: "/", Err: refused},
			"Result":           framework.Result{Path: "/"}, "Entry": framework.Entry{Path: "/"},
			"State": framework.StateLost, "ErrorPolicy": framework.StandardErrorPolicy, "Status": framework.StatusGone,
			"CreateMode": framework.Ephemeral, "CreateOption": framework.WithACL(zk.DigestACL(zk.PermAll, "user", "other")[0]),
			"DeleteOption": framework.Guaranteed(), "Trace": framework.Trace{}, "DialFunc": framework.DialFunc(w.Link.DialContext),
			"ChildObserver": framework.ChildObserver(nil), "NoAuthError": &framework.NoAuthError{Op: "create", Path: "/", Permission: "CREATE", Node: "/"},
			"LookupFunc": framework.LookupFunc(net.DefaultResolver.LookupHost),
		}
		for _, name := range exported(t, ".") {
			value, ok := values[name]
			if !ok {
				t.Errorf("type %s is not in this test", name)
			}
			for form, text := range printed(value) {
				if hidden := findSecret(text); hidden != "" {
					t.Errorf("%s as %s shows %s: %s", name, form, hidden, text)
				}
			}
		}
		// By value, too.
		if text := fmt.Sprintf("%+v %#v", *client, *client); findSecret(text) != "" {
			t.Errorf("a client by value shows it: %s", text)
		}
	})
}

func findSecret(text string) string {
	raw := []byte("user:" + secret)
	for _, form := range []string{
		secret, strings.Trim(fmt.Sprintf("%d", raw), "[]"), strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", raw), "[]byte{"), "}"),
		base64.StdEncoding.EncodeToString(raw), fmt.Sprintf("%x", raw),
	} {
		if strings.Contains(text, form) {
			return form
		}
	}
	return ""
}

// printed is a value in every form in which it may get into a log.
func printed(value any) map[string]string {
	forms := map[string]string{}
	for _, verb := range []string{"%v", "%s", "%+v", "%#v"} {
		forms[verb] = fmt.Sprintf(verb, value)
	}
	var text, json bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "value", value)
	slog.New(slog.NewJSONHandler(&json, nil)).Info("x", "value", value)
	forms["slog text"], forms["slog JSON"] = text.String(), json.String()
	return forms
}

// exported are the names of the exported types of a package.
func exported(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), dir+"/"+file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.TYPE {
				continue
			}
			for _, spec := range group.Specs {
				if name := spec.(*ast.TypeSpec).Name; name.IsExported() {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

func TestAClientAndASessionSayWhatTheyAre(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		client := w.Dial("zk:2181", framework.WithNamespace("app"))
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		mine, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("%#x", mine.ID())
		if got, want := fmt.Sprint(client), "client of zk:2181/app (CONNECTED, server zk:2181, session "+id+")"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		var logged bytes.Buffer
		slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "client", client)
		want := "client.servers=zk:2181 client.prefix=/app client.state=CONNECTED client.server=zk:2181 client.session=" + id + "\n"
		if got := logged.String(); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want its end to be %q", got, want)
		}
		nowhere := w.Dial("nowhere:1", framework.WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") }))
		if got, want := fmt.Sprint(nowhere), "client of nowhere:1 (LATENT)"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		s := w.Session()
		if got, want := fmt.Sprint(s), fmt.Sprintf("session %#x", s.ID()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

package leader_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
)

const credentials = "user:hunter2"

// No exported type of the package shows a client's credentials, however it is printed. Both elections may be printed
// while they lead and lose.
func TestNoExportedTypeShowsACredential(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithAuthorization("digest", []byte(credentials)))
		selector, latch := leader.NewLeaderSelector(p.Client, "/leaders/b", leader.WithID("a")), start(t, p.latch(leader.WithID("a")))
		lead(t, selector)
		await(t, latch)
		first, err := latch.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]any{"LeaderSelector": selector, "LeaderLatch": latch, "Participant": first, "Option": leader.WithID("a")}
		for _, name := range exportedTypes(t) {
			value, listed := values[name]
			if !listed {
				t.Errorf("type %s is not in this test", name)
			}
			for form, text := range printedForms(value) {
				for _, secret := range secretForms() {
					if strings.Contains(text, secret) {
						t.Errorf("%s as %s shows %s: %s", name, form, secret, text)
					}
				}
			}
		}
		for _, election := range []any{selector, latch} {
			for form, text := range printedForms(election) {
				if !strings.Contains(text, "/leaders/") || !strings.Contains(text, "true") {
					t.Errorf("%T as %s: got %s, want its path and that it leads", election, form, text)
				}
			}
		}
	})
}

func TestElectionsArePrintedWhileTheyChange(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		l := p.latch()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				printedForms(l)
			}
		}()
		start(t, l)
		wantErr(t, await(t, l).Release(), nil)
		await(t, l)
		<-done
	})
}

func secretForms() []string {
	password := []byte("hunter2")
	return []string{
		string(password), strings.Trim(fmt.Sprintf("%d", password), "[]"),
		strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", password), "[]byte{"), "}"),
		base64.StdEncoding.EncodeToString([]byte(credentials)), fmt.Sprintf("%x", password),
	}
}

// printedForms is a value in every form in which it may get into a log.
func printedForms(value any) map[string]string {
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

// exportedTypes are the names of the exported types of the package.
func exportedTypes(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") }) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				names = append(names, spec.Name.Name)
			}
			return true
		})
	}
	if len(names) == 0 {
		t.Fatal("got no types, want those of the package")
	}
	return names
}

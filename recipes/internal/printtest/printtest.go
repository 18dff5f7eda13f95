// Package printtest prints values in every form in which they may get into a log, and checks that none of them shows a
// client's credentials.
package printtest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

const password = "hunter2"

// Credentials are what a client under test adds, for the scheme "digest".
const Credentials = "user:" + password

// WantNoCredentials fails the test unless every exported type of the package in dir has a value here, and no form of
// the values shows the password of Credentials.
func WantNoCredentials(t *testing.T, dir string, values map[string]any) {
	t.Helper()
	for _, name := range exportedTypes(t, dir) {
		value, ok := values[name]
		if !ok {
			t.Errorf("type %s of %s is not in this test", name, dir)
		}
		for form, text := range Forms(value) {
			if shown := passwordIn(text); shown != "" {
				t.Errorf("%s of %s as %s shows %s: %s", name, dir, form, shown, text)
			}
		}
	}
}

// Forms is a value in every form in which it may get into a log.
func Forms(value any) map[string]string {
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

// passwordIn returns the form of the password that text has, or nothing.
func passwordIn(text string) string {
	raw := []byte(password)
	for _, form := range []string{
		password, strings.Trim(fmt.Sprintf("%d", raw), "[]"),
		strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", raw), "[]byte{"), "}"),
		base64.StdEncoding.EncodeToString([]byte(Credentials)), fmt.Sprintf("%x", raw),
	} {
		if strings.Contains(text, form) {
			return form
		}
	}
	return ""
}

// exportedTypes are the names of the exported types of the package in dir.
func exportedTypes(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
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
		t.Fatalf("got no types in %s, want those of a package", dir)
	}
	return names
}

// Package printtest prints values in every form in which they may get into a log, and checks that none of them shows a
// client's credentials, and each the text of a value that has one.
package printtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Password is the password of Credentials.
const Password = "hunter2"

// Credentials are what a client under test adds, for the scheme "digest".
const Credentials = "user:" + Password

// WantNoCredentials fails the test unless every exported type of the package in dir has a value here, and no form of
// the values shows the password of Credentials. It prints them alone, copied, in a field that package fmt may not ask
// for methods, as a nil pointer, and with the zero value, none of which may panic. A pointer with a String method has
// to show its text in each of Texts, and a nil one "<nil>".
func WantNoCredentials(t *testing.T, dir string, values map[string]any) {
	t.Helper()
	passwords := passwordForms()
	for _, name := range exportedTypes(t, dir) {
		value, ok := values[name]
		if !ok {
			t.Errorf("type %s of %s is not in this test", name, dir)
			continue
		}
		wantText(t, value)
		for how, variant := range variants(value) {
			for form, text := range Forms(variant) {
				if i := slices.IndexFunc(passwords, func(p string) bool { return strings.Contains(text, p) }); i >= 0 {
					t.Errorf("%s of %s, %s, as %s shows %s: %s", name, dir, how, form, passwords[i], text)
				}
				if strings.Contains(text, "PANIC") || strings.Contains(text, "panicked") {
					t.Errorf("%s of %s, %s, as %s: got %s, want no panic", name, dir, how, form, text)
				}
			}
		}
	}
}

func wantText(t *testing.T, value any) {
	t.Helper()
	text, ok := value.(fmt.Stringer)
	if !ok || reflect.TypeOf(value).Kind() != reflect.Pointer {
		return
	}
	_, logs := value.(slog.LogValuer)
	for want, value := range map[string]any{text.String(): value, "<nil>": reflect.Zero(reflect.TypeOf(value)).Interface()} {
		for form, got := range Texts(value) {
			if (logs || form != "slog JSON") && !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), want) {
				t.Errorf("%T as %s: got %s, want %s", value, form, got, want)
			}
		}
	}
}

// variants are a value as users of it may happen to print it.
func variants(value any) map[string]any {
	all := map[string]any{"alone": value, "in a field": struct{ hidden any }{value}, "in a list": []any{value}}
	if of := reflect.TypeOf(value); of != nil && of.Kind() == reflect.Pointer {
		all["nil"] = reflect.Zero(of).Interface()
		all["zero"] = reflect.New(of.Elem()).Interface()
		all["copied"] = reflect.ValueOf(value).Elem().Interface()
	}
	return all
}

// Forms is a value in every form in which it may get into a log.
func Forms(value any) map[string]string {
	forms := map[string]string{}
	for _, format := range formats() {
		forms[format] = fmt.Sprintf(format, value)
	}
	var text, object bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "value", value)
	slog.New(slog.NewJSONHandler(&object, nil)).Info("x", "value", value)
	forms["slog text"], forms["slog JSON"] = text.String(), object.String()
	encoded, err := json.Marshal(value)
	forms["JSON"] = fmt.Sprint(string(encoded), err)
	return forms
}

// Texts are the Forms in which a value with methods of its own prints its text, so neither in hexadecimal nor as an
// address or an object.
func Texts(value any) map[string]string {
	texts := Forms(value)
	maps.DeleteFunc(texts, func(form, _ string) bool { return form == "JSON" || strings.ContainsAny(form[len(form)-1:], "xXp") })
	return texts
}

// formats are all verbs of package fmt for values, with every flag that changes what they show.
func formats() (all []string) {
	for _, verb := range "vsqxXdtboOcUeEfFgGp" {
		for _, flags := range []string{"", "+", "#", " ", "# "} {
			all = append(all, "%"+flags+string(verb))
		}
	}
	return all
}

// passwordForms are what the verbs make of the password, as text and as bytes.
func passwordForms() []string {
	shown := []string{Password, base64.StdEncoding.EncodeToString([]byte(Credentials))}
	for _, format := range formats() {
		if strings.HasSuffix(format, "p") {
			continue // an address
		}
		list := fmt.Sprintf(format, []byte(Password))
		shown = append(shown, strings.Trim(strings.TrimPrefix(list, "[]byte"), "[]{}"), fmt.Sprintf(format, Password))
	}
	slices.Sort(shown)
	return slices.Compact(shown)
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

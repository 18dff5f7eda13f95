package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakePython stands in for Python: it makes an environment of itself, writes down what it is called with, and fails to
// fetch packages if the list says so.
const fakePython = `#!/bin/sh
echo "$@" >>"$CALLS"
case "$*" in
"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
*--requirement*) ! grep -q unreachable integration/site/requirements.txt || { echo no index; exit 1; } ;;
esac
`

func TestMkDocsIsFetchedOnceForEachListOfPackages(t *testing.T) {
	dir, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	list := filepath.Join(dir, requirements)
	python := filepath.Join(t.TempDir(), "python3")
	if err := write(python, []byte(fakePython)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(python, 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(python)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("CALLS", calls)
	for _, tt := range []struct {
		list string
		want int // calls so far: each fetch is two
		err  string
	}{
		{"mkdocs==1\n", 2, ""},
		{"mkdocs==1\n", 2, ""},
		{"unreachable==1\n", 4, "no index"},
		{"unreachable==1\n", 6, "no index"},
		{"mkdocs==2\n", 8, ""},
		{"mkdocs==2\n", 8, ""},
	} {
		if err := write(list, []byte(tt.list)); err != nil {
			t.Fatal(err)
		}
		found, err := mkdocs(t.Context(), dir)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: got %v, want %q", tt.list, err, tt.err)
		}
		if want := filepath.Join(dir, "integration/.cache/mkdocs/bin/python"); err == nil && found != want {
			t.Errorf("%q: got %s, want %s", tt.list, found, want)
		}
		if text, err := os.ReadFile(calls); err != nil || strings.Count(string(text), "\n") != tt.want {
			t.Errorf("%q: got the calls\n%s%v, want %d", tt.list, text, err, tt.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if err := write(list, []byte("mkdocs==3\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := mkdocs(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "python3-venv") {
		t.Errorf("got %v without Python, want what to install", err)
	}
}

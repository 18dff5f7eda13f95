package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAListIsReadAsItIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list.txt")
	if got, err := readList(file); err != nil || len(got) != 0 {
		t.Fatalf("got %v, %v of no file, want an empty list", got, err)
	}
	if err := os.WriteFile(file, []byte("# Tests that failed by chance.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []entry{
		{testName{"x/p", "TestA/b#01"}, "2026-11-23", []string{"    a_test.go:3: timed out waiting for b\n", "\n", "# no comment\n", "x/q TestB 2026-01-01\n"}},
		{testName{"x/q", "TestB"}, "2026-11-24", nil},
	}
	for _, e := range all {
		if err := enter(file, []entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readList(file)
	if err != nil || len(got) != len(all) {
		t.Fatalf("got %v, %v, want %d entries", got, err, len(all))
	}
	for _, e := range all {
		if got[e.name] != e.date {
			t.Errorf("got %q for %s, want %s", got[e.name], e.name, e.date)
		}
	}
}

func TestAListThatIsWrongIsRefused(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"x/p TestA", "list.txt:2: \"x/p TestA\": want a package, a test and a date"},
		{"x/p TestA yesterday", "want a date such as 2006-01-02"},
		{"  x/p TestA 2026-11-23 again", "want a package, a test and a date"},
	} {
		file := filepath.Join(t.TempDir(), "list.txt")
		if err := os.WriteFile(file, []byte("# A list.\n"+tt.line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readList(file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, %v, want an error with %q", tt.line, got, err, tt.want)
		}
	}
}

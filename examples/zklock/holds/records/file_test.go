package records_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/holds/records"
)

func open(t *testing.T, name string, most int64) *records.File {
	t.Helper()
	f, err := records.OpenFile(name, most)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t *testing.T, f *records.File, text string) {
	t.Helper()
	if n, err := f.Write([]byte(text)); err != nil || n < len(text) {
		t.Fatalf("wrote %d bytes of %q: %v", n, text, err)
	}
}

func contents(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func TestFileRotatesAtItsLimitAndSplitsNoLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "holds.ndjson")
	f := open(t, name, 20)
	for i := range 7 {
		write(t, f, fmt.Sprintf("line %d\n", i)) // 7 bytes: two of them fit
	}
	if got, want := contents(t, name+".1")+"|"+contents(t, name), "line 4\nline 5\n|line 6\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	long := strings.Repeat("x", 40) + "\n"
	write(t, f, long)
	write(t, f, "after\n")
	if got, want := contents(t, name+".1")+"|"+contents(t, name), long+"|after\n"; got != want {
		t.Errorf("got %q, want %q: a line that is longer than the limit has a file of its own", got, want)
	}
}

func TestFileIsContinuedBehindALineWithoutEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "holds.ndjson")
	for before, want := range map[string]string{"": "next\n", "whole\n": "whole\nnext\n", "torn": "torn\nnext\n"} {
		if err := os.WriteFile(name, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		f := open(t, name, 1000)
		write(t, f, "next\n")
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if got := contents(t, name); got != want {
			t.Errorf("after %q: got %q, want %q", before, got, want)
		}
	}
}

func TestFileThatCannotBeRenamedGrowsUntilItCan(t *testing.T) {
	name := filepath.Join(t.TempDir(), "holds.ndjson")
	f := open(t, name, 10)
	if err := os.MkdirAll(filepath.Join(name+".1", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		write(t, f, fmt.Sprintf("line %d\n", i))
	}
	if got, want := contents(t, name), "line 0\nline 1\nline 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.RemoveAll(name + ".1"); err != nil {
		t.Fatal(err)
	}
	write(t, f, "3\n") // it has not grown by the limit since
	if got, want := contents(t, name), "line 0\nline 1\nline 2\n3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), name+".1") {
		t.Errorf("got the error %v of Close, want one that names %s.1", err, name)
	}
	write(t, f, strings.Repeat("x", 20)+"\n")
	write(t, f, "after\n")
	if got, want := contents(t, name+".1")+"|"+contents(t, name), strings.Repeat("x", 20)+"\n|after\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := f.Close(); err != nil {
		t.Errorf("got the error %v of Close once it was renamed", err)
	}
}

func TestOpenFileRefusesALimitThatIsNone(t *testing.T) {
	if _, err := records.OpenFile(filepath.Join(t.TempDir(), "holds.ndjson"), 0); err == nil {
		t.Error("got no error for a limit of 0 bytes")
	}
}

func TestAWriteBehindATornLineSaysWhatItWroteOfItsOwn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "holds")
	if err := os.WriteFile(name, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := records.OpenFile(name, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.Write([]byte("line\n")); n != 5 || err != nil {
		t.Errorf("got %d, %v, want the 5 bytes of the line", n, err)
	}
}

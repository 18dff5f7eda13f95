package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheSameCommitMakesTheSameFilesWithTheirChecksums(t *testing.T) {
	r := release{repository: clone(t), version: "HEAD", out: io.Discard}
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	for _, dir := range []string{one, two} {
		if err := r.build(t.Context(), dir, []target{{"linux", "amd64"}}); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(one, "*"))
	if err != nil || len(names) != 7 {
		t.Fatalf("got %q and %v, want an archive, a bill and an image of two programs, and checksums", names, err)
	}
	sums, err := os.ReadFile(filepath.Join(one, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		base := filepath.Base(name)
		a, errA := os.ReadFile(name)
		b, errB := os.ReadFile(filepath.Join(two, base))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: got other bytes from the second build (%v, %v)", base, errA, errB)
		}
		if base != "SHA256SUMS" && !strings.Contains(string(sums), digest(a)+"  "+base+"\n") {
			t.Errorf("%s: SHA256SUMS lacks its sum", base)
		}
	}
	if err := r.build(t.Context(), one, []target{{"linux", "amd64"}}); err == nil {
		t.Error("got nil for a directory that has files, want a refusal")
	}
}

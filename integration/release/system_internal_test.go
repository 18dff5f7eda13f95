package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A program that does nothing is compiled for each target: all of zklock would take minutes.
func TestHeadersSayForWhichSystemAProgramIs(t *testing.T) {
	dir := t.TempDir()
	source, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range targets {
		env := []string{"CGO_ENABLED=0", "GOOS=" + want.os, "GOARCH=" + want.arch, "GOWORK=off"}
		if _, err := command(t.Context(), dir, env, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, source); err != nil {
			t.Fatal(err)
		}
		program, err := os.ReadFile(out) //nolint:gosec // just written
		if err != nil {
			t.Fatal(err)
		}
		if got, err := systemOf(program); err != nil || got != want {
			t.Errorf("got %v and %v, want %v", got, err, want)
		}
	}
	if got, err := systemOf([]byte("#!/bin/sh\n")); err == nil {
		t.Errorf("got %v for a script, want an error", got)
	}
}

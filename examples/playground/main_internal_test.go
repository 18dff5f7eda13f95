package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/internal/demo"
)

// built makes a directory with the names of the page's files, and their names as texts.
func built(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFilesThatAreBuiltAreServed(t *testing.T) {
	dir := built(t, "index.html", "playground.wasm.gz", "guarantees.json", "wasm_exec.js")
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var said strings.Builder
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"-files", dir}, in, &said)
		in.Close()
	}()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("got no address: %v, status %d, %s", err, <-ended, said.String())
	}
	answer, err := http.Get(strings.TrimSpace(url) + "playground.wasm.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); err != nil || string(got) != "playground.wasm.gz" {
		t.Errorf("got %q, %v, want the file of the directory", got, err)
	}
	stop()
	if status := <-ended; status != 0 || said.String() != "" {
		t.Errorf("got status %d and %q, want 0 and no word of a build", status, said.String())
	}
}

func TestFilesThatAreNotCompleteAreAMistake(t *testing.T) {
	for want, args := range map[string][]string{
		"playground.wasm.gz": {"-files", built(t, "index.html", "guarantees.json", "wasm_exec.js")},
		"index.html":         {"-files", t.TempDir()},
		"one of the two":     {"-files", t.TempDir(), "-build", t.TempDir()},
	} {
		var said strings.Builder
		if status := run(t.Context(), args, io.Discard, &said); status != demo.StatusUsage || !strings.Contains(said.String(), want) {
			t.Errorf("%q: got status %d and %q, want %d and %q", args, status, said.String(), demo.StatusUsage, want)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunRefusesWhatItDoesNotKnow(t *testing.T) {
	for args, want := range map[string]int{"-h": 0, "-help": 0, "-x": 2, "build": 2, "-o": 2, "-dir gone": 1} {
		var out, errs bytes.Buffer
		if got := run(t.Context(), strings.Fields(args), &out, &errs); got != want || errs.Len() == 0 || out.Len() > 0 {
			t.Errorf("%s: got status %d, %q and %q, want %d and words on the second", args, got, &out, &errs, want)
		}
	}
}

func TestServeShowsTheSiteUntilItIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	if err := write(filepath.Join(dir, "index.html"), []byte("the site")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	printed, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, "127.0.0.1:0", dir, out) }()
	line := make([]byte, 100)
	n, err := printed.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSpace(string(line[:n])), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "the site" {
		t.Errorf("got %q and %v, want the site", body, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("got %v after an interrupt, want nil", err)
	}
	if err := serve(t.Context(), "127.0.0.1:none", dir, out); err == nil {
		t.Error("got nil for an address that is none")
	}
}

// Package build makes the files of the playground: its page, and the program of its processes, which is compiled to
// WebAssembly from the packages as they are.
package build

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/playground/web"
)

const module = "github.com/gocurator/curator"

// Write adds these files to those of package web.
const (
	programFile    = "playground.wasm.gz"
	guaranteesFile = "guarantees.json"
	glueFile       = "wasm_exec.js"
)

// Complete returns an error unless a directory has the files that Write makes.
func Complete(dir string) error {
	for _, name := range []string{"index.html", programFile, guaranteesFile, glueFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%s is not complete, build the files again with -build: %w", dir, err)
		}
	}
	return nil
}

// Write writes the files to a directory that is empty or not there. It runs the go command in the directory in, which
// has to be in this module. The same commit, version and settings of Go give the same files.
func Write(ctx context.Context, in, dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s has files: remove it, or choose another directory", dir)
	}
	program, err := compile(ctx, in)
	if err != nil {
		return err
	}
	guarantees, err := guarantees(ctx, in)
	if err != nil {
		return err
	}
	root, err := goCommand(ctx, in, "env", "GOROOT")
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js")) //nolint:gosec // a file of Go
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, web.Files); err != nil {
		return err
	}
	for name, text := range map[string][]byte{programFile: program, guaranteesFile: guarantees, glueFile: glue} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil { //nolint:gosec // to be served
			return err
		}
	}
	return nil
}

// compile returns the compressed program.
func compile(ctx context.Context, in string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "playground-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	out := filepath.Join(dir, "playground.wasm")
	if _, err := goCommand(ctx, in, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", out,
		module+"/examples/playground/process"); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(out) //nolint:gosec // written by the line above
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(program)
	err = errors.Join(err, w.Close()) // writes the end
	return packed.Bytes(), err
}

// goCommand runs the go command for browsers, and returns its output.
func goCommand(ctx context.Context, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // as above
	cmd.Dir = in
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "GOWASM=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "CGO_ENABLED=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it removes what it has begun
	cmd.WaitDelay = 10 * time.Second
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, failed.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}

// A guarantee is a guarantee of package locks.
type guarantee struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// guarantees reads them from the documentation of package locks.
func guarantees(ctx context.Context, in string) ([]byte, error) {
	dir, err := goCommand(ctx, in, "list", "-f", "{{.Dir}}", module+"/recipes/locks")
	if err != nil {
		return nil, err
	}
	doc, err := os.ReadFile(filepath.Join(dir, "doc.go")) //nolint:gosec // a file of the library
	if err != nil {
		return nil, err
	}
	list, err := parseGuarantees(string(doc))
	if err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

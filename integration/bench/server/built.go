package server

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The programs of etcd and NATS are tools of a module of their own, whose versions built.mod pins. No package imports
// them, so that only a benchmark that measures them compiles them.
//
// For other versions, copy both files to an empty directory as go.mod and go.sum, run
//
//	go get -tool go.etcd.io/etcd/server/v3@VERSION github.com/nats-io/nats-server/v2@VERSION && go mod tidy
//
// there, and copy them back.
var (
	//go:embed built.mod
	builtMod []byte
	//go:embed built.sum
	builtSum []byte
)

// tools has the package of each program that is built.
var tools = map[string]string{
	Etcd: "go.etcd.io/etcd/server/v3",
	NATS: "github.com/nats-io/nats-server/v2",
}

// buildTimeout is for the first build, which compiles some hundred packages on a machine that may be busy.
const buildTimeout = 20 * time.Minute

// Build returns the program of a kind of server. It builds the program in integration/.cache once for each version; if
// only is set, it does not build. The error of a program that cannot be had is ErrMissing.
func Build(ctx context.Context, kind string, only bool) (string, error) {
	below, err := above(filepath.Join("integration", "bench"))
	if err != nil {
		return "", fmt.Errorf("no checkout of this library: %w", err)
	}
	program := Built(filepath.Dir(filepath.Dir(below)), kind)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if only {
		return "", fmt.Errorf("the server of %s has not been built: %w", kind, ErrMissing)
	}
	return program, build(ctx, tools[kind], program)
}

// Built is where the program of a kind of server is kept below a checkout.
func Built(checkout, kind string) string {
	sum := sha256.Sum256(slices.Concat(builtMod, builtSum))
	return filepath.Join(checkout, "integration", ".cache", "bin", "bench-servers-"+hex.EncodeToString(sum[:4]), kind)
}

func build(ctx context.Context, tool, program string) (err error) {
	dir := filepath.Dir(program)
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	module, err := os.MkdirTemp(dir, "module-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(module)) }()
	for name, text := range map[string][]byte{"go.mod": builtMod, "go.sum": builtSum} {
		if err := os.WriteFile(filepath.Join(module, name), text, 0o600); err != nil {
			return err
		}
	}
	built := filepath.Join(module, "program")
	c := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-buildvcs=false", "-o", built, tool)
	c.Dir, c.Env = module, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("go build %s: %w (%w): %s", tool, ErrMissing, err, lastLine(out))
	}
	return os.Rename(built, program) // complete, or not there at all
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

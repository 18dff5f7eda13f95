package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "embed"
)

// host is the script that Node.js executes.
//
//go:embed host.js
var host []byte

// oldestNode is the first major version that has what programs of Go need.
const oldestNode = 18

// A replayer runs the tests of one package.
type replayer struct {
	config
	out     io.Writer
	dir     string // for all files that last no longer
	home    string // the directory of the package
	hosts   *hosts
	records bool // the tests know -history and -faults
}

// prepare builds the tests, and makes what runs them.
func (r *replayer) prepare(ctx context.Context) error {
	node, err := findNode(ctx)
	if err != nil {
		return err
	}
	support, err := findSupport(ctx)
	if err != nil {
		return err
	}
	system := []string{"GOOS=js", "GOARCH=wasm"}
	dirs, err := r.goCommand(ctx, system, "list", "-f", "{{.Dir}}\n{{with .Module}}{{.Dir}}{{end}}", r.pkg)
	if err != nil {
		return err
	}
	home, module, _ := strings.Cut(dirs, "\n")
	if module == "" || strings.Contains(module, "\n") {
		return fmt.Errorf("replay runs the tests of one package of a module: %s is none", r.pkg)
	}
	r.home = home
	program := filepath.Join(r.dir, "test.wasm")
	if err := r.build(ctx, program, system...); err != nil {
		return err
	}
	script := filepath.Join(r.dir, "host.cjs")
	if err := os.WriteFile(script, host, 0o600); err != nil {
		return err
	}
	// Go's own script sets the same stack.
	command := []string{node, "--stack-size=8192", script, support, program, module}
	r.hosts = newHosts(command, r.home, r.dir, r.workers, r.limit)
	return r.probe(ctx)
}

// build builds the package's tests.
func (r *replayer) build(ctx context.Context, file string, env ...string) error {
	if _, err := r.goCommand(ctx, env, "test", "-c", "-o", file, r.pkg); err != nil {
		return err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no tests", r.pkg)
	}
	return nil
}

// goCommand returns what a command of Go printed, without the newline at its end.
func (r *replayer) goCommand(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), env...)
	gently(cmd)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(append(env, cmd.Args...), " "), err, errs.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}

// gently gives a command that is to end the time to end what it has started.
func gently(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return cmd.Process.Kill() // as on Windows
		}
		return nil
	}
	cmd.WaitDelay = 5 * time.Second
}

// probe learns which flags the tests know, and that the program starts.
func (r *replayer) probe(ctx context.Context) error {
	for _, records := range []bool{true, false} {
		c := config{pattern: "^$", extra: []string{}}
		args := append(c.arguments(records, false), r.extra...)
		if records {
			args = append(args, "-faults", "") // only whether there is such a flag
		}
		o, err := r.hosts.execute(ctx, job{schedule: 1, arguments: args})
		switch {
		case err != nil:
			return err
		case o.code == 0:
			r.records = records
			if !records && r.faults != nil {
				return fmt.Errorf("the tests of %s have no flag -faults", r.pkg)
			}
			return nil
		case !records:
			return fmt.Errorf("the tests of %s do not start:\n%s", r.pkg, o.output)
		}
	}
	return nil
}

// findNode returns where Node.js is.
func findNode(ctx context.Context) (string, error) {
	const how = "install it with apt-get install nodejs, or from https://nodejs.org"
	node, err := exec.LookPath("node")
	if err != nil {
		return "", fmt.Errorf("schedules need Node.js %d or later, which is not in PATH: %s", oldestNode, how)
	}
	version, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", node, err)
	}
	text := strings.TrimSpace(string(version))
	major, _, _ := strings.Cut(strings.TrimPrefix(text, "v"), ".")
	if number, err := strconv.Atoi(major); err != nil || number < oldestNode {
		return "", fmt.Errorf("schedules need Node.js %d or later, and %s is %s: %s", oldestNode, node, text, how)
	}
	return node, nil
}

// findSupport returns where the script is that comes with Go for its programs.
func findSupport(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	for _, dir := range []string{"lib", "misc"} { // since Go 1.24, and before
		script := filepath.Join(strings.TrimSpace(string(root)), dir, "wasm", "wasm_exec.js")
		if _, err := os.Stat(script); err == nil {
			return script, nil
		}
	}
	return "", fmt.Errorf("%s has no wasm_exec.js: install all of Go, as from https://go.dev/dl", bytes.TrimSpace(root))
}

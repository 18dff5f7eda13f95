package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// register writes into a directory which process runs the tests of which package, by the directory of the package, in
// which go test starts them. Then the process becomes the test binary. It returns only if that fails.
func register(dir string, args []string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), []byte(here), 0o600); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", args[0], syscall.Exec(args[0], args, os.Environ())) //nolint:gosec // go test names it
}

// registry is an empty directory for the processes of one run of go test.
func registry(dir string) (string, error) {
	dir = filepath.Join(dir, "processes")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o700)
}

// endSilent ends the test binaries of packages that hang after a failure, until ctx ends. It looks each second and
// counts looks: a machine that was suspended, or stood still, has not been silent. SIGQUIT prints the stacks of all
// goroutines; what has not ended half a minute later is killed.
func endSilent(ctx context.Context, r *report, processes string, silence time.Duration) {
	looks := time.NewTicker(time.Second)
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-looks.C:
		}
		packages, again := r.silent(int(silence / time.Second))
		how := syscall.SIGQUIT
		if again {
			how = syscall.SIGKILL
		}
		for _, name := range packages {
			home, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", name).Output()
			if err != nil {
				r.say("testrun: go list %s: %v\n", name, err)
				continue
			}
			send(processes, how, func(dir string) bool { return dir == strings.TrimSpace(string(home)) })
		}
	}
}

// send sends a signal to the test binaries that are registered for directories. One that has ended is no error.
func send(processes string, how os.Signal, of func(dir string) bool) {
	files, _ := filepath.Glob(filepath.Join(processes, "*"))
	for _, file := range files {
		dir, err := os.ReadFile(file)
		if err != nil || !of(string(dir)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(file)); err == nil {
			if process, err := os.FindProcess(pid); err == nil {
				_ = process.Signal(how)
			}
		}
	}
}

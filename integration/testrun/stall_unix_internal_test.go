//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
)

// stalling, in the environment of a process that a test started, has it watch for stalls.
const stalling = "TESTRUN_STALLING"

// A process that is stopped stands for a machine that stalls. It is stopped again until it has noticed: a busy machine
// may stop it before its first nap.
func TestAStallIsSeenWithItsLength(t *testing.T) {
	if os.Getenv(stalling) != "" {
		fmt.Println("watching")
		watchStalls(context.Background(), func(_ time.Time, d time.Duration) { fmt.Println(d.Milliseconds()) })
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAStallIsSeenWithItsLength$") //nolint:gosec // this program
	cmd.Env = append(os.Environ(), stalling+"=yes")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	await.Receive(t, time.Minute, "the process to watch", lines)
	begun := time.Now()
	await.Until(t, time.Minute, "the process to see that it was stopped", func() bool {
		_ = cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(2 * stallAfter) // that is the stall
		_ = cmd.Process.Signal(syscall.SIGCONT)
		select {
		case line := <-lines:
			var ms int64
			if _, err := fmt.Sscan(line, &ms); err != nil {
				t.Fatalf("got %q: %v", line, err)
			}
			if d := time.Duration(ms) * time.Millisecond; d < stallAfter || d > time.Since(begun) {
				t.Fatalf("got a stall of %v within %v, want at least %v", d, time.Since(begun), stallAfter)
			}
			return true
		case <-time.After(time.Second):
			return false
		}
	})
}

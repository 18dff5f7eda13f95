//go:build linux

package zklock_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// terminal makes a pair of a terminal and its other end.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		lacking(t, "no terminals: ", err)
	}
	t.Cleanup(func() { master.Close() })
	var number, unlock int32
	for request, at := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(at))); errno != 0 {
			lacking(t, "no terminals: ", errno)
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		lacking(t, "no terminals: ", err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

func TestCommandHasTheTerminal(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	master, slave := terminal(t)
	var mu sync.Mutex
	var screen bytes.Buffer
	go func() {
		for buf := make([]byte, 1024); ; {
			n, err := master.Read(buf)
			mu.Lock()
			screen.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	show := func() string {
		mu.Lock()
		defer mu.Unlock()
		return screen.String()
	}
	awaitScreen := func(text string) {
		t.Helper()
		if !await.Within(patience, func() bool { return strings.Contains(show(), text) }) {
			await.Fatalf(t, "%q on the terminal (%v), got\n%s", text, patience, show())
		}
	}
	write := func(text string) {
		t.Helper()
		if _, err := master.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	r := startWith(t, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "ZOOKEEPER="+server.Addr())
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, with([]string{"/locks/a"}, script(`trap 'echo interrupted' INT; echo type; read a; echo "got $a"; read b; echo "got $b"; exit 8`)...)...)
	awaitScreen("type")
	write("first\n") // a command in the background would be stopped for reading it
	awaitScreen("got first")
	write("\x1a") // Ctrl-Z: a holder is not stopped
	awaitScreen("the command goes on")
	write("\x03") // Ctrl-C is for the command
	awaitScreen("interrupted")
	write("second\n")
	awaitScreen("got")
	r.wantStatus(8)
}

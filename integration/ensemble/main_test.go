//go:build linux

package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gocurator/curator/integration/zookeeper"
)

func TestTheCommandObeys(t *testing.T) {
	if os.Getenv("CURATOR_INTEGRATION") != "required" {
		t.Skip("CURATOR_INTEGRATION is not required: not starting real servers")
	}
	t.Parallel()
	orders, in := io.Pipe()
	out, said := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(zookeeper.EnsembleConfig{}, orders, said)
		_ = said.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(out)
	hears := func(want string) {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("said %q, want %q", lines.Text(), want)
		}
	}
	say := func(order string) {
		t.Helper()
		if _, err := io.WriteString(in, order+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if !lines.Scan() || strings.Count(lines.Text(), "127.0.0.1:") != 3 {
		t.Fatalf("no connect string: %q", lines.Text())
	}
	say("kill 2")
	say("status")
	hears("1 127.0.0.1:")
	hears("not serving")
	hears("3 127.0.0.1:")
	for _, wrong := range []string{"kill 4", "dance 1", "cut 1 1", "delay 1 3 long", "clients 1", "clients 1 dance"} {
		say(wrong)
		if !lines.Scan() || lines.Text() == "" {
			t.Errorf("%q was not refused", wrong)
		}
	}
	for _, right := range []string{"cut 1", "cut 1 3", "oneway 1 3", "hold 1 3", "delay 1 3 1ms", "reset 1 3", "clients 1 cut", "heal", "start 2", "freeze 2", "thaw 2"} {
		say(right)
	}
	say("restart 2")
	say("status")
	hears("1 127.0.0.1:")
	hears("2 127.0.0.1:")
	hears("3 127.0.0.1:")
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

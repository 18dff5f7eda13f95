//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"encoding/json"
	"io"
	"syscall"
	"testing"
)

// The front hears of a signal while it takes leave of its keeper: nobody is there to take it.
func TestSignalBehindTheEndOfTheCommandEndsMinHold(t *testing.T) {
	for _, c := range []struct {
		signal     syscall.Signal
		gone, want bool
	}{{syscall.SIGTERM, true, true}, {syscall.SIGINT, true, true}, {syscall.SIGTERM, false, false}, {syscall.SIGUSR1, true, false}} {
		f := &front{orders: json.NewEncoder(io.Discard), gone: c.gone}
		if f.pass(c.signal); f.noLinger != c.want {
			t.Errorf("%v, nothing remains %v: got %v, want %v", c.signal, c.gone, f.noLinger, c.want)
		}
	}
}

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"bytes"
	"encoding/json"
	"os"
	"sync"
	"syscall"
)

// An inbox has the orders that come through a pipe. Its owner can take those that wait in the pipe at this moment,
// instead of those that another goroutine has read so far. A keeper that was stopped needs that:
//
//	the keeper is stopped; the front renews the lease, and says so; the keeper goes on
//	its timer has fired long ago, by the clock the old lease is over: it would kill a command that has lost nothing
//
// So the keeper reads the clock, then takes the orders, and decides by that clock. A renewal that the front wrote
// before the keeper went on counts, whichever goroutine runs first. One that the front has not written yet does not: by
// what the keeper knows, the lease has ended.
type inbox struct {
	pipe *os.File
	raw  syscall.RawConn
	news chan struct{} // something has come

	mu      sync.Mutex // held while reading from the pipe, too, which does not block
	partial []byte     // a line that has no end yet
	orders  []order
	gone    bool // the front is, or wrote something else than orders
}

// newInbox reads from a pipe, whose descriptor must not block. A goroutine waits for its end.
func newInbox(pipe *os.File) (*inbox, error) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return nil, err
	}
	in := &inbox{pipe: pipe, raw: raw, news: make(chan struct{}, 1)}
	go func() { // ends with the front; with this process at the latest
		for in.await() {
			select {
			case in.news <- struct{}{}:
			default: // the owner has not looked since
			}
		}
		close(in.news)
	}()
	return in, nil
}

// await blocks until orders have come, or the front is gone; then it returns false.
func (in *inbox) await() bool {
	gone := false
	err := in.raw.Read(func(fd uintptr) bool {
		in.mu.Lock()
		defer in.mu.Unlock()
		got := in.read(fd)
		gone = in.gone
		return got || gone
	})
	return err == nil && !gone
}

// take returns all orders that were sent before this call and not taken yet, and whether the front is gone.
func (in *inbox) take() (orders []order, gone bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	err := in.raw.Control(func(fd uintptr) {
		for !in.gone && in.read(fd) {
		}
	})
	orders, in.orders = in.orders, nil
	renew(orders)
	return orders, in.gone || err != nil
}

// renew gives each order the newest end of the lease: one that waited for long would shorten the lease otherwise.
func renew(orders []order) {
	newest := order{}
	for _, o := range orders {
		if o.Valid != 0 {
			newest.Valid = o.Valid
		}
	}
	for i := range orders {
		orders[i].Valid = newest.Valid
	}
}

// read reads what is in the pipe, with mu held. It reports whether there was something.
func (in *inbox) read(fd uintptr) bool {
	buffer := make([]byte, 16<<10)
	n, err := syscall.Read(int(fd), buffer)
	switch {
	case n > 0:
		in.split(append(in.partial, buffer[:n]...))
		return true
	case n == 0 && err == nil:
		in.gone = true
	case err != syscall.EAGAIN && err != syscall.EINTR:
		in.gone = true
	}
	return err == syscall.EINTR
}

// split adds the orders of all lines that have an end, with mu held.
func (in *inbox) split(text []byte) {
	for {
		line, rest, found := bytes.Cut(text, []byte("\n"))
		if !found {
			in.partial = text
			return
		}
		text = rest
		var o order
		if json.Unmarshal(line, &o) != nil {
			in.gone = true
			return
		}
		in.orders = append(in.orders, o)
	}
}

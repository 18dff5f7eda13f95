package transport

import (
	"fmt"

	"github.com/go-zookeeper/zk"
)

// An answer is what stands in the body of a successful answer. Which of its fields count is for the call's function to say.
type answer struct {
	path    string
	stat    *zk.Stat
	names   []string
	data    []byte
	acl     []zk.ACL
	results []OpResult
}

// read takes the body of an answer apart. The caller's function itself says what is in it, so that a call needs no second
// function around it.
func (c *Call) read(d *decoder) (a answer, err error) {
	switch c.done.(type) {
	case func(error):
		switch c.op {
		case opSync:
			a.path = d.string()
		case opAddWatch:
			_ = d.int32() // always 0
		}
	case func(*zk.Stat, error):
		a.stat = d.stat()
	case func(string, *zk.Stat, error):
		a.path = d.string()
		if c.op != opCreate {
			a.stat = d.stat()
		}
	case func([]string, *zk.Stat, error):
		a.names, a.stat = d.strings(), d.stat()
	case func([]byte, *zk.Stat, error):
		a.data, a.stat = d.bytes(), d.stat()
	case func([]zk.ACL, *zk.Stat, error):
		a.acl, a.stat = d.acl(), d.stat()
	case func([]OpResult, error):
		a.results = d.multi(c.ops)
	}
	return a, d.end()
}

// complete tells the caller what the server has answered.
func (c *Call) complete(a answer) {
	switch done := c.done.(type) {
	case func(error):
		done(nil)
	case func(*zk.Stat, error):
		done(a.stat, nil)
	case func(string, *zk.Stat, error):
		done(a.path, a.stat, nil)
	case func([]string, *zk.Stat, error):
		done(a.names, a.stat, nil)
	case func([]byte, *zk.Stat, error):
		done(a.data, a.stat, nil)
	case func([]zk.ACL, *zk.Stat, error):
		done(a.acl, a.stat, nil)
	case func([]OpResult, error):
		done(a.results, nil)
	}
}

// fail tells the caller that the call has failed.
func (c *Call) fail(err error) {
	switch done := c.done.(type) {
	case func(error):
		done(err)
	case func(*zk.Stat, error):
		done(nil, err)
	case func(string, *zk.Stat, error):
		done("", nil, err)
	case func([]string, *zk.Stat, error):
		done(nil, nil, err)
	case func([]byte, *zk.Stat, error):
		done(nil, nil, err)
	case func([]zk.ACL, *zk.Stat, error):
		done(nil, nil, err)
	case func([]OpResult, error):
		done(nil, err)
	}
}

// broken is the error of a call whose answer ended the connection. Like all calls behind it, it may have been executed.
func broken(reason error) error { return fmt.Errorf("%w: %w", ErrBroken, reason) }

package transport

import "github.com/go-zookeeper/zk"

// complete tells the caller what became of a call: err, or what stands in the answer's body. The caller's function itself says
// what that is, so that a call needs no second function around it.
func (c *Call) complete(d *decoder, err error) {
	if err != nil {
		c.fail(err)
		return
	}
	switch done := c.done.(type) {
	case func(error):
		done(nil)
	case func(*zk.Stat, error):
		stat := d.stat()
		done(stat, d.err)
	case func(string, *zk.Stat, error):
		path, stat := d.string(), d.stat()
		done(path, stat, d.err)
	case func([]string, *zk.Stat, error):
		children, stat := d.strings(), d.stat()
		done(children, stat, d.err)
	case func([]byte, *zk.Stat, error):
		data, stat := d.bytes(), d.stat()
		done(data, stat, d.err)
	case func([]zk.ACL, *zk.Stat, error):
		acl, stat := d.acl(), d.stat()
		done(acl, stat, d.err)
	case func([]OpResult, error):
		results := d.multi(c.parts)
		if d.err == nil && len(results) != c.parts {
			d.err = errGarbage
		}
		done(results, d.err)
	}
}

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

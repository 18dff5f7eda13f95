package zktest

import (
	"slices"
	"strings"
)

// setAuth answers with zxid 0; a client that fails gets the error and is disconnected.
func (c *conn) setAuth(d *decoder) effect {
	_, scheme, auth := d.int32(), d.string(), d.bytes()
	if d.bad {
		return effect{silent: true, close: true}
	}
	ids, ok := c.srv.authenticate(scheme, auth, c.host)
	if !ok {
		return effect{err: codeAuthFailed, close: true}
	}
	for _, id := range ids {
		if !slices.Contains(c.auth, id) {
			c.auth = append(c.auth, id)
		}
	}
	return effect{}
}

// whoAmI never shows a password's digest.
func (c *conn) whoAmI(out *encoder) {
	out.int32(int32(len(c.auth)))
	for _, id := range c.auth {
		user := id.id
		if id.scheme == "digest" {
			user, _, _ = strings.Cut(user, ":")
		}
		out.string(id.scheme)
		out.string(user)
	}
}

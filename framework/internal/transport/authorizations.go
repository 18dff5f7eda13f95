package transport

import (
	"bytes"
	"errors"
	"slices"

	"github.com/gocurator/curator/framework/ranked"
)

// Auth is what a client says of who it is, as for zkCli's addauth. Package fmt prints the address of a function, and
// nothing behind it. It does not call a Format method of a field that is not exported.
type Auth struct {
	Scheme      string
	Credentials func() []byte
}

// NewAuth copies the credentials.
func NewAuth(scheme string, credentials []byte) Auth {
	kept := bytes.Clone(credentials)
	return Auth{Scheme: scheme, Credentials: func() []byte { return kept }}
}

// Authorizations are the ones that a client has added while it was running. They outlive sessions. Its methods are
// safe for concurrent use.
type Authorizations struct {
	mu  ranked.Mutex[ranked.Leaf, Authorizations]
	all []Auth
}

// add keeps an authorization for later connections. A server that gets it twice takes it for one.
func (a *Authorizations) add(auth Auth) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.ContainsFunc(a.all, func(old Auth) bool {
		return old.Scheme == auth.Scheme && bytes.Equal(old.Credentials(), auth.Credentials())
	}) {
		a.all = append(a.all, auth)
	}
}

// Authorizations are all that are sent on a connection.
func (c *Config) Authorizations() []Auth {
	if c.Added == nil {
		return c.Auth
	}
	c.Added.mu.Lock()
	defer c.Added.mu.Unlock()
	return slices.Concat(c.Auth, c.Added.all)
}

// AddAuth makes a call that says who the client is on a connection that there is. Once it is accepted, the transport
// says it on all that follow. A refusal is the call's own: it is ErrAuth, and ends the connection, as the server does,
// but not the session.
func (t *Transport) AddAuth(auth Auth, done func(err error)) *Call {
	c := setAuth(auth)
	c.added = true
	c.done = errorDone(func(err error) {
		if err == nil && t.cfg.Added != nil {
			t.cfg.Added.add(auth)
		}
		done(err)
	})
	return c
}

// errAddedRefused is why a connection ends on which an authorization was refused that was added.
var errAddedRefused = errors.New("the server refused an authorization that was to be added")

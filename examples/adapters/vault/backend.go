// Package vaultlock has Curator's locks in the shape that Vault, Consul and what is written for either know:
//
//	Lock(stop <-chan struct{}) (lost <-chan struct{}, err error)
//	Unlock() error
//	Value() (held bool, value string, err error)
//
// A [Backend] is a physical.HABackend, which Vault asks for the lock of its active node. A [Lock] serves as well where
// a program has an interface of Lock and Unlock alone, for the locks of Consul's client or of libkv.
//
//	backend := vaultlock.New(ctx, client, "/vault")
//	lock, err := backend.LockWith("core/lock", address) // standbys read the address of the active node by Value
//	lost, err := lock.Lock(stop)
//	if lost == nil { … } // stop was closed, or err says why
//	defer lock.Unlock()
//	select {
//	case <-lost: // cease to write: the next holder may begin
//	case <-stop:
//	}
//
// # What happens on a loss
//
// lost is closed before another process can have the lock, on this machine's clock alone if the servers cannot be
// reached. What is under way then has to be fenced by the storage, as with every lock: Vault's own backends for Consul
// do that, and others do not.
//
// # What to know of this shape
//
//   - lost is closed by Unlock, too, as Vault's and Consul's do it. A program that has unlocked hears no loss.
//   - Neither method has a context. The one that New is given ends all waits, and is no bound for a lock that is held.
//   - A nil lost without an error means that stop was closed. Reading from it would block for ever.
//   - Vault makes a lock for each attempt, and one for each Value. Nothing is left of one that is never locked.
package vaultlock

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/hashicorp/vault/sdk/physical"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// A Backend makes locks. Its methods are safe for concurrent use.
type Backend struct {
	ctx    context.Context //nolint:containedctx // Vault's methods have none
	client *framework.Client
	path   string
	opts   []locks.Option
}

var _ physical.HABackend = (*Backend)(nil)

// New returns a backend whose locks are mutexes below path, each named after its key. It does no I/O. ctx ends what its
// locks wait for.
func New(ctx context.Context, client *framework.Client, path string, opts ...locks.Option) *Backend {
	return &Backend{ctx: locks.WithoutLease(ctx), client: client, path: path, opts: opts}
}

// LockWith returns a [*Lock] for key, which is not held yet. It does no I/O. While the lock is held, its Value is
// value, in every process. The only error is an empty key; the first call on the lock reports other misuse.
func (b *Backend) LockWith(key, value string) (physical.Lock, error) {
	if key == "" {
		return nil, errors.New("vaultlock: the key of a lock is empty")
	}
	opts := append(slices.Clip(b.opts), locks.WithLockData([]byte(value)))
	// A key has slashes, and a node cannot be called "." or "..".
	return &Lock{ctx: b.ctx, mutex: locks.NewInterProcessMutex(b.client, b.path+"/key-"+url.PathEscape(key), opts...)}, nil
}

// HAEnabled returns true.
func (b *Backend) HAEnabled() bool { return true }

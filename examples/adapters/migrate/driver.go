// Package migratelock gives a database driver of golang-migrate Curator's locks in ZooKeeper. It is for databases that
// have no locks of their own, such as ClickHouse and Cassandra, and for one schema in several databases.
//
//	driver, err := clickhouse.WithInstance(db, &clickhouse.Config{})
//	driver = migratelock.New(ctx, driver, client, "/migrations/orders", 10*time.Second)
//	m, err := migrate.NewWithDatabaseInstance("file://migrations", "clickhouse", driver)
//	err = m.Up()
//
// # What happens on a loss
//
// golang-migrate asks the driver for each step, and stops at the first error. So a driver that has lost its lock
// refuses what changes the database: Run, SetVersion and Drop return the loss. A statement that is under way is not
// interrupted, since Run has no context. The version stays dirty then, and the next process refuses to go on until a
// person has looked, as after every migration that was broken off.
//
// # What to know of golang-migrate
//
//   - Lock has no context. Migrate.LockTimeout, fifteen seconds, does not end it: Migrate gives up, and the Lock that
//     goes on may take the lock when no caller is left to release it. So Lock here gives up by itself, and should do so
//     earlier.
//   - A Migrate whose Unlock has failed takes itself for locked, and answers "database locked" from then on. So Unlock
//     does not report a loss again.
//
// golang-migrate's locks and this one do not exclude each other: all processes change at the same time. The driver's
// own lock is taken, too, and inside of this one.
package migratelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/golang-migrate/migrate/v4/database"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// A Driver is another one, with a lock around its own. Its methods are safe for concurrent use if the other one's are.
type Driver struct {
	database.Driver
	acquire func() (*locks.Lease, error) // with the context of New: golang-migrate has none

	mu    sync.Mutex
	lease *locks.Lease // nil while not locked; guarded by mu
}

var _ database.Driver = (*Driver)(nil)

// New returns driver with a lock that is a mutex at path. Lock waits for at most wait, which should be less than the
// LockTimeout of migrate.Migrate by some seconds, and until ctx ends. It does no I/O.
func New(ctx context.Context, driver database.Driver, client *framework.Client, path string, wait time.Duration,
	opts ...locks.Option,
) *Driver {
	lock, ctx := locks.Within(locks.NewInterProcessMutex(client, path, opts...), wait), locks.WithoutLease(ctx)
	return &Driver{Driver: driver, acquire: func() (*locks.Lease, error) { return lock.Acquire(ctx) }}
}

// Open opens a database with the same lock.
func (d *Driver) Open(url string) (database.Driver, error) {
	driver, err := d.Driver.Open(url)
	if err != nil {
		return nil, err
	}
	return &Driver{Driver: driver, acquire: d.acquire}, nil
}

// Lock waits for the lock, and then takes the other driver's. Errors: database.ErrLocked if it did not get the lock in
// time, or if an earlier Lock, which Migrate gave up, has it; those of locks.Within; those of the other driver. Nothing
// is locked then.
func (d *Driver) Lock() error {
	lease, err := d.acquire()
	if errors.Is(err, locks.ErrNotAcquired) {
		return fmt.Errorf("%w: %w", database.ErrLocked, err)
	}
	if err != nil {
		return err
	}
	if err := d.Driver.Lock(); err != nil {
		return errors.Join(err, lease.Release())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lease = lease
	return nil
}

// Unlock releases both locks. Errors: database.ErrNotLocked; that of the other driver; a *locks.ReleaseError. A lock
// that was lost is no error: what changed the database meanwhile has returned the loss.
func (d *Driver) Unlock() error {
	d.mu.Lock()
	lease := d.lease
	d.lease = nil
	d.mu.Unlock()
	if lease == nil {
		return database.ErrNotLocked
	}
	err := d.Driver.Unlock()
	if released := lease.Release(); !errors.Is(released, locks.ErrLeaseLost) {
		err = errors.Join(err, released)
	}
	return err
}

// Run runs a migration while the lock is held, and otherwise returns why it is not.
func (d *Driver) Run(migration io.Reader) error {
	return d.guard(func() error { return d.Driver.Run(migration) })
}

// SetVersion saves the version while the lock is held, and otherwise returns why it is not.
func (d *Driver) SetVersion(version int, dirty bool) error {
	return d.guard(func() error { return d.Driver.SetVersion(version, dirty) })
}

// Drop deletes everything while the lock is held, and otherwise returns why it is not.
func (d *Driver) Drop() error { return d.guard(d.Driver.Drop) }

// guard does what changes the database, and reports a loss before it and during it.
func (d *Driver) guard(change func() error) error {
	d.mu.Lock()
	lease := d.lease
	d.mu.Unlock()
	if lease == nil {
		return database.ErrNotLocked
	}
	if err := lease.Err(); err != nil {
		return err
	}
	return errors.Join(change(), lease.Err())
}

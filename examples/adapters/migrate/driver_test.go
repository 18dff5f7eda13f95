package migratelock_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	dbstub "github.com/golang-migrate/migrate/v4/database/stub"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/stub"

	migratelock "github.com/gocurator/curator/examples/adapters/migrate"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

const path = "/migrations/orders"

func connect(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("any:2181", framework.WithDialer(dial), framework.WithSessionTimeout(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// A db is golang-migrate's driver for tests, without its lock, and with statements that take their time.
type db struct {
	dbstub.Stub
	takes   time.Duration
	running bool
	during  func() // the next statement
	t       *testing.T
}

func newDB(t *testing.T) *db {
	return &db{t: t, takes: 5 * time.Second, Stub: dbstub.Stub{CurrentVersion: database.NilVersion}}
}

func (d *db) Lock() error   { return nil }
func (d *db) Unlock() error { return nil }

func (d *db) Run(migration io.Reader) error {
	if d.running {
		d.t.Error("two processes migrate at one time")
	}
	d.running = true
	time.Sleep(d.takes)
	if d.during != nil {
		d.during()
	}
	d.running = false
	return d.Stub.Run(migration)
}

// process is a golang-migrate with so many migrations, as one of several processes that share a database.
func process(t *testing.T, driver database.Driver, n uint) *migrate.Migrate {
	t.Helper()
	files, err := stub.WithInstance(nil, &stub.Config{})
	if err != nil {
		t.Fatal(err)
	}
	migrations := source.NewMigrations()
	for version := range n {
		migrations.Append(&source.Migration{Version: version + 1, Direction: source.Up, Identifier: string(rune('a' + version))})
	}
	files.(*stub.Stub).Migrations = migrations
	m, err := migrate.NewWithInstance("stub", files, "stub", driver)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMigrationsOfProcessesThatStartTogetherRunOnce(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, shared := zktest.New(t), newDB(t)
		errs := make(chan error)
		for range 3 {
			m := process(t, migratelock.New(t.Context(), shared, connect(t, zk.DialContext), path, time.Minute), 3)
			m.LockTimeout = 2 * time.Minute
			go func() { errs <- m.Up() }()
		}
		did := 0
		for range 3 {
			switch err := <-errs; {
			case err == nil:
				did++
			case !errors.Is(err, migrate.ErrNoChange):
				t.Errorf("got %v, want nil or ErrNoChange", err)
			}
		}
		if did != 1 {
			t.Errorf("%d processes migrated, want 1", did)
		}
		if !shared.EqualSequence([]string{"a", "b", "c"}) {
			t.Errorf("the database ran %q, want a, b, c", shared.MigrationSequence)
		}
		if got := zk.Children(path); len(got) != 0 {
			t.Errorf("the migrations left %v, want no node", got)
		}
	})
}

// Migrate gives a Lock up after fifteen seconds, and does not end it.
func TestLockThatIsNotHadInTimeIsNotTakenLate(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		lease, err := locks.NewInterProcessMutex(connect(t, zk.DialContext), path).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := process(t, migratelock.New(t.Context(), newDB(t), connect(t, zk.DialContext), path, 10*time.Second), 3)
		start := time.Now()
		if err := m.Up(); !errors.Is(err, database.ErrLocked) || !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("got %v, want ErrLocked and ErrNotAcquired", err)
		}
		if took := time.Since(start); took > 11*time.Second {
			t.Errorf("Up gave up after %v, want 10s", took)
		}
		time.Sleep(time.Minute)
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := zk.Children(path); len(got) != 0 {
			t.Errorf("the lock is held by %v, want no holder", got)
		}
		if err := m.Up(); err != nil {
			t.Errorf("Up of the free lock: got %v, want nil", err)
		}
	})
}

// One migration: for each one that it has read and does not run, golang-migrate leaves a goroutine behind.
func TestMigrationThatLosesItsLockStaysDirtyForTheNextProcess(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, shared := zktest.New(t), newDB(t)
		shared.takes = time.Minute
		link := zk.NewLink()
		cut := process(t, migratelock.New(t.Context(), shared, connect(t, link.DialContext), path, 10*time.Second), 1)
		ended := make(chan error, 1)
		go func() { ended <- cut.Up() }()
		time.Sleep(5 * time.Second) // in the middle of the migration
		link.Cut()
		other := process(t, migratelock.New(t.Context(), shared, connect(t, zk.DialContext), path, 5*time.Minute), 1)
		other.LockTimeout = 10 * time.Minute
		var dirty migrate.ErrDirty
		if err := other.Up(); !errors.As(err, &dirty) {
			t.Errorf("the next process: got %v, want ErrDirty", err)
		}
		if err := <-ended; !errors.Is(err, locks.ErrLeaseLost) {
			t.Errorf("the process that was cut off: got %v, want ErrLeaseLost", err)
		}
		link.Heal()
		if err := cut.Up(); !errors.As(err, &dirty) { // not "database locked": it can be used again
			t.Errorf("after the loss: got %v, want ErrDirty", err)
		}
	})
}

func TestWithoutItsLockNothingChangesTheDatabase(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, shared := zktest.New(t), newDB(t)
		driver := migratelock.New(t.Context(), shared, connect(t, zk.DialContext), path, 10*time.Second)
		for _, state := range []struct {
			name string
			want error
		}{{"not locked", database.ErrNotLocked}, {"lost", locks.ErrLeaseLost}} {
			if state.name == "lost" {
				if err := driver.Lock(); err != nil {
					t.Fatal(err)
				}
				zk.ExpireSession(zk.Sessions()[0].ID)
				time.Sleep(time.Second)
			}
			for what, err := range map[string]error{
				"Run": driver.Run(strings.NewReader("a")), "SetVersion": driver.SetVersion(7, false), "Drop": driver.Drop(),
			} {
				if !errors.Is(err, state.want) {
					t.Errorf("%s, %s: got %v, want %v", state.name, what, err, state.want)
				}
			}
		}
		if shared.CurrentVersion != database.NilVersion || len(shared.MigrationSequence) != 0 {
			t.Errorf("the database has version %d and ran %q, want nothing", shared.CurrentVersion, shared.MigrationSequence)
		}
		if err := driver.Unlock(); err != nil {
			t.Errorf("Unlock of the lost lock: got %v, want nil", err)
		}
		if err := driver.Unlock(); !errors.Is(err, database.ErrNotLocked) {
			t.Errorf("Unlock again: got %v, want ErrNotLocked", err)
		}
	})
}

func TestLossDuringTheLastStatementIsReported(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, shared := zktest.New(t), newDB(t)
		driver := migratelock.New(t.Context(), shared, connect(t, zk.DialContext), path, 10*time.Second)
		if err := driver.Lock(); err != nil {
			t.Fatal(err)
		}
		shared.during = func() {
			zk.ExpireSession(zk.Sessions()[0].ID)
			time.Sleep(time.Second)
		}
		if err := driver.Run(strings.NewReader("a")); !errors.Is(err, locks.ErrLeaseLost) {
			t.Errorf("got %v, want ErrLeaseLost", err)
		}
		if err := driver.Unlock(); err != nil {
			t.Errorf("Unlock: got %v, want nil", err)
		}
	})
}

// A stubborn database has a lock that is never free.
type stubborn struct{ *db }

func (stubborn) Lock() error { return errors.New("stubborn") }

func TestLockOfTheDatabaseThatFailsReleasesThisOne(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		driver := migratelock.New(t.Context(), stubborn{newDB(t)}, connect(t, zk.DialContext), path, 10*time.Second)
		if err := driver.Lock(); err == nil || err.Error() != "stubborn" {
			t.Errorf("got %v, want the database's error", err)
		}
		if got := zk.Children(path); len(got) != 0 {
			t.Errorf("the lock is held by %v, want no holder", got)
		}
	})
}

func TestContextOfNewEndsTheWait(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		lease, err := locks.NewInterProcessMutex(connect(t, zk.DialContext), path).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = lease.Release() }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		driver, err := migratelock.New(ctx, newDB(t), connect(t, zk.DialContext), path, time.Minute).Open("stub://")
		if err != nil {
			t.Fatal(err)
		}
		if err := driver.Lock(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want DeadlineExceeded", err)
		}
	})
}

package history_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/internal/history"
)

// save writes the transactions of replay as a server's only log.
func save(t *testing.T, steps ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log := append(i32([]byte("ZKLG"), 2), make([]byte, 8)...)
	for _, txn := range replay(steps...) {
		log = append(log, record(txn, true)...)
	}
	if err := os.WriteFile(filepath.Join(dir, "log.1"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAPathInALockIsThatOfItsLock(t *testing.T) {
	dir := save(t, "create 1 locks/lock-01", "create 1 leases/lease-01", "create 2 locks/lock-02", "create 5 below/lock-01",
		"delete 1 locks/lock-01", "create 2 leases/lease-02", "delete 1 leases/lease-01", "delete 2 locks/lock-02")
	semaphore := []string{"leases/lease-01 1 2 7 released", "leases/lease-02 3 7 0"}
	for path, want := range map[string][]string{
		"/l/locks":            semaphore,
		"/l/leases":           semaphore,
		at("locks/lock-02"):   semaphore,
		at("leases/lease-2"):  nil,
		at("leases/lease-02"): semaphore,
		at("below/lock-01"):   {"below/lock-01 4 4 0"},
	} {
		h, err := history.Read(path, []string{dir}, 0, history.Options{Limit: 1})
		if want == nil && errors.Is(err, history.ErrNoLock) {
			continue
		}
		if err != nil || !slices.Equal(lines(h), want) {
			t.Errorf("%s: got %v, want\n%s\ngot\n%s", path, err, strings.Join(want, "\n"), strings.Join(lines(h), "\n"))
		}
	}
}

func TestTheWholeQueueDecidesWhoIsLetIn(t *testing.T) {
	dir := save(t, "create 1 lock-01", "create 2 lock-02", "create 3 lock-03", "delete 2 lock-02")
	h, err := history.Read(at("lock-02"), []string{dir}, 0, history.Options{})
	want := []string{"lock-01 1 1 0", "lock-02 2 0 4 gave up", "lock-03 3 0 0"}
	if err != nil || h.Path != "/l" || !slices.Equal(lines(h), want) {
		t.Errorf("got %v at %s, %v, want %v at /l", lines(h), h.Path, err, want)
	}
}

func TestALockThatIsCalledAsAGateIsALock(t *testing.T) {
	dir := save(t, "create 1 locks/lock-01", "create 2 locks/lock-02", "create 3 lock-01", "delete 1 locks/lock-01")
	h, err := history.Read("/l/locks", []string{dir}, 0, history.Options{})
	want := []string{"locks/lock-01 1 1 4 released", "locks/lock-02 2 4 0"}
	if err != nil || h.Path != "/l/locks" || !slices.Equal(lines(h), want) {
		t.Errorf("got %v at %s, %v, want %v at /l/locks", lines(h), h.Path, err, want)
	}
}

func TestALogWithoutTransactionsSaysSo(t *testing.T) {
	_, err := history.Read("/l", []string{save(t)}, 0, history.Options{})
	if !errors.Is(err, history.ErrNoLock) || !strings.Contains(err.Error(), "which have no transaction") {
		t.Errorf("got %v, want it to say that there is no transaction", err)
	}
}

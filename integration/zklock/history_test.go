//go:build linux

package zklock_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// A historyJSON is what zklock history -json prints.
type historyJSON struct {
	Locks []struct {
		Path, Kind string
		Limit      int
		Contenders []struct {
			Node, Session, Who, How string
			Token                   int64
			Queued, Ended           *struct{ Time time.Time }
			LetIn                   *struct{ Time time.Time } `json:"let_in"`
			Earlier                 bool                      `json:"let_in_earlier"`
		}
	}
	Notes []struct{ Kind, File, Text string }
}

// A clientHold is what a client knows of a hold.
type clientHold struct {
	node   string
	token  int64
	closed bool // its client was closed while it held
}

// holdInTurns has clients hold two locks in turns. The last one of each is closed while it holds.
func holdInTurns(t *testing.T, addr string, times int) (holds []clientHold) {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	for range 3 {
		client := connect(t, addr)
		for _, lock := range []locks.Lock{
			locks.NewInterProcessMutex(client, "/locks/mutex", locks.WithLockData([]byte("worker"))),
			locks.NewInterProcessSemaphoreV2(client, "/locks/semaphore", 2),
		} {
			clients.Go(func() {
				for range times {
					lease, err := lock.Acquire(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					holds = append(holds, clientHold{lease.NodeName(), lease.FencingToken(), false})
					mu.Unlock()
					if err := lease.Release(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	clients.Wait()
	client := connect(t, addr)
	both, err := locks.NewInterProcessSemaphoreV2(client, "/locks/semaphore", 2).AcquireN(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, lease := range both {
		holds = append(holds, clientHold{lease.NodeName(), lease.FencingToken(), true})
	}
	lease, err := locks.NewInterProcessMutex(client, "/locks/mutex").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	return append(holds, clientHold{lease.NodeName(), lease.FencingToken(), true})
}

func readHistory(t *testing.T, status int, args ...string) (h historyJSON, errs string) {
	t.Helper()
	stdout, stderr, got := zklock(t, "", append([]string{"history", "-json"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &h); got != status || status != 66 && err != nil {
		t.Fatalf("zklock history %s: got status %d (%v), want %d, from %s%s", strings.Join(args, " "), got, err, status, stdout, stderr)
	}
	return h, stderr
}

// wantHolds compares a history with what clients know. Of what is older than the files it may lack something.
func wantHolds(t *testing.T, h historyJSON, holds []clientHold, whole bool) {
	t.Helper()
	found := 0
	for _, hold := range holds {
		for _, lock := range h.Locks {
			for _, c := range lock.Contenders {
				if c.Node != hold.node {
					continue
				}
				found++
				how := "released"
				if hold.closed {
					how = "closed"
				}
				if whole && (c.Token != hold.token || c.How != how || c.LetIn == nil || c.Ended == nil || c.Ended.Time.Before(c.LetIn.Time)) {
					t.Errorf("got %+v, want a hold with the token %d that was %s", c, hold.token, how)
				}
			}
		}
	}
	if whole && found != len(holds) || found == 0 {
		t.Errorf("found %d of %d holds", found, len(holds))
	}
}

// copyFiles copies those that are wanted.
func copyFiles(t *testing.T, from string, wanted func(name string) bool) (to string) {
	t.Helper()
	to = t.TempDir()
	names, err := filepath.Glob(filepath.Join(from, "version-2", "*.*"))
	for _, name := range names {
		if !wanted(filepath.Base(name)) {
			continue
		}
		content, readErr := os.ReadFile(name) //nolint:gosec // the server's
		err = errors.Join(err, readErr, os.WriteFile(filepath.Join(to, filepath.Base(name)), content, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// zxidOf is the number in the name of a log or a snapshot.
func zxidOf(name string) int64 {
	_, rest, _ := strings.Cut(filepath.Base(name), ".")
	hex, _, _ := strings.Cut(rest, ".")
	zxid, _ := strconv.ParseInt(hex, 16, 64)
	return zxid
}

// A server that makes many logs and snapshots, some of which are then gone or damaged.
func TestHistoryIsReadFromTheFilesOfAServer(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t, zookeeper.Config{JavaOptions: []string{
		"-Dzookeeper.snapCount=60", "-Dzookeeper.preAllocSize=64", "-Dzookeeper.snapshot.compression.method=gz",
	}})
	holds := holdInTurns(t, server.Addr(), 40)
	h, _ := readHistory(t, 0, server.DataDir(), "/locks") // beside the running server
	wantHolds(t, h, holds, true)
	if len(h.Locks) != 2 || h.Locks[0].Kind != "mutex" || h.Locks[1].Kind != "semaphore" || h.Locks[1].Limit != 2 {
		t.Errorf("got the locks %+v, want a mutex and a semaphore of 2", h.Locks)
	}
	wantOutput(t, "", 0, []string{"/locks/mutex: mutex, 121 contenders, 121 let in", "released", "closed", "worker"},
		"history", server.DataDir(), "/locks/mutex")
	wantOutput(t, "", 0, []string{"LOCK", "/locks/mutex", "/locks/semaphore"}, "history", server.DataDir(), "/locks")
	wantOutput(t, "", 0, []string{"The longest of ", "Who waited most often", "worker"}, "history", "-longest", "3", server.DataDir(), "/locks/mutex")
	wantOutput(t, "", 0, []string{"/locks/mutex: mutex, 4 clients", "█", "█ holds"}, "history", "-lanes", server.DataDir(), "/locks/mutex")

	logs, snapshots := serverFiles(t, server.DataDir())
	if len(logs) < 4 || len(snapshots) < 3 {
		t.Fatalf("got %v and %v from the server, want more logs and snapshots", logs, snapshots)
	}
	t.Run("rotated", func(t *testing.T) {
		later := zxidOf(logs[len(logs)/2])
		dir := copyFiles(t, server.DataDir(), func(name string) bool { return zxidOf(name) >= later-1 })
		h, errs := readHistory(t, 0, dir, "/locks")
		wantHolds(t, h, holds[len(holds)-1:], true)
		if errs != "" || len(h.Notes) > 0 {
			t.Errorf("got %s, want no note", errs)
		}
	})
	t.Run("gap", func(t *testing.T) {
		missing := filepath.Base(logs[len(logs)/2])
		h, errs := readHistory(t, 65, copyFiles(t, server.DataDir(), func(name string) bool { return name != missing }), "/locks")
		wantHolds(t, h, holds, false)
		if len(h.Notes) != 1 || h.Notes[0].Kind != "gap" || !strings.Contains(errs, "transactions are in no log") {
			t.Errorf("got %v and %s, want a gap", h.Notes, errs)
		}
	})
	damage := func(t *testing.T, spoil func([]byte) []byte) (h historyJSON, file string) {
		t.Helper()
		dir := copyFiles(t, server.DataDir(), func(string) bool { return true })
		file = filepath.Join(dir, filepath.Base(logs[1]))
		content, err := os.ReadFile(file) //nolint:gosec // a copy
		err = errors.Join(err, os.WriteFile(file, spoil(content), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		h, _ = readHistory(t, 65, dir, "/locks")
		wantHolds(t, h, holds, false)
		return h, file
	}
	for name, spoil := range map[string]func([]byte) []byte{
		"damaged: checksum":       func(log []byte) []byte { log[60]++; return log },
		"version 9 of the format": func(log []byte) []byte { log[7] = 9; return log },
		"in the middle":           func(log []byte) []byte { return log[:len(bytes.TrimRight(log, "\x00"))/2] },
	} {
		t.Run(name, func(t *testing.T) {
			h, file := damage(t, spoil)
			if !slices.ContainsFunc(h.Notes, func(n struct{ Kind, File, Text string }) bool {
				return n.File == file && strings.Contains(n.Text, name)
			}) {
				t.Errorf("got the notes %v, want one on %s", h.Notes, file)
			}
		})
	}
}

func serverFiles(t *testing.T, dir string) (logs, snapshots []string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "version-2", "log.*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(logs, func(a, b string) int { return int(zxidOf(a) - zxidOf(b)) })
	if snapshots, err = filepath.Glob(filepath.Join(dir, "version-2", "snapshot.*")); err != nil {
		t.Fatal(err)
	}
	return logs, snapshots
}

func TestHistoryRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wantOutput(t, "", 66, []string{"find the logs in", dir}, "history", dir, "/locks")
	wantOutput(t, "", 64, []string{"want a directory of a server, and the path"}, "history", "/locks")
	wantOutput(t, "", 64, []string{"is no path"}, "history", dir, "locks")
	wantOutput(t, "", 64, []string{`want a time such as "2026-11-24 09:00:00"`}, "history", "-from", "yesterday", dir, "/locks")
	wantOutput(t, "", 64, []string{"-last and -from exclude each other"}, "history", "-last", "1h", "-from", "2026-11-24T09:00:00Z", dir, "/locks")
	log := append([]byte("ZKLG\x00\x00\x00\x02"), make([]byte, 500)...)
	if err := os.WriteFile(filepath.Join(dir, "log.1"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	wantOutput(t, "", 66, []string{"no lock at or below /locks in these logs"}, "history", dir, "/locks")
}

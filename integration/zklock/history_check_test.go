//go:build linux

package zklock_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// recorded makes a client whose holds are written into a file of its own. stop closes both.
func recorded(t *testing.T, addr, name string) (client *framework.Client, trace locks.Option, stop func()) {
	t.Helper()
	file, err := records.OpenFile(name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	client = connect(t, addr)
	r := records.NewRecorder(file, "")
	return client, locks.WithTrace(r.Trace(locks.Trace{})), func() {
		if err := errors.Join(client.Close(), r.Close(), file.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Clients that keep the rules hold four kinds of locks in turns. Then a program goes on after its node was deleted,
// until another client has held the lock and released it.
func TestHistoryChecksRecordsOnTheFilesOfAServer(t *testing.T) {
	t.Parallel()
	server, dir := zookeeper.Start(t, zookeeper.Config{}), t.TempDir()
	const clients, holds = 3, 30
	var args []string
	var group sync.WaitGroup
	for i := range clients {
		name := filepath.Join(dir, strconv.Itoa(i)+".ndjson")
		args = append(args, "-check", name)
		client, trace, stop := recorded(t, server.Addr(), name)
		rw := locks.NewInterProcessReadWriteLock(client, "/locks/rw", trace)
		group.Go(func() {
			defer stop()
			for n := range holds {
				for _, lock := range []locks.Lock{
					locks.NewInterProcessMutex(client, "/locks/mutex", trace),
					locks.NewInterProcessMutex(client, "/locks/retained", trace).Retained(),
					locks.NewInterProcessSemaphoreV2(client, "/locks/semaphore", 2, trace),
					[]locks.Lock{rw.ReadLock(), rw.ReadLock(), rw.WriteLock()}[n%3],
				} {
					if err := locks.Do(t.Context(), lock, func(context.Context) error { return nil }); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	args = append([]string{"history", "-limit", "2"}, args...)
	wantOutput(t, "", 0, []string{
		"/locks/mutex: nothing overlapped, by 90 recorded holds", "/locks/retained: nothing overlapped, by 90 recorded holds",
		"/locks/rw: nothing overlapped, by 90 recorded holds", "/locks/semaphore: nothing overlapped, by 90 recorded holds",
	}, append(args, server.DataDir(), "/locks")...)

	good, wrong := filepath.Join(dir, "good.ndjson"), filepath.Join(dir, "wrong.ndjson")
	goOn(t, server.Addr(), good, wrong)
	wantOutput(t, "", 1, []string{"/locks/broken: 1 overlapped, by 2 recorded holds", "the hold lasted until after its client had seen transaction"},
		"history", "-check", good, "-check", wrong, server.DataDir(), "/locks/broken")
}

// goOn has a program hold /locks/broken beyond the end of its node, and record that as it was.
func goOn(t *testing.T, addr, good, wrong string) {
	t.Helper()
	client := connect(t, addr)
	begun := make(chan locks.AcquireEnd, 1)
	lease, err := locks.NewInterProcessMutex(client, "/locks/broken", locks.WithTrace(locks.Trace{
		AcquireEnd: func(_ context.Context, end locks.AcquireEnd) { begun <- end },
	})).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begin := <-begun
	record := records.Record{
		Path: "/locks/broken", Node: begin.Node, Session: records.SessionID(begin.Session), Czxid: begin.Token, How: records.Released,
		Process: "wrong", Begin: records.Moment{Time: time.Now(), Zxid: begin.Zxid},
	}
	next, trace, stop := recorded(t, addr, good)
	if err := next.Delete(t.Context(), "/locks/broken/"+lease.NodeName(), -1); err != nil {
		t.Fatal(err)
	}
	err = locks.Do(t.Context(), locks.NewInterProcessMutex(next, "/locks/broken", trace), func(context.Context) error { return nil })
	stop()
	_, existsErr := client.Exists(t.Context(), "/") // the client sees what was executed meanwhile
	session, sessionErr := client.Session(t.Context())
	if err := errors.Join(err, existsErr, sessionErr); err != nil {
		t.Fatal(err)
	}
	record.End = records.Moment{Time: time.Now(), Zxid: session.LastZxid()}
	text, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	file, err := records.OpenFile(wrong, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

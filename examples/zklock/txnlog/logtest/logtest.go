// Package logtest gives a server in memory a transaction log, for tests of what reads the logs of real servers.
package logtest

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
)

// The types of transactions, by ZooDefs.OpCode.
const (
	create, remove, setData, multi = 1, 2, 5, 14
	failed, begin, end             = -1, -10, -11
)

// Keep writes what a server executes from now on into a log below dir, as a real server does, until the test ends. The
// server must be new, or the log is that of a server whose older files are gone.
func Keep(t testing.TB, server *zktest.Server, dir string) {
	t.Helper()
	dir = filepath.Join(dir, "version-2")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	k := &keeper{t: t, dir: dir}
	stop := server.ObserveTransactions(k.add)
	t.Cleanup(func() {
		stop()
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.file != nil {
			k.file.Close()
		}
	})
}

// Write writes transactions into a log of their own in a directory, named by the first.
func Write(t testing.TB, dir string, all ...zktest.Transaction) {
	t.Helper()
	text := header()
	for _, txn := range all {
		text = append(text, record(txn)...)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("log.%x", all[0].Zxid)), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// header begins each log.
func header() []byte { return int64s(int32s([]byte("ZKLG"), 2), 0) }

type keeper struct {
	t    testing.TB
	dir  string
	mu   sync.Mutex
	file *os.File
}

func (k *keeper) add(txn zktest.Transaction) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text := record(txn)
	if k.file == nil { // the name has the first zxid
		var err error
		if k.file, err = os.Create(filepath.Join(k.dir, fmt.Sprintf("log.%x", txn.Zxid))); err != nil {
			k.t.Error(err)
			return
		}
		text = append(header(), text...)
	}
	if _, err := k.file.Write(text); err != nil {
		k.t.Error(err)
	}
}

// record is a transaction with its checksum and its end.
func record(txn zktest.Transaction) []byte {
	kind, body := content(txn)
	text := int64s(int32s(int64s(nil, txn.Session), txn.Request), txn.Zxid, txn.At.UnixMilli())
	text = append(int32s(text, kind), body...)
	head := int32s(int64s(nil, int64(adler32.Checksum(text))), int32(len(text)))
	return append(append(head, text...), 'B')
}

func content(txn zktest.Transaction) (kind int32, body []byte) {
	switch {
	case txn.Failed:
		return failed, int32s(nil, -101)
	case txn.EndsSession:
		body = int32s(nil, int32(len(txn.Changes)))
		for _, c := range txn.Changes {
			body = buffer(body, c.Path)
		}
		return end, body
	case len(txn.Changes) == 0:
		return begin, int32s(nil, 10_000)
	case len(txn.Changes) == 1:
		return change(txn.Changes[0])
	}
	body = int32s(nil, int32(len(txn.Changes)))
	for _, c := range txn.Changes {
		kind, part := change(c)
		body = buffer(int32s(body, kind), string(part))
	}
	return multi, body
}

func change(c zktest.Change) (kind int32, body []byte) {
	body = buffer(nil, c.Path)
	switch c.Kind {
	case zktest.Created:
		body = buffer(body, string(c.Data))
		body = buffer(buffer(int32s(body, 1, 31), "world"), "anyone")
		if c.Owner != 0 {
			body = append(body, 1)
		} else {
			body = append(body, 0)
		}
		return create, int32s(body, 1)
	case zktest.Deleted:
		return remove, body
	case zktest.DataSet:
		return setData, int32s(buffer(body, string(c.Data)), 1)
	default: // no test needs the permissions
		return begin, int32s(nil, 0)
	}
}

func int32s(to []byte, all ...int32) []byte {
	for _, n := range all {
		to = binary.BigEndian.AppendUint32(to, uint32(n))
	}
	return to
}

func int64s(to []byte, all ...int64) []byte {
	for _, n := range all {
		to = binary.BigEndian.AppendUint64(to, uint64(n))
	}
	return to
}

func buffer(to []byte, text string) []byte { return append(int32s(to, int32(len(text))), text...) }

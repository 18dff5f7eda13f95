package txnlog_test

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"reflect"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"

	"github.com/gocurator/curator/framework/zktest"
)

// Whatever the bytes, what is read takes memory in proportion to them, and half of the log holds the first of the
// transactions of the whole. Checksums are set right first: a log at random has none that is.
func FuzzParse(f *testing.F) {
	records := []record{
		{zxid: 1, session: 7, kind: createSession, body: append(i32(nil, 30000), digest...)},
		{zxid: 2, session: 7, request: 1, kind: create2, body: i32(created("/a", "x", 1), 1)},
		{zxid: 3, session: 7, request: 2, kind: multi, body: parts(remove, text(nil, "/a"), check, i32(text(nil, "/"), 0), create, created("/b", "", 1))},
		{zxid: 4, session: 7, request: 3, kind: failed, body: i32(nil, -101)},
		{zxid: 5, session: 7, request: 4, kind: setACL, body: i32(world(text(nil, "/b")), 1)},
		{zxid: 6, session: 7, kind: closeSession, body: append(text(i32(nil, 1), "/b"), digest...)},
	}
	f.Add(logOf(records...))
	for _, r := range records {
		f.Add(append(logOf(r), make([]byte, 40)...))
	}
	f.Add(logOf()[:10])
	f.Fuzz(func(t *testing.T, log []byte) {
		log = withChecksums(bytes.Clone(log))
		parse := func(log []byte) (all []zktest.Transaction, size int) {
			_ = txnlog.Parse(bytes.NewReader(log), func(t zktest.Transaction) error {
				all = append(all, t)
				for _, c := range t.Changes {
					size += len(c.Path) + len(c.Data)
				}
				return nil
			})
			return all, size
		}
		all, size := parse(log)
		if size > 2*len(log) { // a path may come twice: when the session ends, the node goes
			t.Errorf("%d bytes of paths and data from %d bytes", size, len(log))
		}
		half, _ := parse(log[:len(log)/2])
		if len(half) > len(all) {
			t.Fatalf("half of the log has %d transactions, the whole %d", len(half), len(all))
		}
		for i := range half {
			if !reflect.DeepEqual(half[i], all[i]) {
				t.Errorf("transaction %d: got %+v from half of the log, %+v from the whole", i, half[i], all[i])
			}
		}
	})
}

// withChecksums sets the checksum of each record that ends within the log.
func withChecksums(log []byte) []byte {
	for rest := log[min(len(log), len(header())):]; len(rest) > 12; {
		size := int(int32(binary.BigEndian.Uint32(rest[8:])))
		if size <= 0 || size >= len(rest)-12 {
			break
		}
		binary.BigEndian.PutUint64(rest, uint64(adler32.Checksum(rest[12:12+size])))
		rest = rest[12+size+1:]
	}
	return log
}

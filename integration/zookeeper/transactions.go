//go:build unix

package zookeeper

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A transaction is one of a server's log.
type transaction struct {
	session, zxid int64
	at            time.Time
	op            int32
	body          []byte
}

// transactions returns all that are in the logs of a directory, in their order. The last one of a log may have been
// written in part when the server was killed; then it counts for nothing.
func transactions(dir string) (all []transaction, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "log.*"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		const head, sums, header = 16, 12, 32 // of a file; checksum and length, session to type of a transaction
		for rest := log[min(len(log), head):]; len(rest) > sums+header; {
			size := int(binary.BigEndian.Uint32(rest[8:]))
			if size < header || sums+size >= len(rest) || rest[sums+size] != 'B' { // zeros follow the last one
				break
			}
			all = append(all, parseTransaction(rest[sums:sums+size]))
			rest = rest[sums+size+1:]
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no transaction in the logs %q", files)
	}
	slices.SortFunc(all, func(a, b transaction) int { return cmp.Compare(a.zxid, b.zxid) })
	return all, nil
}

func parseTransaction(b []byte) transaction {
	f := &fields{rest: b}
	t := transaction{session: f.int64()}
	f.int32() // the request's number
	t.zxid = f.int64()
	t.at = time.UnixMilli(f.int64())
	t.op = f.int32()
	t.body = f.rest
	return t
}

// fields reads the fields of a record. Behind its end they are zero.
type fields struct {
	rest  []byte
	short bool // the end was reached too early
}

func (f *fields) next(n int) []byte {
	if n < 0 || n > len(f.rest) {
		f.rest, f.short = nil, true
		return make([]byte, 8)
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

func (f *fields) int32() int32 { return int32(binary.BigEndian.Uint32(f.next(4))) }

func (f *fields) int64() int64 { return int64(binary.BigEndian.Uint64(f.next(8))) }

// text is a string, or a buffer, which may be absent: its length is -1 then.
func (f *fields) text() string {
	n := f.int32()
	if n == -1 || f.short {
		return ""
	}
	return string(f.next(int(n)))
}

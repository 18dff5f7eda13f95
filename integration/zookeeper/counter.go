//go:build unix

package zookeeper

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"strings"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// SetCounter makes n the next number under path, as if so many nodes had been created there, which would take days. It
// kills the server, writes two transactions behind its log, the creation and the deletion of a child, and starts the
// server on the same data. Sessions go on. path must be there.
func (s *Server) SetCounter(path string, n int32) {
	s.Kill()
	if err := appendCounter(filepath.Join(s.dataDir, "version-2"), path, n); err != nil {
		s.t.Errorf("zookeeper: %v", err)
	}
	s.Restart()
}

// appendCounter writes a log of its own, since the server's own are padded with zeros.
func appendCounter(dir, path string, n int32) error {
	all, err := txnlog.Read(dir)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("set the counter of %s: no transaction in %s", path, dir)
	}
	zxid := all[len(all)-1].Zxid
	child := strings.TrimSuffix(path, "/") + "/counter"
	const create, remove = 1, 2
	log := append([]byte("ZKLG"), 0, 0, 0, 2)
	log = append(log, make([]byte, 8)...)
	body := jute(nil, child)
	body = binary.BigEndian.AppendUint32(body, 0) // no data
	body = binary.BigEndian.AppendUint32(body, 1)
	body = binary.BigEndian.AppendUint32(body, 31)
	body = jute(jute(body, "world"), "anyone")
	body = append(body, 0)                                // not ephemeral
	body = binary.BigEndian.AppendUint32(body, uint32(n)) // how many children were created in the parent
	log = appendTxn(log, zxid+1, create, body)
	log = appendTxn(log, zxid+2, remove, jute(nil, child))
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("log.%x", zxid+1)), log, 0o600)
}

func jute(to []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(s))), s...)
}

func appendTxn(log []byte, zxid int64, op uint32, body []byte) []byte {
	var txn []byte
	txn = append(txn, make([]byte, 12)...) // session, request
	txn = binary.BigEndian.AppendUint64(txn, uint64(zxid))
	txn = binary.BigEndian.AppendUint64(txn, 1) // time
	txn = binary.BigEndian.AppendUint32(txn, op)
	txn = append(txn, body...)
	log = binary.BigEndian.AppendUint64(log, uint64(adler32.Checksum(txn)))
	log = append(binary.BigEndian.AppendUint32(log, uint32(len(txn))), txn...)
	return append(log, 'B')
}

//go:build linux

package interop_test

import (
	"bytes"
	"encoding/binary"
)

// Changes whose answers can be lost.
const (
	creation = "creation" // only a lock node's
	deletion = "deletion" // only a lock node's
	setting  = "setting"  // any node's
)

// request notes the creation and the deletion of lock nodes, and the setting of data. Parents have other names.
func (l *link) request(frame []byte) {
	const setData, multi = 5, 14
	op, rest := binary.BigEndian.Uint32(frame[4:]), frame[8:]
	if op == multi && binary.BigEndian.Uint32(rest) == setData { // our numbers are set in transactions
		op, rest = setData, rest[9:]
	}
	change := map[uint32]string{1: creation, 2: deletion, setData: setting, 15: creation}[op]
	if change == "" {
		return
	}
	path := rest[4 : 4+binary.BigEndian.Uint32(rest)]
	if change == setting || bytes.Contains(path, []byte("lock-")) || bytes.Contains(path, []byte("__")) {
		l.mu.Lock()
		l.changes[binary.BigEndian.Uint32(frame)] = change
		l.mu.Unlock()
	}
}

// isError reports whether an answer is an error. That of a transaction has none in its header, but in its first result.
func isError(frame []byte) bool {
	const failed = 0xffffffff
	return binary.BigEndian.Uint32(frame[12:]) != 0 || len(frame) >= 20 && binary.BigEndian.Uint32(frame[16:]) == failed
}

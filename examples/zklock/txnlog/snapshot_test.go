package txnlog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"hash/adler32"
	"slices"
)

// A snapNode is a node of a snapshot. An owner of 0 makes it persistent.
type snapNode struct {
	path, data   string
	czxid, owner int64
}

// snapshotOf is a snapshot as releases since 3.6 write it: with a digest behind the checksum.
func snapshotOf(nodes ...snapNode) []byte {
	s := i64(i32([]byte("ZKSN"), 2), -1)
	s = i32(i64(i32(s, 1), 7), 30000) // one session
	s = world(i64(i32(s, 1), 1))      // one ACL
	for _, n := range append([]snapNode{{}}, nodes...) {
		s = text(text(s, n.path), n.data)
		s = i64(i64(i64(s, 1), n.czxid), n.czxid)
		s = i64(i64(s, 1_700_000_000_000+n.czxid), 1_700_000_000_000)
		s = i64(i32(i32(i32(s, 0), 0), 0), n.owner)
		s = i64(s, n.czxid)
	}
	s = text(s, "/")
	s = text(i64(s, int64(adler32.Checksum(s))), "/")
	s = text(i32(i64(s, 9), 2), "1234")
	return text(i64(s, int64(adler32.Checksum(s))), "/")
}

func zipped(content []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(content)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // it is in memory
	}
	return packed.Bytes()
}

// snapped is what snappy may compress to: literal bytes alone.
func snapped(content []byte) []byte {
	file := i32(i32([]byte("\x82SNAPPY\x00"), 1), 1)
	for block := range slices.Chunk(content, 100) {
		file = i32(file, int32(len(block)+3))
		file = append(append(file, byte(len(block)), 60<<2, byte(len(block)-1)), block...)
	}
	return file
}

package txnlog

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"io"
	"math"
	"strings"
	"time"
)

const (
	snapshotMagic = "ZKSN"
	// mostData is how much of a node's data a snapshot gives.
	mostData = 4 << 10
	// longestPath is beyond what fits into a request.
	longestPath = 4 << 20
)

// A node is what a snapshot has of one.
type node struct {
	path  string
	data  []byte
	owner int64
	czxid int64
	ctime time.Time
}

// readSnapshot calls fn for each node in the scope, until fn returns an error. It fails unless the snapshot is whole
// and its checksum is right.
//
// A server writes a snapshot while it executes transactions: it is fuzzy. It has all transactions up to the zxid in its
// name, and may have any of the later ones.
func readSnapshot(name string, in scope, fn func(node) error) error {
	file, err := openRegular(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	var from io.Reader = file
	switch {
	case strings.HasSuffix(name, ".snappy"):
		if from, err = newSnappyReader(bufio.NewReader(file)); err != nil {
			return err
		}
	case strings.HasSuffix(name, ".gz"):
		if from, err = gzip.NewReader(bufio.NewReader(file)); err != nil {
			return err
		}
	}
	return parseSnapshot(from, in, fn)
}

// parseSnapshot reads a snapshot as releases from 3.4 to 3.9 write it: sessions, ACLs, nodes, a checksum. What follows,
// a digest and the last zxid, has checksums of its own and says nothing about nodes.
func parseSnapshot(from io.Reader, in scope, fn func(node) error) error {
	s := &snapshotInput{r: bufio.NewReaderSize(from, bufferSize), sum: adler32.New()}
	head := s.next(logHeader)
	if s.err == nil && string(head[:4]) != snapshotMagic {
		return fmt.Errorf("%q, want %q: not a snapshot", head[:4], snapshotMagic)
	}
	if got := binary.BigEndian.Uint32(head[4:]); s.err == nil && got != version {
		return fmt.Errorf("version %d of the format, want %d", got, version)
	}
	for n := s.int32(); n > 0 && s.err == nil; n-- {
		s.skip(8 + 4) // a session and its timeout
	}
	for n := s.int32(); n > 0 && s.err == nil; n-- {
		s.skip(8)
		for entries := s.int32(); entries > 0 && s.err == nil; entries-- {
			s.skip(4)
			s.skipBuffer() // the scheme
			s.skipBuffer() // the id
		}
	}
	for s.node(in, fn) {
	}
	want := uint64(s.sum.Sum32())
	if got := uint64(s.int64()); s.err == nil && got != want {
		s.err = fmt.Errorf("checksum %#x, want %#x", want, got)
	}
	if errors.Is(s.err, io.EOF) || errors.Is(s.err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("at offset %d: it is cut off", s.offset)
	}
	return s.err
}

// A snapshotInput reads a snapshot. After an error, everything is zero.
type snapshotInput struct {
	r      *bufio.Reader
	sum    hash.Hash32
	offset int64
	err    error
	long   []byte
}

// node reads a node, and reports whether another follows.
func (s *snapshotInput) node(in scope, fn func(node) error) bool {
	path := s.path()
	if s.err != nil || string(path) == "/" { // the root is called "", and this is the end
		return false
	}
	n := node{}
	wanted := in.has(path)
	if wanted {
		n.path = string(path)
	}
	size := s.int32()
	if wanted && size >= 0 {
		kept := min(size, mostData)
		n.data = append(make([]byte, 0, kept), s.next(int(kept))...)
		size -= kept
	}
	s.skip(int64(max(size, 0)))
	s.skip(8) // its ACL
	n.czxid = s.int64()
	s.skip(8) // mzxid
	n.ctime = time.UnixMilli(s.int64())
	s.skip(8 + 4 + 4 + 4) // mtime, versions
	n.owner = s.int64()
	s.skip(8) // pzxid
	if s.err != nil {
		return false
	}
	if n.owner == math.MinInt64 || n.owner>>56 == -1 { // a container's, a TTL node's
		n.owner = 0
	}
	if wanted && n.path != "" {
		s.err = fn(n)
	}
	return s.err == nil
}

// path returns a text that is valid until the next read.
func (s *snapshotInput) path() []byte {
	size := s.int32()
	if s.err == nil && (size < 0 || size > longestPath) {
		s.err = fmt.Errorf("at offset %d: impossible length %d of a path", s.offset, size)
	}
	if s.err != nil {
		return nil
	}
	if int(size) <= bufferSize {
		return s.next(int(size))
	}
	s.long = s.long[:0]
	for len(s.long) < int(size) && s.err == nil {
		s.long = append(s.long, s.next(min(int(size)-len(s.long), bufferSize))...)
	}
	return s.long
}

// next returns at most bufferSize bytes, which are valid until the next read.
func (s *snapshotInput) next(n int) []byte {
	if s.err != nil {
		return make([]byte, n)
	}
	b, err := s.r.Peek(n)
	if err != nil {
		s.err = err
		return make([]byte, n)
	}
	_, _ = s.r.Discard(n) // they are buffered
	_, _ = s.sum.Write(b) // it never fails
	s.offset += int64(n)
	return b
}

func (s *snapshotInput) skip(n int64) {
	for n > 0 && s.err == nil {
		n -= int64(len(s.next(int(min(n, bufferSize)))))
	}
}

func (s *snapshotInput) skipBuffer() { s.skip(int64(max(s.int32(), 0))) }

func (s *snapshotInput) int32() int32 { return int32(binary.BigEndian.Uint32(s.next(4))) }

func (s *snapshotInput) int64() int64 { return int64(binary.BigEndian.Uint64(s.next(8))) }

package txnlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// snappyMagic begins what SnappyOutputStream of snappy-java writes, as servers do for their snapshots: two versions
	// follow, then blocks, each behind its length.
	snappyMagic = "\x82SNAPPY\x00"
	// longestBlock is far beyond the 32 KB that servers compress at a time.
	longestBlock = 1 << 20
)

var errSnappy = errors.New("not what snappy compresses to")

// A snappyReader decompresses.
type snappyReader struct {
	r      io.Reader
	packed []byte
	block  []byte
	rest   []byte // the part of block that was not read yet
}

func newSnappyReader(r io.Reader) (io.Reader, error) {
	var head [len(snappyMagic) + 4 + 4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("%w: its head: %w", errSnappy, err)
	}
	if magic := string(head[:len(snappyMagic)]); magic != snappyMagic {
		return nil, fmt.Errorf("%w: it begins with %q, want %q", errSnappy, magic, snappyMagic)
	}
	return &snappyReader{r: r}, nil
}

func (s *snappyReader) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next reads a block.
func (s *snappyReader) next() error {
	var head [4]byte
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return err // io.EOF at the end
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > longestBlock {
		return fmt.Errorf("%w: a block of %d bytes", errSnappy, size)
	}
	if int(size) > cap(s.packed) {
		s.packed = make([]byte, size)
	}
	s.packed = s.packed[:size]
	if _, err := io.ReadFull(s.r, s.packed); err != nil {
		return fmt.Errorf("a block of %d bytes: %w", size, io.ErrUnexpectedEOF)
	}
	var err error
	s.block, err = unpack(s.block[:0], s.packed)
	s.rest = s.block
	return err
}

// unpack decompresses a block behind to. The length comes first. Then, by the lower bits of a byte each, follow literal
// bytes, or bytes to repeat: how many, and how far back they are.
func unpack(to, from []byte) ([]byte, error) {
	length, n := binary.Uvarint(from)
	if n <= 0 || length > longestBlock {
		return nil, errSnappy
	}
	from = from[n:]
	for len(from) > 0 {
		tag, upper := from[0]&3, int(from[0]>>2)
		more := [4]int{0, 1, 2, 4}[tag] // the bytes behind this one that belong to it
		if tag == 0 && upper >= 60 {
			more = upper - 59
		}
		if len(from) <= more {
			return nil, errSnappy
		}
		number := littleEndian(from[1 : 1+more])
		from = from[1+more:]
		size, back := uint64(upper)+1, number
		switch {
		case tag == 0 && more > 0:
			size = number + 1
		case tag == 1:
			size, back = uint64(upper&7)+4, uint64(upper>>3)<<8|number
		}
		switch {
		case uint64(len(to))+size > length:
			return nil, errSnappy
		case tag == 0 && size <= uint64(len(from)):
			to, from = append(to, from[:size]...), from[size:]
		case tag != 0 && back > 0 && back <= uint64(len(to)):
			for range size { // what is repeated may be shorter
				to = append(to, to[uint64(len(to))-back])
			}
		default:
			return nil, errSnappy
		}
	}
	if uint64(len(to)) != length {
		return nil, errSnappy
	}
	return to, nil
}

func littleEndian(b []byte) (n uint64) {
	for i, one := range b {
		n |= uint64(one) << (8 * i)
	}
	return n
}

package txnlog

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
)

const (
	magic     = "ZKLG"
	version   = 2
	logHeader = 16 // magic, version, database
	prefix    = 12 // a record begins with a checksum and its length
	// longest is far beyond what servers take from clients, 1 MB unless jute.maxbuffer is raised. A greater length is
	// not that of a record, and must not make the rest of the log look like a record that was not finished.
	longest = 64 << 20
)

// scan calls fn for each transaction of a log, with the owners that the log itself names.
func scan(r io.Reader, fn func(Transaction) error) error {
	in := &input{r: bufio.NewReader(r)}
	if err := in.start(); err != nil {
		return ignoreEnd(err)
	}
	for {
		at := in.offset
		record, err := in.record()
		if err != nil {
			return ignoreEnd(err)
		}
		t, err := decode(record)
		if err != nil {
			return fmt.Errorf("record at offset %d: %w", at, err)
		}
		if err := fn(t); err != nil {
			return err
		}
	}
}

// errEnd says that no whole record follows.
var errEnd = errors.New("end of the log")

func ignoreEnd(err error) error {
	if errors.Is(err, errEnd) {
		return nil
	}
	return err
}

type input struct {
	r      *bufio.Reader
	offset int64
	buf    bytes.Buffer
}

// next returns n bytes, which are valid until the following call. It takes no more memory than there are bytes.
func (in *input) next(n int64) ([]byte, error) {
	in.buf.Reset()
	got, err := io.CopyN(&in.buf, in.r, n)
	in.offset += got
	switch {
	case errors.Is(err, io.EOF):
		return nil, errEnd
	case err != nil:
		return nil, fmt.Errorf("at offset %d: %w", in.offset, err)
	}
	return in.buf.Bytes(), nil
}

// start reads the header. A log without a whole one was begun by a server that was killed.
func (in *input) start() error {
	head, err := in.next(logHeader)
	if err != nil {
		return err
	}
	if string(head[:4]) != magic {
		return fmt.Errorf("at offset 0: %q, want %q: not a transaction log", head[:4], magic)
	}
	if got := binary.BigEndian.Uint32(head[4:]); got != version {
		return fmt.Errorf("at offset 4: version %d of the format, want %d", got, version)
	}
	return nil
}

// record returns the next record, or errEnd if only zeros or a record that was not finished follow.
func (in *input) record() ([]byte, error) {
	at := in.offset
	head, err := in.next(prefix)
	if err != nil {
		return nil, err
	}
	sum, size := binary.BigEndian.Uint64(head), int64(int32(binary.BigEndian.Uint32(head[8:])))
	switch {
	case size == 0: // servers allocate the log ahead, as zeros
		return nil, errEnd
	case size < 0 || size > longest:
		return nil, fmt.Errorf("record at offset %d: impossible length %d", at, size)
	}
	body, err := in.next(size + 1)
	if err != nil {
		return nil, err
	}
	body, last := body[:size], body[size]
	switch {
	case last == 0: // the server was killed while it wrote this
		return nil, errEnd
	case last != 'B':
		return nil, fmt.Errorf("record at offset %d: it ends with %q, want 'B'", at, last)
	}
	if got := uint64(adler32.Checksum(body)); got != sum {
		return nil, fmt.Errorf("record at offset %d: checksum %#x, want %#x", at, got, sum)
	}
	return body, nil
}

package txnlog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"

	"github.com/gocurator/curator/framework/zktest"
)

const (
	magic     = "ZKLG"
	version   = 2
	logHeader = 16 // magic, version, database
	prefix    = 12 // a record begins with a checksum and its length
	// longest is far beyond what servers take from clients, 1 MB unless jute.maxbuffer is raised. A greater length is
	// not that of a record, and must not make the rest of the log look like a record that was not finished.
	longest = 64 << 20

	bufferSize = 128 << 10
)

// scan calls fn for each transaction of a log, with the owners that the log itself names.
func scan(r io.Reader, fn func(zktest.Transaction) error) error {
	in := newInput(r)
	if err := in.start(); err != nil {
		return ignoreEnd(err)
	}
	for {
		at := in.offset
		record, err := in.record()
		if err != nil {
			return ignoreEnd(err)
		}
		t, err := decode(record, all)
		if err != nil {
			return recordError(at, err)
		}
		own(&t)
		if err := fn(t); err != nil {
			return err
		}
	}
}

func recordError(at int64, err error) error { return fmt.Errorf("record at offset %d: %w", at, err) }

var (
	// errEnd says that no record follows.
	errEnd = errors.New("end of the log")
	// errTorn says that only a part of a record follows.
	errTorn = errors.New("it ends in the middle of a record")
	// errCut says so of a file that ends there as well. Servers allocate a log ahead, so zeros follow what they write.
	errCut = fmt.Errorf("%w, and the file ends there", errTorn)
	// errRecord says that a record is not what a server wrote. The next one may be whole.
	errRecord = errors.New("damaged")
)

func ignoreEnd(err error) error {
	if errors.Is(err, errEnd) || errors.Is(err, errTorn) {
		return nil
	}
	return err
}

type input struct {
	r      *bufio.Reader
	offset int64
	long   []byte // for what does not fit the buffer
}

func newInput(r io.Reader) *input { return &input{r: bufio.NewReaderSize(r, bufferSize)} }

// next returns n bytes, which are valid until the following call. It takes no more memory than there are bytes. Before
// the end of the log it returns what there is, and errEnd.
func (in *input) next(n int) (b []byte, err error) {
	if n <= bufferSize {
		b, err = in.r.Peek(n)
		_, _ = in.r.Discard(len(b)) // they are buffered
		in.offset += int64(len(b))
	} else {
		b, err = in.nextLong(n)
	}
	switch {
	case errors.Is(err, io.EOF):
		return b, errEnd
	case err != nil:
		return nil, fmt.Errorf("at offset %d: %w", in.offset, err)
	}
	return b, nil
}

func (in *input) nextLong(n int) ([]byte, error) {
	in.long = in.long[:0]
	for len(in.long) < n {
		b, err := in.r.Peek(min(n-len(in.long), bufferSize))
		in.long = append(in.long, b...)
		_, _ = in.r.Discard(len(b)) // they are buffered
		in.offset += int64(len(b))
		if err != nil {
			return in.long, err
		}
	}
	return in.long, nil
}

// start reads the header. A log without a whole one was begun by a server that was killed, or is cut short.
func (in *input) start() error {
	head, err := in.next(logHeader)
	if errors.Is(err, errEnd) {
		return errCut
	}
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

// record returns the next record, which is valid until the following call. It returns errEnd if only zeros follow, and
// errTorn if a record follows that was not finished: errCut if the file ends in it. After errRecord the next call reads
// the next record.
func (in *input) record() ([]byte, error) {
	at := in.offset
	head, err := in.next(prefix)
	if err != nil {
		if errors.Is(err, errEnd) && len(head) > 0 { // the checksum has zeros, too
			err = errCut
		}
		return nil, err
	}
	sum, size := binary.BigEndian.Uint64(head), int(int32(binary.BigEndian.Uint32(head[8:])))
	switch {
	case size == 0 && !allZero(head):
		return nil, errTorn
	case size == 0: // servers allocate the log ahead, as zeros
		return nil, errEnd
	case size < 0 || size > longest:
		return nil, recordError(at, fmt.Errorf("impossible length %d", size))
	}
	body, err := in.next(size + 1)
	if errors.Is(err, errEnd) {
		return nil, errCut
	}
	if err != nil {
		return nil, err
	}
	body, last := body[:size], body[size]
	switch {
	case last == 0: // the server was killed while it wrote this
		return nil, errTorn
	case last != 'B':
		return nil, recordError(at, fmt.Errorf("it ends with %q, want 'B'", last))
	}
	if got := uint64(adler32.Checksum(body)); got != sum {
		return nil, recordError(at, fmt.Errorf("%w: checksum %#x, want %#x", errRecord, got, sum))
	}
	return body, nil
}

func allZero(all []byte) bool {
	for _, b := range all {
		if b != 0 {
			return false
		}
	}
	return true
}

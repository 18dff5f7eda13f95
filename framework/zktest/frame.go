package zktest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

var errFrameSize = errors.New("zktest: impossible frame length")

// frameReader cuts a byte stream into frames. Its buffer is reused: a frame
// is valid until the next one is read.
type frameReader struct {
	r   *bufio.Reader
	max int
	buf []byte
}

// keepFrame is the largest buffer that is kept between frames: an idle
// connection should cost little after one large request.
const keepFrame = 4 << 10

// grain bounds how far the buffer grows ahead of bytes that really came, so
// that a lying length costs the sender more than it costs us.
const grain = 64 << 10

func (f *frameReader) next() ([]byte, error) {
	head, err := f.head()
	if err != nil {
		return nil, err
	}
	return f.body(head)
}

func (f *frameReader) head() (head [4]byte, err error) {
	for i := range head {
		if head[i], err = f.r.ReadByte(); err != nil {
			return head, err
		}
	}
	return head, nil
}

func (f *frameReader) body(head [4]byte) ([]byte, error) {
	n := int(int32(binary.BigEndian.Uint32(head[:])))
	if n < 0 || n > f.max {
		return nil, errFrameSize
	}
	if cap(f.buf) > keepFrame {
		f.buf = nil
	}
	f.buf = f.buf[:0]
	for len(f.buf) < n {
		have := len(f.buf)
		step := min(n-have, grain)
		if cap(f.buf) < have+step {
			grown := make([]byte, have, min(n, max(256, 2*(have+step))))
			copy(grown, f.buf)
			f.buf = grown
		}
		f.buf = f.buf[:have+step]
		if _, err := io.ReadFull(f.r, f.buf[have:]); err != nil {
			return nil, err
		}
	}
	return f.buf, nil
}

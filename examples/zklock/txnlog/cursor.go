package txnlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// mostDamaged is how many damaged records of one file are noted, before its rest is passed over.
const mostDamaged = 8

// headSize is how many bytes of a record say which transaction it is.
const headSize = 8 + 4 + 8 + 8 + 4

// A cursor stands on one record of one log.
type cursor struct {
	logFile
	server int
	voter  int  // see serverFiles
	newest bool // it is the last log of its server
	note   func(Note)
	// checkRest says that the zeros behind the last record are read as well: there could be more.
	checkRest bool

	file    *os.File
	in      *input
	damaged int
	record  []byte // valid until the next move
	at      int64  // its offset
}

// zxid is that of the record.
func (c *cursor) zxid() int64 { return int64(binary.BigEndian.Uint64(c.record[12:])) }

// time is that of the record.
func (c *cursor) time() time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(c.record[20:])))
}

// head is what is the same in the logs of all servers. Behind a body, some releases write a digest.
func (c *cursor) head() [headSize]byte { return [headSize]byte(c.record) }

// open goes to the first record whose zxid is greater than past, and reports whether there is one.
func (c *cursor) open(past int64, late func(*cursor)) bool {
	file, err := openRegular(c.name)
	if err != nil {
		return c.end(err)
	}
	c.file, c.in = file, newInput(file)
	if err := c.in.start(); err != nil {
		return c.end(err)
	}
	return c.move(past, late)
}

// move goes to the next record whose zxid is greater than past, and reports whether there is one. Records before that
// are mostly there a second time: a server that gets its leader's transactions again writes them again. For these it
// calls late.
func (c *cursor) move(past int64, late func(*cursor)) bool {
	for {
		var err error
		c.at = c.in.offset
		c.record, err = c.in.record()
		if err == nil {
			err = c.check()
		}
		switch {
		case err == nil && c.zxid() > past:
			return true
		case err == nil:
			late(c)
		case errors.Is(err, errRecord) && c.damaged < mostDamaged:
			c.damage(err)
		default:
			return c.end(err)
		}
	}
}

// check refuses a record that is whole, and that no server writes.
func (c *cursor) check() error {
	switch {
	case len(c.record) < headSize:
		return recordError(c.at, fmt.Errorf("%w: %w", errRecord, errShort))
	case c.zxid() < 0:
		return recordError(c.at, fmt.Errorf("%w: zxid %#x", errRecord, uint64(c.zxid())))
	}
	return nil
}

// decode reads the record; ok is false if it is damaged.
func (c *cursor) decode(in scope) (t zktest.Transaction, ok bool) {
	t, err := decode(c.record, in)
	if err != nil {
		c.damage(recordError(c.at, err))
	}
	return t, err == nil
}

func (c *cursor) damage(err error) {
	c.damaged++
	c.note(Note{Kind: Damaged, File: c.name, Offset: c.at, Err: err})
}

// end closes the file, and notes why it is not read further.
func (c *cursor) end(err error) bool {
	defer c.close()
	switch rest := c.checkRest && c.hasRest(err); {
	case errors.Is(err, errCut) && !c.newest && !rest:
		c.note(Note{Kind: CutShort, File: c.name, Offset: c.at, Err: err})
	case errors.Is(err, errTorn) && !rest:
		c.note(Note{Kind: Torn, File: c.name, Offset: c.at, Err: err})
	case rest:
		c.note(Note{Kind: Damaged, File: c.name, Offset: c.at, Err: recordError(c.at, errRest), Rest: true})
	case errors.Is(err, errEnd):
	default:
		c.note(Note{Kind: Damaged, File: c.name, Offset: c.at, Err: err, Rest: c.file != nil})
	}
	return false
}

// errRest says that the log seems to end, and does not.
var errRest = errors.New("no record, and more behind it")

// hasRest reports whether more than zeros follow what looks like the end of the log. A server writes on meanwhile, but
// from the end: if a record is there now, the log has ended.
func (c *cursor) hasRest(err error) bool {
	if c.file == nil || !errors.Is(err, errEnd) && !errors.Is(err, errTorn) {
		return false
	}
	for err = nil; err == nil; {
		var b []byte
		b, err = c.in.next(bufferSize)
		if !allZero(b) {
			return !c.isWritten()
		}
	}
	return false
}

// isWritten reports whether a record is there now.
func (c *cursor) isWritten() bool {
	if _, err := c.file.Seek(c.at, io.SeekStart); err != nil {
		return false
	}
	in := newInput(c.file)
	if c.at == 0 {
		return in.start() == nil
	}
	_, err := in.record()
	return err == nil
}

func (c *cursor) close() {
	if c.file != nil {
		_ = c.file.Close() // it was only read
	}
	c.file, c.in, c.record = nil, nil, nil
}

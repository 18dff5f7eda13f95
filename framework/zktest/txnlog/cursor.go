package txnlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
)

// mostDamaged is how many damaged records of one file are noted, before its rest is passed over.
const mostDamaged = 8

// headSize is how many bytes of a record say which transaction it is.
const headSize = 8 + 4 + 8 + 8 + 4

// A cursor stands on one record of one log.
type cursor struct {
	logFile
	server int
	note   func(Note)

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
func (c *cursor) open(past int64) bool {
	file, err := os.Open(c.name)
	if err != nil {
		return c.end(err)
	}
	c.file, c.in = file, newInput(file)
	if err := c.in.start(); err != nil {
		return c.end(err)
	}
	return c.move(past)
}

// move goes to the next record whose zxid is greater than past, and reports whether there is one. Records before that
// are there a second time: a server that gets its leader's transactions again writes them again.
func (c *cursor) move(past int64) bool {
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
func (c *cursor) decode(in scope) (t Transaction, ok bool) {
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
	switch {
	case errors.Is(err, errEnd):
	case errors.Is(err, errTorn):
		c.note(Note{Kind: Torn, File: c.name, Offset: c.at, Err: err})
	default:
		c.damage(err)
	}
	c.close()
	return false
}

func (c *cursor) close() {
	if c.file != nil {
		_ = c.file.Close() // it was only read
	}
	c.file, c.in, c.record = nil, nil, nil
}

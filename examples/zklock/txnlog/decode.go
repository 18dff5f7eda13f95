package txnlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// The types of transactions in logs, by ZooDefs.OpCode.
const (
	typeCreate          = 1
	typeDelete          = 2
	typeSetData         = 5
	typeSetACL          = 7
	typeMulti           = 14
	typeCreate2         = 15
	typeReconfig        = 16
	typeCreateContainer = 19
	typeDeleteContainer = 20
	typeCreateTTL       = 21
	typeError           = -1
	typeCloseSession    = -11
)

var errShort = errors.New("it is cut off")

// decode reads one record: the header, the body by its type, and behind that a digest of the tree, which it skips. Of
// nodes that are not in the scope it reads no more than the paths, and takes no memory for them. The data of changes
// lies in the record: see own.
func decode(record []byte, in scope) (t zktest.Transaction, err error) {
	f := &fields{rest: record}
	t.Session, t.Request, t.Zxid = f.int64(), f.int32(), f.int64()
	t.At = time.UnixMilli(f.int64())
	kind := f.int32()
	if f.short {
		return t, errShort
	}
	switch kind {
	case typeMulti:
		err = decodeMulti(&t, f, in)
	case typeCloseSession:
		t.EndsSession = true
		decodeDeleted(&t, f.rest, in)
	default:
		decodePart(&t, kind, f, in)
	}
	if f.short {
		err = errShort
	}
	if err != nil {
		return t, fmt.Errorf("transaction %#x of type %d: %w", t.Zxid, kind, err)
	}
	return t, nil
}

// own copies the data of changes, which is valid no longer than the record.
func own(t *zktest.Transaction) {
	for i := range t.Changes {
		t.Changes[i].Data = bytes.Clone(t.Changes[i].Data)
	}
}

// decodeMulti reads the parts, each of which has a buffer of its own. A part that was refused refuses all.
func decodeMulti(t *zktest.Transaction, f *fields, in scope) error {
	for n := f.int32(); n > 0 && !f.short; n-- {
		kind := f.int32()
		part := &fields{rest: f.view()}
		if kind == typeMulti || kind == typeCloseSession { // no server writes them, and a multi could go on for ever
			return fmt.Errorf("a part of type %d", kind)
		}
		decodePart(t, kind, part, in)
		if part.short {
			return fmt.Errorf("a part of type %d: %w", kind, errShort)
		}
	}
	if t.Failed {
		t.Changes = nil
	}
	return nil
}

// decodePart reads what stands alone or in a multi. Types that change no node are skipped, and so are unknown ones: the
// transaction stays, since the zxid and the request may be all that the reader wants.
func decodePart(t *zktest.Transaction, kind int32, f *fields, in scope) {
	var change zktest.ChangeKind
	switch kind {
	case typeCreate, typeCreate2, typeCreateContainer, typeCreateTTL:
		change = zktest.Created
	case typeDelete, typeDeleteContainer:
		change = zktest.Deleted
	case typeSetData, typeReconfig: // a new configuration is the data of a node
		change = zktest.DataSet
	case typeSetACL:
		change = zktest.ACLSet
	case typeError:
		t.Failed = true
		return
	default:
		return
	}
	path := f.view()
	if !in.has(path) {
		return
	}
	c := zktest.Change{Kind: change, Path: string(path)}
	if change == zktest.Created || change == zktest.DataSet {
		c.Data = f.view()
	}
	if change == zktest.Created || change == zktest.ACLSet {
		f.skipACL()
	}
	if (kind == typeCreate || kind == typeCreate2) && f.bool() {
		c.Owner = t.Session
	}
	t.Changes = append(t.Changes, c)
}

// decodeDeleted reads the list of nodes that go with a session, which servers write since 3.6 unless they are
// configured not to. A digest may stand in its place. Read as a list it would have two paths without a character.
func decodeDeleted(t *zktest.Transaction, body []byte, in scope) {
	f := &fields{rest: body}
	var deleted []zktest.Change
	for n := f.int32(); n > 0 && !f.short; n-- {
		path := f.view()
		if len(path) == 0 || path[0] != '/' {
			return
		}
		if in.has(path) {
			deleted = append(deleted, zktest.Change{Kind: zktest.Deleted, Path: string(path), Owner: t.Session})
		}
	}
	if !f.short {
		t.Changes = deleted
	}
}

// fields reads the fields of a record. Behind its end they are zero.
type fields struct {
	rest  []byte
	short bool // the record ended within a field
}

// zeros are what the fields behind the end are read from.
var zeros [8]byte

func (f *fields) next(n int) []byte {
	if n < 0 || n > len(f.rest) {
		f.rest, f.short = nil, true
		return zeros[:]
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

func (f *fields) bool() bool { return f.next(1)[0] != 0 }

func (f *fields) int32() int32 { return int32(binary.BigEndian.Uint32(f.next(4))) }

func (f *fields) int64() int64 { return int64(binary.BigEndian.Uint64(f.next(8))) }

// view returns a buffer within the record; nil if it is absent, which a length of -1 says.
func (f *fields) view() []byte {
	n := int(f.int32())
	if n == -1 || f.short {
		return nil
	}
	b := f.next(n)
	if f.short {
		return nil
	}
	return b
}

// skipACL skips a list of permissions, schemes and ids.
func (f *fields) skipACL() {
	for n := f.int32(); n > 0 && !f.short; n-- {
		_, _, _ = f.int32(), f.view(), f.view()
	}
}

package transport

import (
	"encoding/binary"
	"errors"

	"github.com/go-zookeeper/zk"
)

// Operation codes of the ZooKeeper protocol (org.apache.zookeeper.ZooDefs.OpCode).
const (
	opCreate          = 1
	opDelete          = 2
	opExists          = 3
	opGetData         = 4
	opSetData         = 5
	opGetACL          = 6
	opSetACL          = 7
	opSync            = 9
	opPing            = 11
	opGetChildren2    = 12
	opCheck           = 13
	opMulti           = 14
	opCreate2         = 15
	opRemoveWatches   = 18
	opCreateContainer = 19
	opCreateTTL       = 21
	opSetAuth         = 100
	opSetWatches      = 101
	opSASL            = 102
	opAddWatch        = 106
	opClose           = -11
)

// Transaction ids with a meaning of their own, and the range from which this package numbers its calls. go-zookeeper
// counts its own up from 1.
const (
	xidEvent  = -1
	xidPing   = -2
	xidAuth   = -4
	xidFirst  = 0x60000000
	xidLast   = 0x7fffffff
	headerLen = 16 // an answer's header: xid, zxid, error code
)

// errGarbage says that what arrived is not the ZooKeeper protocol.
var errGarbage = errors.New("garbled answer: not the ZooKeeper protocol")

// encoder appends jute records: big-endian integers, strings and buffers with their length in front.
type encoder []byte

func (e *encoder) int32(v int32)   { *e = binary.BigEndian.AppendUint32(*e, uint32(v)) }
func (e *encoder) int64(v int64)   { *e = binary.BigEndian.AppendUint64(*e, uint64(v)) }
func (e *encoder) string(s string) { e.int32(int32(len(s))); *e = append(*e, s...) }
func (e *encoder) bytes(b []byte)  { e.int32(int32(len(b))); *e = append(*e, b...) }

func (e *encoder) bool(b bool) {
	if b {
		*e = append(*e, 1)
	} else {
		*e = append(*e, 0)
	}
}

func (e *encoder) acl(acl []zk.ACL) {
	e.int32(int32(len(acl)))
	for _, a := range acl {
		e.int32(a.Perms)
		e.string(a.Scheme)
		e.string(a.ID)
	}
}

// decoder reads jute records. After a read past the end it returns zero values, and err says so.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.fail(garbage("a field of %d bytes where %d are left", n, len(d.rest)))
		return nil
	}
	taken := d.rest[:n:n]
	d.rest = d.rest[n:]
	return taken
}

// fail keeps the first error.
func (d *decoder) fail(err error) {
	d.rest = nil
	if d.err == nil {
		d.err = err
	}
}

// end returns what was wrong with a record, of which nothing may be left.
func (d *decoder) end() error {
	if d.err == nil && len(d.rest) > 0 {
		d.fail(garbage("%d bytes behind the end of an answer", len(d.rest)))
	}
	return d.err
}

func (d *decoder) int32() int32 {
	if b := d.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (d *decoder) int64() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// view returns a part of the frame, which is overwritten by the next one; nil for a null buffer (length -1).
func (d *decoder) view() []byte {
	n := d.int32()
	if n == -1 {
		return nil
	}
	return d.take(int(n))
}

// bytes returns a copy; a null buffer (length -1) comes back as nil.
func (d *decoder) bytes() []byte {
	b := d.view()
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

func (d *decoder) string() string { return string(d.view()) }

// count reads the length of a vector whose items have at least size bytes each. Null (-1) is empty. Nothing may be
// allocated by a length that cannot be true.
func (d *decoder) count(size int) int {
	n := int(d.int32())
	if n < -1 || n > len(d.rest)/size {
		d.fail(garbage("a list of %d items in %d bytes", n, len(d.rest)))
		return 0
	}
	return max(n, 0)
}

func (d *decoder) strings() []string {
	n := d.count(4)
	if n == 0 {
		return nil
	}
	all := make([]string, n)
	text := string(d.rest) // one for all of them: a listing would otherwise be as many allocations as it has names
	for i := range all {
		size := int(d.int32())
		if size == -1 {
			continue // a null string is empty
		}
		begin := len(text) - len(d.rest)
		all[i] = text[begin : begin+len(d.take(size))]
	}
	return all
}

func (d *decoder) bool() bool {
	b := d.take(1)
	return b != nil && b[0] != 0
}

func (d *decoder) acl() []zk.ACL {
	n := d.count(12)
	if n == 0 {
		return nil
	}
	acl := make([]zk.ACL, 0, n)
	for range n {
		acl = append(acl, zk.ACL{Perms: d.int32(), Scheme: d.string(), ID: d.string()})
	}
	return acl
}

func (d *decoder) stat() *zk.Stat {
	return &zk.Stat{
		Czxid: d.int64(), Mzxid: d.int64(), Ctime: d.int64(), Mtime: d.int64(),
		Version: d.int32(), Cversion: d.int32(), Aversion: d.int32(),
		EphemeralOwner: d.int64(), DataLength: d.int32(), NumChildren: d.int32(), Pzxid: d.int64(),
	}
}

package zktest

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder reads jute records. After the first truncated or impossible field
// bad is true and everything reads as zero, so callers check once at the end.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.b) {
		d.bad = true
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) bool() bool {
	p := d.take(1)
	return p != nil && p[0] != 0
}

func (d *decoder) int32() int32 {
	if p := d.take(4); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

func (d *decoder) int64() int64 {
	if p := d.take(8); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

// bytes returns a slice of the frame; nil stands for the protocol's null.
func (d *decoder) bytes() []byte {
	n := d.int32()
	if d.bad || n == -1 {
		return nil
	}
	return d.take(int(n))
}

func (d *decoder) string() string { return string(d.bytes()) }

// path is a string that must not be null: the real server stumbles over one.
func (d *decoder) path() string {
	b := d.bytes()
	if b == nil {
		d.bad = true
	}
	return string(b)
}

// count reads the length of a vector whose items take at least size bytes
// each; null is negative. A count that the rest of the frame cannot hold is refused before
// anything is allocated for it.
func (d *decoder) count(size int) int {
	n := int(d.int32())
	if d.bad || n == -1 {
		return n
	}
	if n < 0 || n > len(d.b)/size {
		d.bad = true
		return 0
	}
	return n
}

// strings takes a null list for an error, as the real server does.
func (d *decoder) strings() []string {
	n := d.count(4)
	if n <= 0 {
		d.bad = d.bad || n < 0
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.string())
	}
	return list
}

func (d *decoder) acl() []aclEntry {
	n := d.count(12)
	if n <= 0 {
		return nil
	}
	list := make([]aclEntry, 0, n)
	for range n {
		perms, scheme, id := d.int32(), d.string(), d.string()
		list = append(list, aclEntry{perms: perms, id: identity{scheme, id}})
	}
	return list
}

// encoder appends jute records.
type encoder struct{ b []byte }

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
		return
	}
	e.b = append(e.b, 0)
}

func (e *encoder) int32(v int32) { e.b = binary.BigEndian.AppendUint32(e.b, uint32(v)) }

func (e *encoder) int64(v int64) { e.b = binary.BigEndian.AppendUint64(e.b, uint64(v)) }

// string writes text as Java sees it: bytes that are no UTF-8 have become
// U+FFFD, and what is outside the basic plane leaves as two surrogates of three
// bytes each.
func (e *encoder) string(v string) {
	if strings.IndexFunc(v, func(r rune) bool { return r == utf8.RuneError || r > 0xffff }) >= 0 {
		v = javaText(v)
	}
	e.int32(int32(len(v)))
	e.b = append(e.b, v...)
}

func javaText(v string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(v)) {
		if utf16.IsSurrogate(rune(unit)) {
			b = append(b, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0xbf, 0x80|byte(unit)&0xbf)
			continue
		}
		b = utf8.AppendRune(b, rune(unit))
	}
	return string(b)
}

// bytes writes nil as the protocol's null.
func (e *encoder) bytes(v []byte) {
	if v == nil {
		e.int32(-1)
		return
	}
	e.int32(int32(len(v)))
	e.b = append(e.b, v...)
}

// strings never writes null: go-zookeeper would take it for 4294967295 items.
func (e *encoder) strings(list []string) {
	e.int32(int32(len(list)))
	for _, v := range list {
		e.string(v)
	}
}

func (e *encoder) acl(list []aclEntry) {
	e.int32(int32(len(list)))
	for _, a := range list {
		e.int32(a.perms)
		e.string(a.id.scheme)
		e.string(a.id.id)
	}
}

func (e *encoder) stat(s Stat) {
	e.int64(s.Czxid)
	e.int64(s.Mzxid)
	e.int64(s.Ctime)
	e.int64(s.Mtime)
	e.int32(s.Version)
	e.int32(s.Cversion)
	e.int32(s.Aversion)
	e.int64(s.EphemeralOwner)
	e.int32(s.DataLength)
	e.int32(s.NumChildren)
	e.int64(s.Pzxid)
}

// openReply starts a frame with room for its length and the reply header;
// sealReply fills them in once the outcome is known.
func (e *encoder) openReply() { e.b = append(e.b[:0], make([]byte, 20)...) }

// dropBody takes back what stands behind the reply header.
func (e *encoder) dropBody() { e.b = e.b[:20] }

func (e *encoder) sealReply(xid int32, zxid int64, err code) []byte {
	binary.BigEndian.PutUint32(e.b[0:], uint32(len(e.b)-4))
	binary.BigEndian.PutUint32(e.b[4:], uint32(xid))
	binary.BigEndian.PutUint64(e.b[8:], uint64(zxid))
	binary.BigEndian.PutUint32(e.b[16:], uint32(err))
	return e.b
}

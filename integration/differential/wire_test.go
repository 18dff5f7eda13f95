//go:build unix

package differential_test

import (
	"encoding/binary"
)

// The numbers of requests. They and the encoding are written down here once more so that a mistake in zktest is not
// made twice.
const (
	opCreate               int32 = 1
	opDelete               int32 = 2
	opExists               int32 = 3
	opGetData              int32 = 4
	opSetData              int32 = 5
	opGetACL               int32 = 6
	opSetACL               int32 = 7
	opGetChildren          int32 = 8
	opSync                 int32 = 9
	opPing                 int32 = 11
	opGetChildren2         int32 = 12
	opCheck                int32 = 13
	opMulti                int32 = 14
	opCreate2              int32 = 15
	opReconfig             int32 = 16
	opCheckWatches         int32 = 17
	opRemoveWatches        int32 = 18
	opCreateContainer      int32 = 19
	opDeleteContainer      int32 = 20
	opCreateTTL            int32 = 21
	opMultiRead            int32 = 22
	opAuth                 int32 = 100
	opSetWatches           int32 = 101
	opSASL                 int32 = 102
	opGetEphemerals        int32 = 103
	opGetAllChildrenNumber int32 = 104
	opSetWatches2          int32 = 105
	opAddWatch             int32 = 106
	opWhoAmI               int32 = 107
	opClose                int32 = -11
)

var opNames = map[int32]string{
	opCreate: "create", opDelete: "delete", opExists: "exists", opGetData: "getData", opSetData: "setData", opGetACL: "getACL",
	opSetACL: "setACL", opGetChildren: "getChildren", opSync: "sync", opPing: "ping", opGetChildren2: "getChildren2",
	opCheck: "check", opMulti: "multi", opCreate2: "create2", opReconfig: "reconfig", opCheckWatches: "checkWatches",
	opRemoveWatches: "removeWatches", opCreateContainer: "createContainer", opDeleteContainer: "deleteContainer",
	opCreateTTL: "createTTL", opMultiRead: "multiRead", opAuth: "auth", opSetWatches: "setWatches", opSASL: "sasl",
	opGetEphemerals: "getEphemerals", opGetAllChildrenNumber: "getAllChildrenNumber", opSetWatches2: "setWatches2",
	opAddWatch: "addWatch", opWhoAmI: "whoAmI", opClose: "closeSession",
}

type encoder struct{ b []byte }

func (e *encoder) int32(v int32) { e.b = binary.BigEndian.AppendUint32(e.b, uint32(v)) }
func (e *encoder) int64(v int64) { e.b = binary.BigEndian.AppendUint64(e.b, uint64(v)) }

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
		return
	}
	e.b = append(e.b, 0)
}

func (e *encoder) string(v string) {
	e.int32(int32(len(v)))
	e.b = append(e.b, v...)
}

// null is data that is null rather than empty.
const null = "\x00null"

func (e *encoder) data(v string) {
	if v == null {
		e.int32(-1)
		return
	}
	e.string(v)
}

func (e *encoder) strings(list []string) {
	e.int32(int32(len(list)))
	for _, v := range list {
		e.string(v)
	}
}

// frame is what goes over the wire.
func (e *encoder) frame() []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(e.b))), e.b...)
}

// decoder reads records; once something is missing, bad is true and all reads as zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.b) {
		d.bad = true
		return make([]byte, 8)
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) bool() bool   { return d.take(1)[0] != 0 }
func (d *decoder) int32() int32 { return int32(binary.BigEndian.Uint32(d.take(4))) }
func (d *decoder) int64() int64 { return int64(binary.BigEndian.Uint64(d.take(8))) }

func (d *decoder) data() string {
	n := d.int32()
	if n == -1 {
		return null
	}
	return string(d.take(int(n)))
}

func (d *decoder) strings() (list []string) {
	n := d.int32()
	if n < 0 {
		return []string{null}
	}
	for range n {
		if d.bad {
			break
		}
		list = append(list, d.data())
	}
	return list
}

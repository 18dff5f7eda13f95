package malformtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A Malformation is one way to spoil a frame. Each case calls Spoil once, since some malformations remember a frame.
type Malformation struct {
	Name  string
	Spoil func() func(frame []byte) []byte
	Pairs bool // it takes the next frame, too, of whatever kind
	// Number says that one number is wrong that is no error code: a client refuses the answer as it does one that is
	// cut, or never looks at the number.
	Number bool
	// Variant says that another malformation gives the same number another wrong value.
	Variant bool
}

func stateless(name string, spoil func(frame []byte) []byte) Malformation {
	return Malformation{Name: name, Spoil: func() func([]byte) []byte {
		return func(frame []byte) []byte { return WithLength(spoil(slices.Clone(frame))) }
	}}
}

// Put writes a number of 1, 4 or 8 bytes, if the frame is long enough. A negative place counts from the end.
func Put(frame []byte, at, size int, value int64) []byte {
	if at < 0 {
		at += len(frame)
	}
	switch {
	case at < 0 || at+size > len(frame):
	case size == 1:
		frame[at] = byte(value)
	case size == 4:
		binary.BigEndian.PutUint32(frame[at:], uint32(value))
	default:
		binary.BigEndian.PutUint64(frame[at:], uint64(value))
	}
	return frame
}

type field struct {
	name     string
	at, size int
	values   []int64
}

var (
	headerFields = []field{
		{"xid", 0, 4, []int64{0, 1, -1, -2, -4, math.MaxInt32, math.MinInt32}},
		{"zxid", 4, 8, []int64{0, -2, 1000, 1 << 62, math.MaxInt64, math.MinInt64}},
		{"code", 12, 4, []int64{1, math.MaxInt32, math.MinInt32, -1, -4, -7, -112, -118, -122, -127, -999}},
	}
	statFields = []field{
		{"czxid", -68, 8, []int64{0, -1, math.MaxInt64}},
		{"mzxid", -60, 8, []int64{0, -1, math.MaxInt64}},
		{"ctime", -52, 8, []int64{-1, math.MaxInt64}},
		{"version", -36, 4, []int64{-1, math.MaxInt32}},
		{"cversion", -32, 4, []int64{-1, math.MaxInt32, math.MinInt32}},
		{"owner", -24, 8, []int64{0, 1, -1}},
		{"data length", -16, 4, []int64{-1, 1, math.MaxInt32}},
		{"children", -12, 4, []int64{-1, 7, math.MaxInt32}},
		{"pzxid", -8, 8, []int64{-1, math.MaxInt64}},
	}
	handshakeFields = []field{
		{"version", 0, 4, []int64{-1, 1}},
		{"timeout", 4, 4, []int64{0, -1, 1, math.MaxInt32}},
		{"session", 8, 8, []int64{0, 1, -1}},
		{"password length", 16, 4, []int64{0, -1, -2, 17, math.MaxInt32}},
	}
	eventFields = []field{
		{"type", 16, 4, []int64{0, -1, 5, math.MaxInt32}},
		{"state", 20, 4, []int64{0, -112}},
	}
	multiFields = []field{ // the fields of the first part's result
		{"type", 16, 4, []int64{-2, 0, 3, 14, math.MaxInt32}},
		{"error", 21, 4, []int64{1, -1, -101, math.MinInt32}},
		{"path length", 25, 4, []int64{-2, 1 << 20, math.MaxInt32}},
	}
	firstLength = field{"first length", 16, 4, []int64{-2, 1 << 20, math.MaxInt32}}
)

func (f field) malformations() (all []Malformation) {
	for i, v := range f.values {
		m := stateless(fmt.Sprintf("%s is %d", f.name, v), func(b []byte) []byte {
			return Put(b, f.at, f.size, v)
		})
		m.Number = f.name != "code"
		m.Variant = m.Number && i > 0
		all = append(all, m)
	}
	return all
}

// ofFrames are malformations of whole frames.
func ofFrames() []Malformation {
	all := []Malformation{
		stateless("cut by one byte", func(b []byte) []byte { return b[:max(0, len(b)-1)] }),
		stateless("cut in half", func(b []byte) []byte { return b[:len(b)/2] }),
		stateless("empty", func([]byte) []byte { return nil }),
		stateless("header alone", func(b []byte) []byte { return b[:min(16, len(b))] }),
		stateless("one byte more", func(b []byte) []byte { return append(b, 0) }),
		stateless("many bytes more", func(b []byte) []byte { return append(b, bytes.Repeat([]byte{0xff}, 5000)...) }),
	}
	for _, length := range []int64{-1, 0, 3, math.MinInt32, math.MaxInt32} {
		all = append(all, Malformation{Name: fmt.Sprintf("length is %d", length), Spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return Put(WithLength(b), 0, 4, length) }
		}})
	}
	return append(all,
		Malformation{Name: "one byte longer than it says", Spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return Put(WithLength(b), 0, 4, int64(len(b)-1)) }
		}},
		Malformation{Name: "one byte shorter than it says", Spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return Put(WithLength(b), 0, 4, int64(len(b)+1)) }
		}},
		Malformation{Name: "twice", Spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return append(WithLength(b), WithLength(b)...) }
		}},
		Malformation{Name: "a thousand times", Spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return bytes.Repeat(WithLength(b), 1000) }
		}},
		Malformation{Name: "never", Spoil: func() func([]byte) []byte {
			return func([]byte) []byte { return nil }
		}},
		Malformation{Name: "behind the next one", Spoil: func() func([]byte) []byte {
			var kept []byte
			return func(b []byte) []byte {
				if kept == nil {
					kept = WithLength(b)
					return nil
				}
				both := append(WithLength(b), kept...)
				kept = nil
				return both
			}
		}, Pairs: true},
		Malformation{Name: "text", Spoil: func() func([]byte) []byte {
			return func([]byte) []byte { return []byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") }
		}},
	)
}

// Malformations are the ways to spoil a frame of a kind.
func Malformations(kind string) []Malformation {
	all := ofFrames()
	add := func(fields ...field) {
		for _, f := range fields {
			all = append(all, f.malformations()...)
		}
	}
	if kind == FrameHandshake {
		add(handshakeFields...)
		return all
	}
	add(headerFields...)
	switch kind {
	case FrameCreate:
		add(statFields...)
		add(firstLength)
		all = append(all, ofPaths(16)...)
	case FrameListing:
		add(statFields...)
		add(firstLength)
		all = append(all, ofListings()...)
	case FrameGet, FrameGetACL:
		add(statFields...)
		add(firstLength)
	case FrameExists, FrameSet, FrameSetACL:
		add(statFields...)
	case FrameMulti:
		add(multiFields...)
		all = append(all, ofPaths(25)...)
		all = append(all, ofTransactions()...)
	case FrameSASL:
		add(firstLength)
		all = append(all, ofTokens()...)
	case FrameSync:
		add(firstLength)
		all = append(all, ofPaths(16)...)
	case FrameEvent:
		add(eventFields...)
		all = append(all, ofPaths(24)...)
	}
	return all
}

package locks_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A malformation is one way to spoil a frame. spoil is made anew for each case, since some remember a frame.
type malformation struct {
	name  string
	spoil func() func(frame []byte) []byte
	pairs bool // it takes the next frame, too, of whatever kind
}

func stateless(name string, spoil func(frame []byte) []byte) malformation {
	return malformation{name: name, spoil: func() func([]byte) []byte {
		return func(frame []byte) []byte { return withLength(spoil(slices.Clone(frame))) }
	}}
}

// put writes a number of 4 or 8 bytes, if the frame is long enough. A negative place counts from the end.
func put(frame []byte, at, size int, value int64) []byte {
	if at < 0 {
		at += len(frame)
	}
	switch {
	case at < 0 || at+size > len(frame):
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
	firstLength = field{"first length", 16, 4, []int64{-2, 1 << 20, math.MaxInt32}}
)

func (f field) malformations() (all []malformation) {
	for _, v := range f.values {
		all = append(all, stateless(fmt.Sprintf("%s is %d", f.name, v), func(b []byte) []byte { return put(b, f.at, f.size, v) }))
	}
	return all
}

// ofFrames are malformations of whole frames.
func ofFrames() []malformation {
	all := []malformation{
		stateless("cut by one byte", func(b []byte) []byte { return b[:max(0, len(b)-1)] }),
		stateless("cut in half", func(b []byte) []byte { return b[:len(b)/2] }),
		stateless("empty", func([]byte) []byte { return nil }),
		stateless("header alone", func(b []byte) []byte { return b[:min(16, len(b))] }),
		stateless("one byte more", func(b []byte) []byte { return append(b, 0) }),
		stateless("many bytes more", func(b []byte) []byte { return append(b, bytes.Repeat([]byte{0xff}, 5000)...) }),
	}
	for _, length := range []int64{-1, 0, 3, math.MinInt32, math.MaxInt32} {
		all = append(all, malformation{name: fmt.Sprintf("length is %d", length), spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return put(withLength(b), 0, 4, length) }
		}})
	}
	return append(all,
		malformation{name: "one byte longer than it says", spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return put(withLength(b), 0, 4, int64(len(b)-1)) }
		}},
		malformation{name: "one byte shorter than it says", spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return put(withLength(b), 0, 4, int64(len(b)+1)) }
		}},
		malformation{name: "twice", spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return append(withLength(b), withLength(b)...) }
		}},
		malformation{name: "a thousand times", spoil: func() func([]byte) []byte {
			return func(b []byte) []byte { return bytes.Repeat(withLength(b), 1000) }
		}},
		malformation{name: "never", spoil: func() func([]byte) []byte {
			return func([]byte) []byte { return nil }
		}},
		malformation{name: "behind the next one", spoil: func() func([]byte) []byte {
			var kept []byte
			return func(b []byte) []byte {
				if kept == nil {
					kept = withLength(b)
					return nil
				}
				both := append(withLength(b), kept...)
				kept = nil
				return both
			}
		}, pairs: true},
		malformation{name: "text", spoil: func() func([]byte) []byte {
			return func([]byte) []byte { return []byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") }
		}},
	)
}

// replaceFirst replaces the string that stands behind the header, in an event behind type and state.
func replaceFirst(at int, with func(old string) string) func(b []byte) []byte {
	return func(b []byte) []byte {
		if len(b) < at+4 {
			return b
		}
		n := int(binary.BigEndian.Uint32(b[at:]))
		if n < 0 || at+4+n > len(b) {
			return b
		}
		s := with(string(b[at+4 : at+4+n]))
		return slices.Concat(b[:at], binary.BigEndian.AppendUint32(nil, uint32(len(s))), []byte(s), b[at+4+n:])
	}
}

func ofPaths(at int) (all []malformation) {
	for name, with := range map[string]func(string) string{
		"path is empty":           func(string) string { return "" },
		"path has no slash":       func(string) string { return "x" },
		"path is the root":        func(string) string { return "/" },
		"path ends with a slash":  func(s string) string { return s + "/" },
		"path is another's":       func(string) string { return "/elsewhere/lock-0000000000" },
		"path has no number":      func(s string) string { return s[:max(0, len(s)-10)] },
		"path has a short number": func(s string) string { return s[:max(0, len(s)-1)] },
		"path has a long number":  func(s string) string { return s + "0" },
		"path has NUL":            func(s string) string { return s + "\x00" },
		"path has double slashes": func(s string) string { return "/" + s },
		"path is no UTF-8":        func(s string) string { return s + "\xff" },
		"path is long":            func(s string) string { return s + string(bytes.Repeat([]byte("x"), 100_000)) },
	} {
		all = append(all, stateless(name, replaceFirst(at, with)))
	}
	slices.SortFunc(all, func(a, b malformation) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	return all
}

// relist takes a listing apart and puts it together again with other names. The Stat counts them, if it is to agree.
func relist(agree bool, change func(names []string) []string) func(b []byte) []byte {
	return func(b []byte) []byte {
		if len(b) < 16+4+68 {
			return b
		}
		rest := b[20 : len(b)-68]
		var names []string
		for len(rest) >= 4 {
			n := int(binary.BigEndian.Uint32(rest))
			names, rest = append(names, string(rest[4:4+n])), rest[4+n:]
		}
		names = change(names)
		out := binary.BigEndian.AppendUint32(slices.Clone(b[:16]), uint32(len(names)))
		for _, name := range names {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(name))), name...)
		}
		out = append(out, b[len(b)-68:]...)
		if agree {
			put(out, -12, 4, int64(len(names)))
		}
		return out
	}
}

func ofListings() []malformation {
	return []malformation{
		stateless("without names", relist(true, func([]string) []string { return nil })),
		stateless("without names, but counted", relist(false, func([]string) []string { return nil })),
		stateless("every name twice", relist(true, func(names []string) []string { return append(names, names...) })),
		stateless("an empty name", relist(true, func(names []string) []string { return append(names, "") })),
		stateless("a name with a slash", relist(true, func(names []string) []string { return append(names, "a/b") })),
		stateless("names with slashes", relist(true, func(names []string) []string {
			for i := range names {
				names[i] = "/" + names[i]
			}
			return names
		})),
		stateless("a name with NUL", relist(true, func(names []string) []string { return append(names, "lock-\x000000000000") })),
		stateless("a name more than counted", relist(false, func(names []string) []string { return append(names, "lock-0000000000") })),
		stateless("strange numbers", relist(true, func(names []string) []string {
			return append(names, "lock-", "lock-99999999999999999999", "lock-+000000001", "lock--0000000000", "-", "lock-００００００００００")
		})),
	}
}

// malformations are the ways to spoil a frame of a kind.
func malformations(kind string) []malformation {
	all := ofFrames()
	add := func(fields ...field) {
		for _, f := range fields {
			all = append(all, f.malformations()...)
		}
	}
	if kind == frameHandshake {
		add(handshakeFields...)
		return all
	}
	add(headerFields...)
	switch kind {
	case frameCreate:
		add(statFields...)
		add(firstLength)
		all = append(all, ofPaths(16)...)
	case frameListing:
		add(statFields...)
		add(firstLength)
		all = append(all, ofListings()...)
	case frameGet:
		add(statFields...)
		add(firstLength)
	case frameSync:
		add(firstLength)
		all = append(all, ofPaths(16)...)
	case frameEvent:
		add(eventFields...)
		all = append(all, ofPaths(24)...)
	}
	return all
}

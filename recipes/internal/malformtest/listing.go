package malformtest

import (
	"bytes"
	"encoding/binary"
	"slices"
)

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

func ofPaths(at int) (all []Malformation) {
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
	slices.SortFunc(all, func(a, b Malformation) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return all
}

// Relist takes a listing apart and puts it together again with other names. The Stat counts them, if it is to agree.
func Relist(agree bool, change func(names []string) []string) func(b []byte) []byte {
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
			Put(out, -12, 4, int64(len(names)))
		}
		return out
	}
}

func ofListings() []Malformation {
	return []Malformation{
		stateless("without names", Relist(true, func([]string) []string { return nil })),
		stateless("without names, but counted", Relist(false, func([]string) []string { return nil })),
		stateless("every name twice", Relist(true, func(names []string) []string { return append(names, names...) })),
		stateless("an empty name", Relist(true, func(names []string) []string { return append(names, "") })),
		stateless("a name with a slash", Relist(true, func(names []string) []string { return append(names, "a/b") })),
		stateless("names with slashes", Relist(true, func(names []string) []string {
			for i := range names {
				names[i] = "/" + names[i]
			}
			return names
		})),
		stateless("a name with NUL", Relist(true, func(names []string) []string {
			return append(names, "lock-\x000000000000")
		})),
		stateless("a name more than counted", Relist(false, func(names []string) []string {
			return append(names, "lock-0000000000")
		})),
		stateless("strange numbers", Relist(true, func(names []string) []string {
			return append(names, "lock-", "lock-99999999999999999999", "lock-+000000001", "lock--0000000000", "-", "lock-００００００００００")
		})),
	}
}

package malformtest

import (
	"encoding/binary"
	"slices"
)

// Kinds of results in the answer to a transaction, in the protocol's numbers.
const (
	resultEnd    = -1 // also of a part that has failed
	resultCreate = 1
	resultDelete = 2
	resultSet    = 5
	resultCheck  = 13
)

// resultHeader is how long the header of a result is: type, whether it is the last, error.
const resultHeader = 4 + 1 + 4

// A result is what a transaction's answer says of one part, with its header.
type result []byte

// failed is the result of a part that failed with a code.
func failed(code int32) result {
	r := binary.BigEndian.AppendUint32(nil, uint32(0xffffffff))
	r = binary.BigEndian.AppendUint32(append(r, 0), uint32(code))
	return binary.BigEndian.AppendUint32(r, uint32(code))
}

// results takes the answer to a transaction apart, without the end.
func results(body []byte) (all []result) {
	for len(body) >= resultHeader && body[4] == 0 {
		n := resultHeader
		switch int32(binary.BigEndian.Uint32(body)) {
		case resultEnd:
			n += 4
		case resultCreate:
			n += 4 + int(binary.BigEndian.Uint32(body[resultHeader:]))
		case resultSet:
			n += 68
		case resultDelete, resultCheck:
		}
		all, body = append(all, body[:n:n]), body[n:]
	}
	return all
}

// redo takes the answer to a transaction apart and puts it together again with other results.
func redo(change func(all []result) []result) func(b []byte) []byte {
	return func(b []byte) []byte {
		if len(b) < 16+resultHeader {
			return b
		}
		end := b[len(b)-resultHeader:]
		all := change(results(b[16:]))
		return slices.Concat(b[:16], slices.Concat(all...), end)
	}
}

func ofTransactions() []Malformation {
	return []Malformation{
		stateless("without results", redo(func([]result) []result { return nil })),
		stateless("without the first result", redo(func(all []result) []result { return all[1:] })),
		stateless("without the last result", redo(func(all []result) []result { return all[:len(all)-1] })),
		stateless("every result twice", redo(func(all []result) []result { return append(all, all...) })),
		stateless("a thousand results more", redo(func(all []result) []result {
			return append(all, slices.Repeat([]result{all[0]}, 1000)...)
		})),
		stateless("results in reverse", redo(func(all []result) []result { slices.Reverse(all); return all })),
		stateless("one part failed alone", redo(func(all []result) []result { all[0] = failed(-101); return all })),
		stateless("all failed without a reason", redo(func(all []result) []result {
			for i := range all {
				all[i] = failed(0)
			}
			return all
		})),
		stateless("one more failed than there are", redo(func(all []result) []result {
			for i := range all {
				all[i] = failed(-101)
			}
			return append(all, failed(-101))
		})),
		stateless("the last is the end", func(b []byte) []byte { return Put(b, 20, 1, 1) }),
		stateless("without an end", func(b []byte) []byte { return b[:max(16, len(b)-resultHeader)] }),
		stateless("a Stat that cannot be", redo(func(all []result) []result {
			for _, r := range all {
				if r[3] == resultSet {
					Put(r, resultHeader, 8, -1) // its creation
				}
			}
			return all
		})),
	}
}

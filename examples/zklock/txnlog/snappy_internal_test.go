package txnlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pack compresses a block with each kind of element, chosen at random.
func pack(content []byte, random *rand.Rand) []byte {
	out := binary.AppendUvarint(nil, uint64(len(content)))
	literal := 0 // where the bytes begin that are not written yet
	flush := func(to int) {
		for literal < to {
			n := min(to-literal, 1+random.IntN(70_000))
			switch last := n - 1; {
			case last < 60:
				out = append(out, byte(last<<2))
			case last < 1<<8:
				out = append(out, 60<<2, byte(last))
			case last < 1<<16:
				out = append(out, 61<<2, byte(last), byte(last>>8))
			default:
				out = append(out, 62<<2, byte(last), byte(last>>8), byte(last>>16))
			}
			out = append(out, content[literal:literal+n]...)
			literal += n
		}
	}
	seen := map[[4]byte]int{}
	for i := 0; i+4 <= len(content); {
		key := [4]byte(content[i:])
		at, ok := seen[key]
		seen[key] = i
		if !ok {
			i++
			continue
		}
		n := 4
		for n < 64 && i+n < len(content) && content[at+n] == content[i+n] {
			n++
		}
		flush(i)
		switch back := i - at; {
		case n < 12 && back < 1<<11 && random.IntN(2) == 0:
			out = append(out, byte(back>>8<<5|(n-4)<<2|1), byte(back))
		case back < 1<<16 && random.IntN(2) == 0:
			out = append(out, byte((n-1)<<2|2), byte(back), byte(back>>8))
		default:
			out = binary.LittleEndian.AppendUint32(append(out, byte((n-1)<<2|3)), uint32(back))
		}
		i += n
		literal = i
	}
	flush(len(content))
	return out
}

func TestSnappyUnpacksWhatWasPacked(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, size := range []int{0, 1, 59, 60, 61, 255, 256, 257, 3000, 70_000, 200_000} {
		for letters := 1; letters <= 256; letters *= 4 {
			content := make([]byte, size)
			for i := range content {
				content[i] = byte(random.IntN(letters))
			}
			got, err := unpack(nil, pack(content, random))
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes of %d letters: got %d bytes and the error %v", size, letters, len(got), err)
			}
		}
	}
}

func TestSnappyRefusesWhatIsNotPacked(t *testing.T) {
	for name, block := range map[string][]byte{
		"nothing":                             {},
		"a length without an end":             {0x80, 0x80},
		"a great length":                      pack(make([]byte, longestBlock+1), rand.New(rand.NewPCG(1, 1))),
		"too little":                          {2, 0, 'a'},
		"too much":                            {1, 1 << 2, 'a', 'b'},
		"literal bytes that are missing":      {5, 4 << 2, 'a'},
		"a length that is missing":            {5, 61 << 2, 4},
		"a literal of 4 GB":                   {5, 63 << 2, 255, 255, 255, 255},
		"a distance that is missing":          {5, 0, 'a', 3<<2 | 2, 1},
		"a distance of 0":                     {5, 0, 'a', 1, 0},
		"a distance beyond the begin":         {5, 0, 'a', 1, 2},
		"a great distance":                    {5, 0, 'a', 3<<2 | 3, 255, 255, 255, 255},
		"a repetition beyond the length":      {4, 0, 'a', 1, 1},
		"a repetition before there are bytes": {4, 1, 1},
	} {
		if got, err := unpack(nil, block); !errors.Is(err, errSnappy) {
			t.Errorf("%s: got %.100q and the error %v, want %v", name, got, err, errSnappy)
		}
	}
	if got, err := unpack(nil, []byte{5, 0, 'a', 1, 1}); string(got) != "aaaaa" || err != nil {
		t.Errorf("a repetition of the last byte: got %q and the error %v", got, err)
	}
}

func TestSnappyReaderReadsBlocksAndNamesWhatIsWrong(t *testing.T) {
	head := snappyMagic + "\x00\x00\x00\x01\x00\x00\x00\x01"
	block := func(content string) string {
		packed := pack([]byte(content), rand.New(rand.NewPCG(1, 1)))
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(packed)))) + string(packed)
	}
	for name, test := range map[string]struct{ file, want, err string }{
		"two blocks":        {head + block("first, ") + block("") + block("second"), "first, second", ""},
		"no block":          {head, "", ""},
		"another file":      {strings.Repeat("x", 50), "", `it begins with "xxxxxxxx"`},
		"half a head":       {head[:10], "", "its head: unexpected EOF"},
		"half a length":     {head + block("first") + "\x00\x00", "first", "unexpected EOF"},
		"half a block":      {head + block("first") + block("second")[:7], "first", "a block of 8 bytes: unexpected EOF"},
		"a great block":     {head + block("first") + "\x7f\xff\xff\xff", "first", errSnappy.Error() + ": a block of 2147483647 bytes"},
		"a block of no use": {head + block("first") + "\x00\x00\x00\x01\x05", "first", errSnappy.Error()},
	} {
		var got []byte
		r, err := newSnappyReader(strings.NewReader(test.file))
		if err == nil {
			got, err = io.ReadAll(r)
		}
		if wrong := err == nil != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err); string(got) != test.want || wrong {
			t.Errorf("%s: got %.100q and the error %v, want %q and %q", name, got, err, test.want, test.err)
		}
	}
}

func FuzzSnappy(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 1))
	f.Add([]byte{5, 0, 'a', 1, 1})
	f.Add(pack(slices.Repeat([]byte("/locks/a/lock-0000000012"), 20), random))
	f.Fuzz(func(t *testing.T, block []byte) {
		if got, err := unpack(nil, block); len(got) > longestBlock || err != nil && got != nil {
			t.Errorf("got %d bytes and the error %v", len(got), err)
		}
		if got, err := unpack(nil, pack(block, random)); err != nil || !bytes.Equal(got, block) {
			t.Errorf("packed and unpacked: got %q and the error %v, want %q", got, err, block)
		}
	})
}

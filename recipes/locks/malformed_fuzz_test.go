package locks_test

import (
	"testing"

	"github.com/gocurator/curator/recipes/internal/malformtest"
)

// A script is what FuzzLocksOnASpoiledConnection does to frames: for each four bytes, how many frames pass first, what
// is done to the next one, where, and with which value.
type script struct {
	rest []byte
	pass int
	kept []byte // a frame that comes behind the next one
	// bodies says that a body was changed in a way that an answer of a server that lies could have been, too.
	bodies bool
}

// step returns what is delivered instead of a frame.
func (s *script) step(frame []byte) []byte {
	if s.kept != nil {
		both := append(malformtest.WithLength(frame), s.kept...)
		s.kept = nil
		return both
	}
	if len(s.rest) < 4 {
		return malformtest.WithLength(frame)
	}
	if s.pass < int(s.rest[0]%32) {
		s.pass++
		return malformtest.WithLength(frame)
	}
	what, at, value := s.rest[1], int(s.rest[2]), s.rest[3]
	s.rest, s.pass = s.rest[4:], 0
	switch what % 10 {
	case 0:
		return nil
	case 1:
		return append(malformtest.WithLength(frame), malformtest.WithLength(frame)...)
	case 2:
		s.kept = malformtest.WithLength(frame)
		return nil
	case 3:
		return malformtest.WithLength(frame[:min(at, len(frame))])
	case 4:
		return malformtest.WithLength(append(frame, make([]byte, at)...))
	case 5: // another length
		return malformtest.Put(malformtest.WithLength(frame), 0, 4, int64(int8(value))<<(at%32))
	case 6: // something between
		return append([]byte{0, 0, 0, value, byte(at)}, malformtest.WithLength(frame)...)
	case 7, 8: // one byte of the header
		if at %= 16; at < len(frame) {
			frame[at] ^= value
			s.bodies = s.bodies || at >= 12 // an error that is none
		}
	default: // one byte of the body
		if at = 16 + at%128; at < len(frame) {
			frame[at] ^= value
			s.bodies = true
		}
	}
	return malformtest.WithLength(frame)
}

// FuzzLocksOnASpoiledConnection has a client acquire, wait, hold and release while frames of its server are spoiled.
// Whatever they are: no panic, no hang past a context, no grant beside a holder unless a body was forged, and the lock
// again afterwards.
func FuzzLocksOnASpoiledConnection(f *testing.F) {
	for what := range byte(10) {
		f.Add([]byte{0, what, 0, 1})
		f.Add([]byte{2, what, 3, 0xff, 1, what, 16, 0x80, 4, what, 40, 1})
		f.Add([]byte{5, what, 12, 0x90, 0, (what + 1) % 10, 7, 0x80, 0, (what + 2) % 10, 90, 0x7f, 9, what, 20, 3})
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 400 {
			return
		}
		s := &script{rest: program}
		bad := mutexStory().PlayChange(t, mutexAlways, func(kind string, frame []byte) []byte {
			if kind == malformtest.FrameHandshake && len(s.rest) >= 4 && s.rest[1]%10 >= 7 {
				return malformtest.WithLength(frame) // another session's id, or timeout, is believed
			}
			return s.step(frame)
		})
		for outcome, why := range bad {
			if forged := s.bodies && outcome != malformtest.OutcomeHang; !forged {
				t.Errorf("%s: %s", outcome, why)
			}
		}
	})
}

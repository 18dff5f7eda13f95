package locks_test

import (
	"testing"

	"github.com/gocurator/curator/framework/zktest"
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
		both := append(withLength(frame), s.kept...)
		s.kept = nil
		return both
	}
	if len(s.rest) < 4 {
		return withLength(frame)
	}
	if s.pass < int(s.rest[0]%32) {
		s.pass++
		return withLength(frame)
	}
	what, at, value := s.rest[1], int(s.rest[2]), s.rest[3]
	s.rest, s.pass = s.rest[4:], 0
	switch what % 10 {
	case 0:
		return nil
	case 1:
		return append(withLength(frame), withLength(frame)...)
	case 2:
		s.kept = withLength(frame)
		return nil
	case 3:
		return withLength(frame[:min(at, len(frame))])
	case 4:
		return withLength(append(frame, make([]byte, at)...))
	case 5: // another length
		return put(withLength(frame), 0, 4, int64(int8(value))<<(at%32))
	case 6: // something between
		return append([]byte{0, 0, 0, value, byte(at)}, withLength(frame)...)
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
	return withLength(frame)
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
		run := spoilRun{when: always, spoilAll: func(kind string, frame []byte) []byte {
			if kind == frameHandshake && len(s.rest) >= 4 && s.rest[1]%10 >= 7 {
				return withLength(frame) // another session's id, or timeout, is believed
			}
			return s.step(frame)
		}}
		zktest.Bubble(t, run.play)
		for outcome, why := range run.outcomes {
			if forged := s.bodies && outcome != outcomeHang; !forged {
				t.Errorf("%s: %s", outcome, why)
			}
		}
	})
}

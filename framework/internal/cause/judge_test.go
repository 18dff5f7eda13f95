package cause_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
)

const timeout = 12 * time.Second

// A story is what happened to a client whose lease was proven at 3 s and ends at 15 s: at first all is well.
type story struct {
	*cause.Ring
	loss cause.Loss
}

func newStory() *story {
	s := &story{Ring: cause.New(began)}
	s.Begin(at(0))
	s.Try(at(0), "zk1", cause.Dialing)
	s.Try(at(0), "zk1", cause.Shaking)
	s.Attach(at(0), at(time.Millisecond), "zk1")
	s.renewal(3*time.Second, time.Millisecond)
	s.renewal(6*time.Second, time.Millisecond)
	s.loss = cause.Loss{At: int64(15 * time.Second), From: int64(3 * time.Second), Until: int64(15 * time.Second), Timeout: int64(timeout), Valid: true}
	return s
}

func (s *story) renewal(sent, took time.Duration) {
	s.Renew(at(sent), at(sent), "zk1")
	if took > 0 {
		s.Answer(at(sent), at(sent+took), "zk1")
	}
}

// left is a renewal that is given up.
func (s *story) left(sent, took time.Duration, heard bool) {
	s.renewal(sent, 0)
	var answered time.Time
	if heard { // pings, until it is left
		answered = at(sent + took)
	}
	s.GiveUp(at(sent+took), answered, "zk1")
	s.Detach(at(sent+took), time.Time{}, "zk1", cause.NotRenewed)
}

// slow is a server that answers a ping, but no renewal, and another that answers no handshake.
func (s *story) slow() {
	s.renewal(9*time.Second, 0)
	s.GiveUp(at(13*time.Second), at(9001*time.Millisecond), "zk1")
	s.Detach(at(13*time.Second), time.Time{}, "zk1", cause.NotRenewed)
	s.Try(at(13*time.Second), "zk2", cause.Shaking)
	s.Fail(at(14*time.Second), "zk2", cause.Silent)
}

func (s *story) fail(from, to time.Duration, server string, code cause.Code) {
	for ; from < to; from += time.Second {
		s.Try(at(from), server, cause.Dialing)
		s.Fail(at(from), server, code)
	}
}

// A failure is an attempt to connect.
type failure struct {
	server string
	code   cause.Code
}

// inTurn has attempts fail one after the other, twice a second.
func (s *story) inTurn(from, to time.Duration, failures ...failure) {
	for i := 0; from < to; i, from = i+1, from+time.Second/2 {
		f := failures[i%len(failures)]
		s.Fail(at(from), f.server, f.code)
	}
}

// silentFor is a server that takes the session, and then does not answer.
func (s *story) silentFor(from, lasts time.Duration, server string) {
	s.Attach(at(from), at(from), server)
	s.Renew(at(from), at(from), server)
	s.GiveUp(at(from+lasts), time.Time{}, server)
	s.Detach(at(from+lasts), time.Time{}, server, cause.NotRenewed)
}

func (s *story) judge() session.Explanation {
	s.End(at(time.Duration(s.loss.At)), s.loss.How)
	return cause.Judge(s.Record(s.Mark(), &s.loss), s.loss)
}

// A judged story is one with its judgement.
type judged struct {
	tell func(s *story)
	want session.LossKind
	says string
}

func TestJudgeNamesWhatTheTimeWasSpentOn(t *testing.T) {
	for _, some := range []map[string]judged{stories, mixtures} {
		for name, test := range some {
			t.Run(name, func(t *testing.T) {
				s := newStory()
				test.tell(s)
				got := s.judge()
				if got.Kind != test.want || !strings.Contains(got.Sentence, test.says) {
					t.Errorf("got %v: %s, want %v with %q\n\t%s", got.Kind, got.Sentence, test.want, test.says, strings.Join(got.Evidence, "\n\t"))
				}
				if len(got.Evidence) == 0 {
					t.Error("got no evidence, want some")
				}
			})
		}
	}
}

// The judge names a kind of the list in one line, whatever a ring has.
func FuzzJudge(f *testing.F) {
	f.Add([]byte{2, 1, 0, 3, 1, 2, 5, 7, 7, 9, 8}, uint8(0), int64(15e9), int64(3e9), int64(15e9), int64(12e9))
	f.Fuzz(func(t *testing.T, events []byte, how uint8, at, from, until, timeout int64) {
		rec := cause.Record{Servers: [16]string{"zk1", "zk2", "zk3"}, Cut: how&32 != 0}
		for i := 0; i+7 < len(events); i += 8 {
			b := events[i : i+8]
			rec.Events = append(rec.Events, cause.Event{
				At: int64(b[0]) * 1e8, A: (int64(b[1]) - 10) * 1e8, N: uint32(b[2]) | uint32(b[3])<<8, Times: b[2],
				Kind: cause.Kind(b[4]), Server: b[5], Code: cause.Code(b[6]),
			})
			rec.Trying = cause.Trying{Since: int64(b[0]) * 1e8, Server: b[5], Stage: cause.Stage(b[7]), Active: b[7]&2 != 0}
		}
		got := cause.Judge(rec, cause.Loss{How: cause.How(how), At: at, From: from, Until: until, Timeout: timeout, Valid: how&8 != 0, Heard: how&16 != 0})
		if int(got.Kind) >= len(session.LossKinds()) || got.Kind < 0 {
			t.Errorf("got kind %v, want one of the list", got.Kind)
		}
		if got.Sentence == "" || strings.ContainsAny(got.Sentence, "\r\n") {
			t.Errorf("got the sentence %q, want one line", got.Sentence)
		}
		if len(got.Evidence) > 32 {
			t.Errorf("got %d lines of evidence, want at most 32", len(got.Evidence))
		}
		for _, line := range got.Evidence {
			if !strings.HasPrefix(line, "-") || strings.ContainsAny(line, "\r\n") {
				t.Errorf("got the evidence %q, want one line with a time before the loss", line)
			}
		}
	})
}

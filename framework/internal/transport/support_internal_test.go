package transport

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/session"
)

func TestEvidenceOfHangUps(t *testing.T) {
	type event func(s *Support) *session.DisconnectError
	end := func(reason error, prompt, answered bool, waiting ...int32) event {
		return func(s *Support) *session.DisconnectError {
			return s.ended(ending{server: "a:2181", reason: reason, prompt: prompt, answered: answered, waiting: waiting})
		}
	}
	answer := func(op, code int32) event {
		return func(s *Support) *session.DisconnectError { s.answered(op, code, 100, "a:2181"); return nil }
	}
	times := func(n int, e event) []event { return slices.Repeat([]event{e}, n) }
	hangUp := func(waiting ...int32) event { return end(io.EOF, true, true, waiting...) }
	hangUpB := func(s *Support) *session.DisconnectError {
		return s.ended(ending{server: "b:2181", reason: io.EOF, prompt: true, answered: true, waiting: []int32{opCreate2}})
	}
	attach := func(server string) event {
		return func(s *Support) *session.DisconnectError { s.attached(server); return nil }
	}
	for name, test := range map[string]struct {
		events [][]event
		lacks  Feature // 0: none
		fails  bool    // the last event
	}{
		"three in a row":               {[][]event{times(3, hangUp(opCreate2))}, FeatureCreate2, false},
		"three resets in a row":        {[][]event{times(3, end(syscall.ECONNRESET, true, true, opCreate2))}, FeatureCreate2, false},
		"two in a row":                 {[][]event{times(2, hangUp(opCreate2))}, 0, false},
		"two and two":                  {[][]event{times(2, hangUp(opCreate2)), {answer(opCreate2, 0)}, times(2, hangUp(opCreate2))}, 0, false},
		"refused in between":           {[][]event{times(2, hangUp(opCreate2)), {answer(opCreate2, -101)}, times(2, hangUp(opCreate2))}, 0, false},
		"idle in between":              {[][]event{times(2, hangUp(opCreate2)), {hangUp()}, times(2, hangUp(opCreate2))}, 0, false},
		"another request in between":   {[][]event{times(2, hangUp(opCreate2)), {hangUp(opGetData)}, times(2, hangUp(opCreate2))}, 0, false},
		"another feature in between":   {[][]event{times(2, hangUp(opCreate2)), {hangUp(opRemoveWatches)}, {hangUp(opCreate2)}}, FeatureCreate2, false},
		"behind others, never known":   {[][]event{times(3, hangUp(opDelete, opRemoveWatches))}, FeatureRemoveWatches, false},
		"behind others, but known":     {[][]event{{answer(opRemoveWatches, 0)}, times(4, hangUp(opDelete, opRemoveWatches))}, 0, false},
		"worked, then five in a row":   {[][]event{{answer(opCreate2, 0)}, times(5, hangUp(opCreate2))}, 0, false},
		"worked, then six in a row":    {[][]event{{answer(opCreate2, 0)}, times(6, hangUp(opCreate2))}, FeatureCreate2, false},
		"worked, three and three":      {[][]event{{answer(opCreate2, 0)}, times(3, hangUp(opCreate2)), {answer(opCreate2, 0)}, times(3, hangUp(opCreate2))}, 0, false},
		"worked, then unimplemented":   {[][]event{{answer(opCreate2, 0), answer(opCreate2, codeUnimplemented)}}, FeatureCreate2, false},
		"worked, three at another":     {[][]event{{answer(opCreate2, 0)}, times(3, hangUpB), {attach("a:2181")}}, 0, false},
		"worked elsewhere, then there": {[][]event{{answer(opCreate2, 0)}, times(3, hangUpB), {attach("b:2181")}}, FeatureCreate2, false},
		"worked, lacking at another":   {[][]event{{answer(opCreate2, 0)}, times(3, hangUpB), {attach("c:2181")}}, 0, false},
		"never worked, at another":     {[][]event{times(3, hangUpB), {attach("c:2181")}}, FeatureCreate2, false},
		"after a while":                {[][]event{times(9, end(io.EOF, false, true, opCreate2))}, 0, false},
		"nothing else was answered":    {[][]event{times(9, end(io.EOF, true, false, opCreate2))}, 0, false},
		"one unanswered, then two":     {[][]event{{end(io.EOF, true, false, opCreate2)}, times(2, hangUp(opCreate2))}, FeatureCreate2, false},
		"one unanswered, then one":     {[][]event{times(5, end(io.EOF, true, false, opCreate2)), {hangUp(opCreate2)}}, 0, false},
		"by the client":                {[][]event{times(9, end(errClosing, true, true, opCreate2))}, 0, false},
		"a read that timed out":        {[][]event{times(9, end(os.ErrDeadlineExceeded, true, true, opCreate2))}, 0, false},
		"unimplemented":                {[][]event{{answer(opCreateContainer, codeUnimplemented)}}, FeatureContainers, false},
		"set watches, three":           {[][]event{times(3, hangUp(opSetWatches))}, FeatureSetWatches, false},
		"set watches, but known":       {[][]event{{answer(opSetWatches, 0)}, times(2, hangUp(opSetWatches))}, 0, false},
		"a needed request, five":       {[][]event{times(5, hangUp(opCreate))}, 0, true},
		"a needed request, six":        {[][]event{times(6, hangUp(opCreate))}, 0, true},
		"a needed request, four":       {[][]event{times(4, hangUp(opCreate))}, 0, false},
		"a needed request, then known": {[][]event{times(5, hangUp(opCreate)), {answer(opCreate, 0)}, {hangUp(opCreate)}}, 0, false},
		"create2, then create": {
			[][]event{times(3, hangUp(opCreate2)), times(5, hangUp(opCreate))}, FeatureCreate2, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSupport(slog.New(slog.DiscardHandler))
			s.attached("a:2181")
			var last *session.DisconnectError
			for _, e := range slices.Concat(test.events...) {
				last = e(s)
			}
			for _, f := range []Feature{FeatureCreate2, FeatureContainers, FeatureRemoveWatches, FeatureSetWatches} {
				if got := s.Lacks(f); got != (f == test.lacks) {
					t.Errorf("it lacks %s: %v, want %v", opName(int32(f)), got, f == test.lacks)
				}
			}
			if (last != nil) != test.fails {
				t.Errorf("got %v, want an error: %v", last, test.fails)
			}
			if last != nil && (last.Request != "create" || last.Server != "a:2181" || !errors.Is(last, io.EOF)) {
				t.Errorf("%+v", *last)
			}
		})
	}
}

// Servers take the request: one of its kind was answered that was as long. What ends its connections may be the
// network, until it has been so for a session timeout. A server that cannot be reached proves nothing for it.
func TestEvidenceAgainstARequestThatWasAnsweredBefore(t *testing.T) {
	const session = 10 * time.Second
	type hangUp struct {
		after  time.Duration // since the one before
		server string
	}
	quick := slices.Repeat([]hangUp{{time.Millisecond, "a:2181"}}, 20)
	slow := slices.Repeat([]hangUp{{time.Second, "a:2181"}}, 11)
	others := []hangUp{{time.Second, "b:2181"}}
	for name, test := range map[string]struct {
		op      int32
		size    int // one of 100 was answered
		hangUps []hangUp
		fails   int // at which; 0: none
	}{
		"in a moment":                     {opCreate, 100, quick, 0},
		"for a session timeout":           {opCreate, 100, slow, 11},
		"by two servers":                  {opCreate, 100, slices.Concat(slow[:10], others), 11},
		"a longer one":                    {opCreate, 101, quick, 5},
		"of another kind":                 {opSetData, 100, quick, 5},
		"every server knows it":           {opGetChildren2, 100, quick, 0},
		"every server knew it, for long":  {opGetChildren2, 100, slow, 11},
		"five, a session timeout between": {opCreate, 100, slices.Concat(quick[:4], []hangUp{{session, "a:2181"}}), 5},
		"five, an hour between":           {opCreate, 100, slices.Concat(quick[:4], []hangUp{{time.Hour, "a:2181"}}), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSupport(slog.New(slog.DiscardHandler))
			s.answered(opCreate, 0, 100, "c:2181")
			now, fails := time.Unix(0, 0), 0
			for i, h := range test.hangUps {
				now = now.Add(h.after)
				err := s.ended(ending{
					server: h.server, reason: io.EOF, prompt: true, answered: true, waiting: []int32{test.op}, size: test.size,
					at: now, session: session,
				})
				if err != nil && fails == 0 {
					fails = i + 1
				}
			}
			if fails != test.fails {
				t.Errorf("got it failed at hang-up %d, want %d", fails, test.fails)
			}
		})
	}
}

// What is known costs an answer no lock.
func TestSupportRestsWithoutEvidence(t *testing.T) {
	s := NewSupport(slog.New(slog.DiscardHandler))
	s.answered(opCreate2, 0, 100, "")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered(opCreate2, 0, 100, "")
	s.answered(opGetData, 0, 100, "")
	if s.Doubts(newCall(opCreate2, nil)) {
		t.Error("got doubt about a request that the server has answered, want none")
	}
}

// The end is evidence against a request, whether or not anything was answered before. Only if something was, it counts.
func TestARequestIsDoubtedAfterAHangUpUntilItIsAnswered(t *testing.T) {
	for _, answered := range []bool{false, true} {
		s := NewSupport(slog.New(slog.DiscardHandler))
		s.ended(ending{server: "a:2181", reason: io.EOF, prompt: true, answered: answered, waiting: []int32{opCreate}})
		if !s.Doubts(newCall(opCreate, nil)) || s.Doubts(newCall(opGetData, nil)) {
			t.Errorf("a hang-up behind an answer: %t: want doubt about the request, and about no other", answered)
		}
		s.answered(opCreate, 0, 100, "a:2181")
		if s.Doubts(newCall(opCreate, nil)) {
			t.Errorf("a hang-up behind an answer: %t: got doubt after an answer, want none", answered)
		}
	}
}

// Requests that are sent while the oldest waits are new, but the server may have been at that one all the time.
func TestAHangUpLongAfterTheOldestRequestIsNoEvidenceAgainstIt(t *testing.T) {
	tr := New(Config{Route: NewRoute(nil, nil), Logger: slog.New(slog.DiscardHandler)})
	now := tr.cfg.Clock.Now()
	for _, c := range []struct {
		waited time.Duration
		want   bool
	}{{0, true}, {2 * promptly, false}} {
		tr.cfg.Support = NewSupport(tr.cfg.Logger)
		var err *session.DisconnectError
		for range hangUpsToFail {
			l := newLink(tr, canned{}, "a:2181")
			l.answers = 1
			err = l.evidence(io.EOF, []pending{
				{op: opSetData, call: Set("/a", nil, 0, nil), sent: now.Add(-c.waited)},
				{op: opGetData, call: Get("/a", false, nil), sent: now},
			})
		}
		if (err != nil) != c.want {
			t.Errorf("waited %v: got %v, want an error: %t", c.waited, err, c.want)
		}
	}
}

// A feature that works at the present server costs no look at what the mutex guards, which the client's connections
// share: the maps are false here. Each feature has a bit of its own.
func TestFeaturesThatWorkHereCostNoMutex(t *testing.T) {
	s := NewSupport(slog.New(slog.DiscardHandler))
	s.attached("a:2181")
	for op := range features {
		if s.worksHere(Feature(op)) {
			t.Errorf("%s works here before a server has answered it", opName(op))
		}
		s.answered(op, 0, 100, "a:2181")
	}
	clear(s.works)
	for op := range features {
		s.lacks[finding{op, "a:2181"}] = true
	}
	for op := range features {
		s.answered(op, 0, 100, "a:2181")
		if s.Lacks(Feature(op)) || !s.Has(Feature(op)) || len(s.works) > 0 {
			t.Errorf("%s works here: got a look at the maps", opName(op))
		}
	}
	s.attached("b:2181")
	if got := s.here.Load(); got != 0 {
		t.Errorf("got the bits %b at another server, want none", got)
	}
}

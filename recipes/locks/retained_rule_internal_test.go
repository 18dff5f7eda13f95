package locks

import (
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/internal/queue"
)

const ms = time.Millisecond

var bounds = retention{most: 3, afterDemand: 1, busy: 100 * ms, idle: 50 * ms}

// stays is a situation in which a node stays in the best of cases.
func stays(change func(*situation)) situation {
	s := situation{news: news{demand: alone, timeout: 10 * time.Second}, usable: true, proven: true, handed: 1, age: 10 * ms}
	change(&s)
	return s
}

// unanswered is for a listing that was asked for again.
func unanswered(listed, asked time.Duration, handed int, age time.Duration) func(*situation) {
	return func(s *situation) {
		s.listed, s.asking, s.asked, s.handed, s.age = listed, true, asked, handed, age
	}
}

// fates are the names that failures print.
var fates = map[fate]string{removed: "removed", handedOver: "handed over", kept: "kept", heldBack: "held back"}

func TestFate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*situation)
		idle   fate // if no contender waits
		busy   fate // if a contender of the local queue waits
	}{
		"alone":                         {func(*situation) {}, kept, handedOver},
		"alone, beyond both bounds":     {func(s *situation) { s.handed, s.age = 1000, time.Hour }, kept, handedOver},
		"alone, not proven":             {func(s *situation) { s.proven = false }, removed, handedOver},
		"alone, idle for too long":      {func(s *situation) { s.idle = 50 * ms }, removed, handedOver},
		"alone, idle for less":          {func(s *situation) { s.idle = 49 * ms }, kept, handedOver},
		"believed for long enough":      {func(s *situation) { s.listed, s.handed = 9999*ms, 9 }, kept, handedOver},
		"believed for too long":         {func(s *situation) { s.listed, s.handed = 10*time.Second, 9 }, heldBack, heldBack},
		"no answer yet":                 {unanswered(time.Hour, 1249*ms, 9, 0), kept, handedOver},
		"no answer":                     {unanswered(time.Hour, 1250*ms, 1, 0), kept, handedOver},
		"no answer, too many":           {unanswered(time.Hour, 1250*ms, 3, 0), heldBack, heldBack},
		"no answer, too late":           {unanswered(time.Hour, 1250*ms, 1, 100*ms), removed, removed},
		"no answer, listed lately":      {unanswered(time.Second, 2*time.Second, 9, 0), kept, handedOver},
		"not usable":                    {func(s *situation) { s.usable = false }, removed, removed},
		"silence":                       {func(s *situation) { s.silence = 3750 * ms }, kept, handedOver},
		"silence, too many":             {func(s *situation) { s.silence, s.handed = 3750*ms, 3 }, heldBack, heldBack},
		"silence, too late":             {func(s *situation) { s.silence, s.age = 3750*ms, 100*ms }, removed, removed},
		"less silence, beyond both":     {func(s *situation) { s.silence, s.handed, s.age = 3749*ms, 9, time.Hour }, kept, handedOver},
		"a directory not to be listed":  {func(s *situation) { s.demand = unheard }, removed, removed},
		"demanded":                      {func(s *situation) { s.demand = demanded }, removed, handedOver},
		"demanded, a try":               {func(s *situation) { s.demand, s.tried = demanded, true }, removed, removed},
		"a try":                         {func(s *situation) { s.tried = true }, kept, handedOver},
		"demanded, and one more":        {func(s *situation) { s.demand, s.after = demanded, 1 }, removed, removed},
		"demanded, beyond both bounds":  {func(s *situation) { s.demand, s.handed, s.age = demanded, 9, time.Hour }, removed, handedOver},
		"unknown":                       {func(s *situation) { s.demand = unknown }, kept, handedOver},
		"unknown, the last hand-over":   {func(s *situation) { s.demand, s.handed = unknown, 2 }, kept, handedOver},
		"unknown, too many":             {func(s *situation) { s.demand, s.handed = unknown, 3 }, heldBack, heldBack},
		"unknown, too late":             {func(s *situation) { s.demand, s.age = unknown, 100*ms }, removed, removed},
		"unknown, too many, too late":   {func(s *situation) { s.demand, s.handed, s.age = unknown, 3, 100*ms }, removed, removed},
		"unknown, not proven":           {func(s *situation) { s.demand, s.proven = unknown, false }, removed, handedOver},
		"unknown, too many, not proven": {func(s *situation) { s.demand, s.handed, s.proven = unknown, 3, false }, removed, heldBack},
	} {
		for waiting, want := range map[bool]fate{false: test.idle, true: test.busy} {
			s := stays(test.change)
			s.waiting = waiting
			if got := bounds.fate(s); got != want {
				t.Errorf("%s, waiting %v: got a node that is %s, want %s", name, waiting, fates[got], fates[want])
			}
		}
	}
}

// Whatever the situation is, nothing is retained that must not be, and other clients' bounds hold.
func FuzzFate(f *testing.F) {
	f.Add(uint8(0xff), uint8(2), 1, 0, int64(5), int64(0), int64(0), int64(7), int64(0), 3, 1, int64(100), int64(50))
	f.Fuzz(func(t *testing.T, flags, d uint8, handed, after int, age, idle, silence, listed, asked int64,
		most, afterDemand int, busy, idleTime int64,
	) {
		r := retention{most: most, afterDemand: afterDemand, busy: time.Duration(busy), idle: time.Duration(idleTime)}
		s := situation{
			news: news{
				demand: demand(d % 4), timeout: 1000, silence: time.Duration(silence),
				listed: time.Duration(listed), asking: flags&16 != 0, asked: time.Duration(asked),
			},
			usable: flags&1 != 0, waiting: flags&2 != 0, proven: flags&4 != 0, tried: flags&8 != 0, handed: handed, after: after,
			age: time.Duration(age), idle: time.Duration(idle),
		}
		got := r.fate(s)
		open := s.demand == unknown || s.demand == alone && (s.silence >= 375 || s.listed >= 1000 && (!s.asking || s.asked >= 125))
		for rule, broken := range map[string]bool{
			"a node that must not have another hold": got != removed && (!s.usable || s.demand == unheard),
			"a hand-over without a waiter":           got == handedOver && !s.waiting,
			"a node kept from one that waits":        got == kept && s.waiting,
			"a node kept for nothing":                (got == kept || got == heldBack) && !s.waiting && (!s.proven || s.idle >= r.idle),
			"an idle node that another wants":        (got == kept || got == heldBack) && s.demand == demanded,
			"more after demand":                      got == handedOver && s.demand == demanded && s.after >= r.afterDemand,
			"a try that overtakes another client":    got == handedOver && s.tried && s.demand == demanded,
			"more than Most":                         (got == handedOver || got == kept) && open && s.handed >= r.most,
			"longer than Busy":                       got != removed && open && s.age >= r.busy,
			"held back although all is known":        got == heldBack && !open,
			"a fate that ends before it has begun":   (got == kept || got == heldBack) && r.standsFor(s, got) <= 0,
		} {
			if broken {
				t.Errorf("%s: got a node that is %s of %+v with %+v", rule, fates[got], s, r)
			}
		}
	})
}

func TestFateOfAnIdleNodeStandsUntilTheClockChangesIt(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*situation)
		want   time.Duration
	}{
		"idle":                     {func(s *situation) { s.idle = 20 * ms }, 30 * ms},
		"alone for long":           {func(s *situation) { s.age = time.Hour }, 50 * ms},
		"heard of long ago":        {func(s *situation) { s.silence = 3740 * ms }, 10 * ms},
		"unknown":                  {func(s *situation) { s.demand = unknown }, 50 * ms},
		"unknown, heard long ago":  {func(s *situation) { s.demand, s.silence = unknown, 3740*ms }, 10 * ms},
		"silence":                  {func(s *situation) { s.silence = 3750 * ms }, 50 * ms},
		"silence, busy for longer": {func(s *situation) { s.silence, s.age = 3750*ms, 60*ms }, 40 * ms},
		"listed long ago":          {func(s *situation) { s.listed = 9990 * ms }, 10 * ms},
		"no answer yet":            {unanswered(11*time.Second, 1240*ms, 1, 0), 10 * ms},
		"no answer":                {unanswered(12*time.Second, 2*time.Second, 1, 0), 50 * ms},
		"held back":                {func(s *situation) { s.demand, s.handed = unknown, 3 }, 90 * ms},
	} {
		s := stays(test.change)
		if got := bounds.standsFor(s, bounds.fate(s)); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func TestHistory(t *testing.T) {
	var h history
	now := time.Now()
	names := queue.New(queue.Config{Counts: queue.LockMarkers()}).Markers
	grant := func(number string) {
		t.Helper()
		node, ok := names.Parse("_c_x-lock-" + number)
		if !ok {
			t.Fatalf("got no node of number %s, want one", number)
		}
		h.granted(node)
	}
	proven := func(after time.Duration, want bool) {
		t.Helper()
		if got := h.proven(now.Add(after)); got != want {
			t.Errorf("proven: got %v, want %v", got, want)
		}
	}
	grant("0000000007")
	grant("0000000008")
	proven(0, false)
	grant("0000000009")
	proven(0, true)
	grant("0000000010")
	proven(0, true)
	grant("0000000012") // another's node was in between
	proven(0, false)
	grant("0000000013")
	grant("0000000014")
	proven(0, true)
	h.demoted(worthwhile, now) // it paid
	proven(0, true)
	h.demoted(worthwhile-1, now)
	for _, number := range []string{"0000000015", "0000000016", "0000000017"} {
		proven(banTime, false)
		grant(number)
	}
	proven(banTime-1, false)
	proven(banTime, true)
}

package cause_test

import (
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
)

// mixtures are stories in which one cause could be taken for another.
var mixtures = map[string]judged{
	"a stop during an outage": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 9*time.Second, "zk1", cause.Refused)
		s.loss.At = int64(30 * time.Second)
		s.Run(at(30*time.Second), at(9500*time.Millisecond), 0)
	}, session.LossUnknown, "at least 20.5s, and no server was reached for 1.8s: zk1 (connection refused)"},
	"a suspension during an outage": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 9*time.Second, "zk1", cause.Refused)
		s.loss.At = int64(time.Hour)
		s.Run(at(time.Hour), at(9500*time.Millisecond), time.Hour-10*time.Second)
	}, session.LossUnknown, "not certain: this process did not run for at least 59m50.5s"},
	"a stop during a blip": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 7100*time.Millisecond, "zk1", cause.Refused)
		s.loss.At = int64(30 * time.Second)
		s.Run(at(30*time.Second), at(7500*time.Millisecond), 0)
	}, session.LossProcessStopped, "at least 22.5s"},
	"a stop while a handshake is under way": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.Run(at(13500*time.Millisecond), at(7300*time.Millisecond), 0)
		s.Attach(at(7010*time.Millisecond), at(13500*time.Millisecond), "zk1")
		s.renewal(13500*time.Millisecond, time.Millisecond)
	}, session.LossUnknown, "not certain: this process did not run for at least 6.2s"},
	"a suspension that began before a timer was late": {func(s *story) {
		s.loss.At = int64(time.Hour)
		s.Run(at(time.Hour), at(14*time.Second), time.Hour-8*time.Second)
	}, session.LossMachineSuspended, "the machine was suspended for 59m52s"},
	"an idle session whose machine was suspended": {func(s *story) {
		s.loss.How, s.loss.Valid, s.loss.At = cause.Expired, false, int64(time.Hour)
		s.Run(at(time.Hour), at(15*time.Second), time.Hour-8*time.Second)
	}, session.LossMachineSuspended, "59m52s"},
	"a silence for a 64th of a session timeout, beside others": {
		beside(187500 * time.Microsecond), session.LossUnknown,
		"at least 3s, and zk1 answered nothing for 188ms, and there was no connection for 3s",
	},
	"a silence for less than a 64th, beside others": {
		beside(187400 * time.Microsecond), session.LossUnknown,
		"at least 3s, and there was no connection for 3s",
	},
	"a silence for an eighth of a session timeout": {func(s *story) {
		s.renewal(13500*time.Millisecond, 0)
	}, session.LossNotAnswered, "zk1 stopped answering 1.5s before"},
	"the servers ended a session that was valid, after a stop for an eighth": {func(s *story) {
		s.Run(at(8500*time.Millisecond), at(7*time.Second), 0)
		s.loss.How, s.loss.At = cause.Expired, int64(12*time.Second)
	}, session.LossUnknown, "this process did not run for at least 1.5s"},
	"the servers ended a session that was valid, after a stop": {func(s *story) {
		s.Run(at(12*time.Second), at(7*time.Second), 0)
		s.loss.How, s.loss.At = cause.Expired, int64(12*time.Second)
	}, session.LossUnknown, "this process did not run for at least 5s"},
	"the servers ended a session while the process did not run": {func(s *story) {
		s.loss.How, s.loss.Valid, s.loss.At = cause.Expired, false, int64(30*time.Second)
		s.Run(at(30*time.Second), at(14500*time.Millisecond), 0)
	}, session.LossUnknown, "not certain: this process did not run for at least 15.5s"},
	"no leader, which healed, then refusals": {func(s *story) {
		s.Ring = cause.New(began)
		s.Attach(at(0), at(0), "zk1")
		s.Detach(at(3500*time.Millisecond), time.Time{}, "zk1", cause.Closed)
		s.fail(4*time.Second, 6*time.Second, "zk2", cause.HungUp)
		s.Attach(at(6*time.Second), at(6*time.Second), "zk1")
		s.renewal(6*time.Second, time.Millisecond)
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 15*time.Second, "zk1", cause.Refused)
	}, session.LossNotReached, "no server was reached for 8s: zk1 (connection refused)"},
	"a renewal unanswered beside pings, a silence, then refusals": {func(s *story) {
		s.renewal(6500*time.Millisecond, 0)
		s.Detach(at(11500*time.Millisecond), at(9*time.Second), "zk1", cause.Reset)
		s.fail(11500*time.Millisecond, 15*time.Second, "zk1", cause.Refused)
	}, session.LossUnknown, "zk1 answered, but no renewal within 5s, and no server was reached for 3.5s"},
	"no majority, in a short session": { // the one that runs is not tried again in the last 1.5 s
		func(s *story) {
			s.loss.From, s.loss.Timeout = int64(12*time.Second), int64(3*time.Second)
			s.renewal(12*time.Second, time.Millisecond)
			s.Detach(at(12300*time.Millisecond), time.Time{}, "zk1", cause.Closed)
			for i, ms := range []int{12310, 12320, 12330, 12380, 12430, 12480, 12600, 12750, 12900, 13080, 13260, 13450, 13800, 14260} {
				s.Fail(at(time.Duration(ms)*time.Millisecond), []string{"zk2", "zk3", "zk1"}[i%3], []cause.Code{cause.Refused, cause.Refused, cause.HungUp}[i%3])
			}
		}, session.LossNotServing, "hung up on the handshake for 1.2s, as servers without a leader do: zk1; not reached: zk2"},
	"refusals for a moment, then handshakes without an answer": {func(s *story) {
		s.Detach(at(6500*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		for i := range 10 {
			s.Fail(at(6500*time.Millisecond+time.Duration(i)*50*time.Millisecond), "zk1", cause.Refused)
		}
		s.Fail(at(11*time.Second), "zk1", cause.Silent)
		s.Fail(at(14900*time.Millisecond), "zk1", cause.Silent)
	}, session.LossNotAnswered, "servers took connections and answered nothing for 8"},
	"hang-ups for a moment, then timeouts": {func(s *story) {
		s.Detach(at(6500*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		for i := range 9 {
			s.Fail(at(6500*time.Millisecond+time.Duration(i)*20*time.Millisecond), []string{"zk1", "zk2", "zk3"}[i%3], cause.HungUp)
		}
		s.Fail(at(9500*time.Millisecond), "zk1", cause.Timeout)
		s.Fail(at(12500*time.Millisecond), "zk2", cause.Timeout)
	}, session.LossNotReached, "zk1 (timed out), zk2 (timed out)"},
	"refusals, then a look-up without an answer": {func(s *story) {
		s.Detach(at(6500*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		for i := range 10 {
			s.Fail(at(6500*time.Millisecond+time.Duration(i)*50*time.Millisecond), "zk1", cause.Refused)
		}
	}, session.LossUnknown, "there was no connection for 8.5s: zk1 (connection refused)"},
	"refusals, then a handshake of a moment at another": {func(s *story) {
		s.Detach(at(6500*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		s.fail(6500*time.Millisecond, 15*time.Second, "zk1", cause.Refused)
		s.Try(at(14990*time.Millisecond), "zk2", cause.Dialing)
		s.Try(at(14991*time.Millisecond), "zk2", cause.Shaking)
	}, session.LossNotReached, "no server was reached for 8.5s: zk1 (connection refused)"},
	"no leader, then unreachable for as long": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Closed)
		s.inTurn(7*time.Second, 11*time.Second, failure{"zk1", cause.HungUp}, failure{"zk2", cause.HungUp})
		s.inTurn(11*time.Second, 15*time.Second, failure{"zk1", cause.Timeout}, failure{"zk2", cause.Timeout})
	}, session.LossUnknown, "not certain"},
	"a renewal unanswered beside pings, then hang-ups": {func(s *story) {
		s.renewal(7*time.Second, 0)
		s.Detach(at(10900*time.Millisecond), at(10800*time.Millisecond), "zk1", cause.Closed)
		s.fail(10900*time.Millisecond, 15*time.Second, "zk1", cause.HungUp)
	}, session.LossUnknown, "zk1 answered, but no renewal within 3.9s, and each server that was reached hung up on the handshake for 4.1s"},
	"a renewal unanswered, then a connection that ends after an answer to a ping": {func(s *story) {
		s.renewal(7*time.Second, 0)
		s.Detach(at(13*time.Second), at(12900*time.Millisecond), "zk1", cause.Reset)
		s.fail(13*time.Second, 15*time.Second, "zk1", cause.Refused)
	}, session.LossAnsweredLate, "zk1 answered, but no renewal within 6s"},
	"the authentication failed": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 15*time.Second, "zk1", cause.SASL)
	}, session.LossUnknown, "servers answered the handshake, and then this client's authentication failed for 8s: zk1"},
	"the authentication has no end": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		for _, stage := range []cause.Stage{cause.Dialing, cause.Shaking, cause.Authenticating} {
			s.Try(at(7*time.Second), "zk1", stage)
		}
	}, session.LossUnknown, "authentication failed for 8s: zk1"},
	"servers refused the authentication": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 15*time.Second, "zk1", cause.Auth)
	}, session.LossAuthRefused, "servers refused this client's authentication for 8s: zk1"},
	"no chroot": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 15*time.Second, "zk1", cause.NoChroot)
	}, session.LossUnknown, "not certain"},
	"a stop that the lease outlived, and then no answer": {func(s *story) {
		s.Run(at(14700*time.Millisecond), at(7*time.Second), 0)
		s.renewal(14700*time.Millisecond, 0)
	}, session.LossUnknown, "not certain: this process did not run for at least 7.7s"},
	"a stop that the lease outlived by less than an answer takes": {func(s *story) {
		s.Run(at(14998*time.Millisecond), at(7*time.Second), 0)
		s.renewal(14998*time.Millisecond, 0)
	}, session.LossProcessStopped, "at least 8s"},
	"an outage before a stop, on a busy machine": {func(s *story) {
		s.Run(at(6100*time.Millisecond), at(6080*time.Millisecond), 0)
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 8500*time.Millisecond, "zk1", cause.Refused)
		s.Run(at(8520*time.Millisecond), at(8500*time.Millisecond), 0)
		s.Run(at(15*time.Second), at(9250*time.Millisecond), 0)
	}, session.LossUnknown, "this process did not run for at least 5.8s, and no server was reached for 1.5s"},
	"a stop before a silence, on a busy machine": {func(s *story) {
		s.Run(at(14400*time.Millisecond), at(7*time.Second), 0)
		s.renewal(14400*time.Millisecond, 0)
		s.Run(at(14999*time.Millisecond), at(14979*time.Millisecond), 0)
	}, session.LossUnknown, "this process did not run for at least 7.4s"},
	"a client whose clock runs, and what reads does not": {func(s *story) {
		s.renewal(9*time.Second, 0)
		s.GiveUp(at(10500*time.Millisecond), time.Time{}, "zk1")
	}, session.LossUnknown, "this process may not have run for 4.5s, and zk1 answered nothing for 1.5s"},
	"apart, one took the session and fell silent, apart": {func(s *story) {
		s.Detach(at(6500*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		s.fail(6500*time.Millisecond, 8500*time.Millisecond, "zk1", cause.Refused)
		s.silentFor(8500*time.Millisecond, 1500*time.Millisecond, "zk2")
		s.fail(10*time.Second, 15*time.Second, "zk1", cause.Refused)
	}, session.LossNotReached, "no server was reached for 7s: zk1 (connection refused)"},
	"one takes the session and falls silent again and again": {func(s *story) {
		s.Detach(at(6500*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		for from := 6500 * time.Millisecond; from < 14*time.Second; from += 2 * time.Second {
			s.Fail(at(from), "zk1", cause.Refused)
			s.silentFor(from+100*time.Millisecond, 1900*time.Millisecond, "zk2")
		}
	}, session.LossUnknown, "zk2 answered nothing for 7.6s"},
	"three servers fall silent in turn": {func(s *story) {
		s.Renew(at(7*time.Second), at(7*time.Second), "zk1")
		s.GiveUp(at(9500*time.Millisecond), time.Time{}, "zk1")
		s.Detach(at(9500*time.Millisecond), time.Time{}, "zk1", cause.NotRenewed)
		s.silentFor(9500*time.Millisecond, 2500*time.Millisecond, "zk2")
		s.silentFor(12*time.Second, 3*time.Second, "zk3")
	}, session.LossUnknown, "servers answered nothing for 8s: zk1, zk2, zk3"},
	"a silence, then refusals for less": {func(s *story) {
		s.renewal(7*time.Second, 0)
		s.Detach(at(12*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(12*time.Second, 15*time.Second, "zk1", cause.Refused)
	}, session.LossUnknown, "zk1 answered nothing for 5s, and no server was reached for 3s"},
	"a silence, handshakes without an answer, then refusals": {func(s *story) {
		s.renewal(7*time.Second, 0)
		s.Detach(at(9*time.Second), time.Time{}, "zk1", cause.NotRenewed)
		s.Fail(at(11*time.Second), "zk1", cause.Silent)
		s.inTurn(11500*time.Millisecond, 15*time.Second, failure{"zk1", cause.Refused})
	}, session.LossUnknown, "zk1 answered nothing for 2s, and no server was reached for 4s"},
	"a late answer, then pings alone for longer": {func(s *story) {
		s.renewal(7*time.Second, 1600*time.Millisecond)
		s.renewal(8700*time.Millisecond, 0)
		s.loss.Heard = true
	}, session.LossAnsweredLate, "zk1 answered, but no renewal within 6.3s"},
	"a connection that was silent under StandardErrorPolicy, after a stop": {func(s *story) {
		s.Run(at(14*time.Second), at(7*time.Second), 0)
		s.Detach(at(14*time.Second), time.Time{}, "zk1", cause.Silent)
		s.loss.How, s.loss.Code, s.loss.At = cause.Disconnected, cause.Silent, int64(14*time.Second)
	}, session.LossConnectionLost, "the connection to zk1 was lost: nothing came, but this process did not run for at least 7s"},
	"a connection that was reset under StandardErrorPolicy, after a stop": {func(s *story) {
		s.Run(at(14*time.Second), at(7*time.Second), 0)
		s.Detach(at(14*time.Second), time.Time{}, "zk1", cause.Reset)
		s.loss.How, s.loss.Code, s.loss.At = cause.Disconnected, cause.Reset, int64(14*time.Second)
	}, session.LossConnectionLost, "was lost: connection reset"},
	"dialing again has only just begun": {func(s *story) {
		s.left(9*time.Second, 1500*time.Millisecond, false)
		s.Try(at(10500*time.Millisecond), "zk1", cause.Shaking)
		s.Fail(at(14990*time.Millisecond), "zk1", cause.Silent)
		s.Try(at(14999*time.Millisecond), "zk1", cause.Dialing)
	}, session.LossNotAnswered, "zk1"},
	"the server answered nothing, took the session again, and answered no renewal": {func(s *story) {
		s.left(8*time.Second, 1500*time.Millisecond, false)
		s.Attach(at(9500*time.Millisecond), at(9510*time.Millisecond), "zk1")
		s.Renew(at(9510*time.Millisecond), time.Time{}, "zk1")
	}, session.LossUnknown, "zk1 answered nothing for 7s"},
	"a reset while a renewal was under way, then a silent server": {func(s *story) {
		s.renewal(9*time.Second, 0)
		s.Detach(at(9010*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		s.Attach(at(9010*time.Millisecond), at(9020*time.Millisecond), "zk2")
		s.Renew(at(9020*time.Millisecond), time.Time{}, "zk2")
	}, session.LossNotAnswered, "zk2 answered nothing for 6s"},
	"the server answered nothing, the next no handshake, and the third no renewal": {func(s *story) {
		s.left(8*time.Second, 1500*time.Millisecond, false)
		s.Try(at(9500*time.Millisecond), "zk2", cause.Shaking)
		s.Fail(at(12500*time.Millisecond), "zk2", cause.Silent)
		s.Attach(at(12500*time.Millisecond), at(12510*time.Millisecond), "zk3")
		s.Renew(at(12510*time.Millisecond), time.Time{}, "zk3")
	}, session.LossUnknown, "not certain"},
}

// beside is a server's silence beside an outage and a stop.
func beside(silence time.Duration) func(s *story) {
	return func(s *story) {
		s.renewal(7*time.Second, 0)
		s.Detach(at(7*time.Second+silence), time.Time{}, "zk1", cause.Closed)
		s.Attach(at(7*time.Second+silence), at(7*time.Second+silence), "zk1")
		s.renewal(7500*time.Millisecond, time.Millisecond)
		s.Detach(at(8*time.Second), time.Time{}, "zk1", cause.Closed)
		s.Attach(at(11*time.Second), at(11*time.Second), "zk1")
		s.renewal(11*time.Second, time.Millisecond)
		s.Run(at(15*time.Second), at(12*time.Second), 0)
	}
}

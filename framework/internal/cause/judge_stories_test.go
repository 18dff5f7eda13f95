package cause_test

import (
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
)

var stories = map[string]judged{
	"nothing was seen": {func(*story) {}, session.LossUnknown, "no cause was seen"},
	"the process did not run": {func(s *story) {
		s.loss.At = int64(20 * time.Second)
		s.Run(at(20*time.Second), at(9*time.Second), 0)
	}, session.LossProcessStopped, "this process did not run for at least 11s"},
	"the process stopped while a renewal was under way": {func(s *story) {
		s.renewal(9*time.Second, 0)
		s.loss.At = int64(30 * time.Second)
		s.Run(at(30*time.Second), at(9750*time.Millisecond), 0)
	}, session.LossProcessStopped, "20.3s"},
	"the process was throttled": {func(s *story) {
		s.loss.At = int64(20 * time.Second)
		s.Run(at(20*time.Second), at(9*time.Second), 0)
		s.loss.Throttled = func(from, to int64) (int64, int64, bool) {
			return int64(10900 * time.Millisecond), to - from + int64(3*time.Second), true
		}
	}, session.LossProcessStopped, "at least 11s; its cgroup was throttled for 10.9s in the 14s around that"},
	"the process was not throttled": {func(s *story) {
		s.loss.At = int64(20 * time.Second)
		s.Run(at(20*time.Second), at(9*time.Second), 0)
		s.loss.Throttled = func(int64, int64) (int64, int64, bool) { return int64(time.Millisecond), int64(time.Minute), true }
	}, session.LossProcessStopped, "at least 11s"},
	"the process ran now and then": {func(s *story) {
		for i := range 8 {
			from := 7*time.Second + time.Duration(i)*time.Second
			s.Run(at(from+900*time.Millisecond), at(from), 0)
		}
	}, session.LossProcessStopped, "7.2s"},
	"the machine was suspended": {func(s *story) {
		s.loss.At = int64(time.Hour)
		s.Run(at(time.Hour), at(9*time.Second), time.Hour-10*time.Second)
	}, session.LossMachineSuspended, "the machine was suspended for 59m50s"},
	"the process noticed late that the network was gone": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 14*time.Second, "zk1", cause.Refused)
		s.loss.At = int64(20 * time.Second)
		s.Run(at(20*time.Second), at(14*time.Second), 0)
	}, session.LossNotReached, "zk1 (connection refused)"},
	"the machine was suspended for more than half of a stop": {func(s *story) {
		s.Run(at(20*time.Second), at(9*time.Second), 7*time.Second)
	}, session.LossMachineSuspended, "the machine was suspended for 7s"},
	"the machine was suspended for less": {func(s *story) {
		s.Run(at(20*time.Second), at(9*time.Second), 5*time.Second)
	}, session.LossProcessStopped, "this process did not run for at least 11s"},
	"the server answered nothing for less than an eighth of the timeout": {func(s *story) {
		s.renewal(9*time.Second, time.Millisecond)
		s.renewal(13600*time.Millisecond, 0)
	}, session.LossUnknown, "no cause was seen"},
	"the servers ended a session that was valid, after a stop of less": {func(s *story) {
		s.Run(at(8400*time.Millisecond), at(7*time.Second), 0)
		s.loss.How, s.loss.At = cause.Expired, int64(12*time.Second)
	}, session.LossSessionEnded, "which was valid by this client's clock"},
	"half a stop, half an outage": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 11*time.Second, "zk1", cause.Refused)
		s.Run(at(15*time.Second), at(11*time.Second), 0)
	}, session.LossUnknown, "this process did not run for at least 4s, and no server was reached"},
	"no server was reached": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Closed)
		s.inTurn(7*time.Second, 15*time.Second, failure{"zk2", cause.Timeout}, failure{"zk1", cause.NoName})
	}, session.LossNotReached, "no server was reached for 8s: zk1 (unknown name), zk2 (timed out)"},
	"one fell silent, the others were not reached": {func(s *story) {
		s.left(9*time.Second, 1500*time.Millisecond, false)
		s.inTurn(11*time.Second, 15*time.Second, failure{"zk2", cause.Refused}, failure{"zk3", cause.Unreachable})
	}, session.LossNotReached, "zk1 stopped answering 6s before, and no server was reached: zk2 (connection refused), zk3 (unreachable)"},
	"dialing has had no outcome": {func(s *story) {
		s.left(9*time.Second, 1500*time.Millisecond, false)
		s.Try(at(10500*time.Millisecond), "zk2", cause.Dialing)
	}, session.LossNotReached, "zk2 (timed out)"},
	"a handshake has had no answer": {func(s *story) {
		s.left(9*time.Second, 1500*time.Millisecond, false)
		s.Try(at(10500*time.Millisecond), "zk2", cause.Dialing)
		s.Try(at(10600*time.Millisecond), "zk2", cause.Shaking)
	}, session.LossNotAnswered, "servers answered nothing for 6s: zk1, zk2"},
	"the server answered nothing": {func(s *story) { s.renewal(9*time.Second, 0) }, session.LossNotAnswered, "zk1 stopped answering 6s before"},
	"the server answered pings alone": {func(s *story) {
		s.renewal(9*time.Second, 0)
		s.loss.Heard = true
	}, session.LossAnsweredLate, "zk1 answered, but no renewal within 6s"},
	"the client left two servers that answered pings alone": {func(s *story) {
		s.left(6500*time.Millisecond, 4*time.Second, true)
		s.Attach(at(10500*time.Millisecond), at(10510*time.Millisecond), "zk2")
		s.left(10510*time.Millisecond, 4*time.Second, true)
	}, session.LossAnsweredLate, "no renewal within 4s"},
	"the server answered a ping, then nothing, and took no other connection": {func(s *story) {
		s.renewal(9*time.Second, 0)
		s.GiveUp(at(13*time.Second), at(9001*time.Millisecond), "zk1")
		s.Detach(at(13*time.Second), time.Time{}, "zk1", cause.NotRenewed)
		s.fail(13*time.Second, 15*time.Second, "zk2", cause.Refused)
	}, session.LossNotReached, "zk1 stopped answering 6s before, and no server was reached: zk2 (connection refused)"},
	"the server answered a ping, then nothing, and then no handshake": {func(s *story) {
		s.renewal(9*time.Second, 0)
		s.GiveUp(at(13*time.Second), at(9001*time.Millisecond), "zk1")
		s.Detach(at(13*time.Second), time.Time{}, "zk1", cause.NotRenewed)
		s.Try(at(13*time.Second), "zk1", cause.Dialing)
		s.Try(at(13*time.Second), "zk1", cause.Shaking)
	}, session.LossUnknown, "zk1 answered, but no renewal within 4s, and servers took connections and answered nothing for 2s: zk1"},
	"the server answered a ping, then nothing, and others no handshake": {func(s *story) {
		s.slow()
		s.Try(at(14*time.Second), "zk3", cause.Shaking)
	}, session.LossAnsweredLate, "zk1 answered, but no renewal within 4s"},
	"the server answered a ping, then nothing, and others no handshake for longer": {func(s *story) {
		s.renewal(9*time.Second, 0)
		s.GiveUp(at(11*time.Second), at(9001*time.Millisecond), "zk1")
		s.Detach(at(11*time.Second), time.Time{}, "zk1", cause.NotRenewed)
		s.Try(at(11*time.Second), "zk2", cause.Shaking)
	}, session.LossAnsweredLate, "zk1 answered, but no renewal within 2s"},
	"the server answered a ping, then nothing, another no handshake, and the third no renewal": {func(s *story) {
		s.slow()
		s.Attach(at(14*time.Second), at(14001*time.Millisecond), "zk3")
		s.Renew(at(14001*time.Millisecond), time.Time{}, "zk3")
	}, session.LossAnsweredLate, "zk1 answered, but no renewal within 4s"},
	"the server answered a ping, then nothing, the next no renewal, and the third no handshake": {func(s *story) {
		s.renewal(7*time.Second, 0)
		s.GiveUp(at(9500*time.Millisecond), at(7001*time.Millisecond), "zk1")
		s.Detach(at(9500*time.Millisecond), time.Time{}, "zk1", cause.NotRenewed)
		s.Attach(at(9500*time.Millisecond), at(9505*time.Millisecond), "zk2")
		s.Renew(at(9505*time.Millisecond), time.Time{}, "zk2")
		s.GiveUp(at(12*time.Second), time.Time{}, "zk2")
		s.Detach(at(12*time.Second), time.Time{}, "zk2", cause.NotRenewed)
		s.Try(at(12*time.Second), "zk3", cause.Shaking)
	}, session.LossAnsweredLate, "zk1 answered, but no renewal within 2.5s"},
	"the server answered a ping, then nothing, took the session again, and answered no renewal": {func(s *story) {
		s.renewal(7*time.Second, 0)
		s.GiveUp(at(9500*time.Millisecond), at(7001*time.Millisecond), "zk1")
		s.Detach(at(9500*time.Millisecond), time.Time{}, "zk1", cause.NotRenewed)
		s.Attach(at(9500*time.Millisecond), at(9505*time.Millisecond), "zk1")
		s.Renew(at(9505*time.Millisecond), time.Time{}, "zk1")
	}, session.LossAnsweredLate, "zk1 answered, but no renewal within 5.5s"},
	"the server answered a ping, then nothing, another no handshake, and the third refused": {func(s *story) {
		s.slow()
		s.fail(14*time.Second, 15*time.Second, "zk3", cause.Refused)
	}, session.LossUnknown, "not certain"},
	"a server that was slow, and answered again, then a silent one": {func(s *story) {
		s.renewal(6100*time.Millisecond, 0)
		s.GiveUp(at(7700*time.Millisecond), at(6101*time.Millisecond), "zk1")
		s.Detach(at(7700*time.Millisecond), time.Time{}, "zk1", cause.NotRenewed)
		s.Fail(at(8700*time.Millisecond), "zk1", cause.Silent)
		s.Attach(at(8700*time.Millisecond), at(8710*time.Millisecond), "zk1")
		s.renewal(8710*time.Millisecond, time.Millisecond)
		s.renewal(11*time.Second, 0)
	}, session.LossNotAnswered, "zk1 stopped answering 4s before"},
	"the process stopped in a session that had just begun": {func(s *story) {
		s.Ring = cause.New(began)
		s.Begin(at(3 * time.Second))
		s.Try(at(3*time.Second), "zk1", cause.Shaking)
		s.Attach(at(3*time.Second), at(4200*time.Millisecond), "zk1")
		s.loss.At = int64(20 * time.Second)
		s.Run(at(20*time.Second), at(5*time.Second), 0)
	}, session.LossProcessStopped, "15s"},
	"the server answered a ping, then nothing, and so did the next": {func(s *story) {
		s.renewal(8*time.Second, 0)
		s.GiveUp(at(12*time.Second), at(8001*time.Millisecond), "zk1")
		s.Detach(at(12*time.Second), time.Time{}, "zk1", cause.NotRenewed)
		s.Attach(at(12*time.Second), at(12001*time.Millisecond), "zk2")
		s.Renew(at(12001*time.Millisecond), time.Time{}, "zk2")
		s.loss.Heard = true
	}, session.LossAnsweredLate, "zk1 answered, but no renewal within 4s"},
	"answers were late": {func(s *story) {
		s.renewal(7*time.Second, 3*time.Second)
		s.renewal(10*time.Second, 4900*time.Millisecond)
	}, session.LossAnsweredLate, "renewals were answered only after 4.9s"},
	"handshakes were answered late": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.Attach(at(7*time.Second), at(13*time.Second), "zk1")
		s.renewal(13*time.Second, 0)
		s.loss.Heard = true
	}, session.LossAnsweredLate, "a handshake was answered only after 6s"},
	"servers hung up": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Closed)
		s.inTurn(7*time.Second, 15*time.Second, failure{"zk2", cause.Refused}, failure{"zk1", cause.HungUp})
	}, session.LossNotServing, "each server that was reached hung up on the handshake for 8s, as servers without a leader do: zk1; not reached: zk2 (connection refused)"},
	"a server that starts hung up once": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Closed)
		s.fail(7*time.Second, 14*time.Second, "zk1", cause.Refused)
		s.Fail(at(14*time.Second), "zk1", cause.HungUp)
	}, session.LossNotReached, "zk1 (connection refused)"},
	"some servers hung up, one said nothing": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Closed)
		s.inTurn(7*time.Second, 15*time.Second, failure{"zk1", cause.HungUp}, failure{"zk2", cause.Silent})
	}, session.LossUnknown, "not certain"},
	"an outage, then late answers": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Closed)
		s.fail(7*time.Second, 11*time.Second, "zk1", cause.Refused)
		s.Attach(at(11*time.Second), at(11*time.Second), "zk1")
		s.renewal(11*time.Second, 0)
		s.loss.Heard = true
	}, session.LossUnknown, "zk1 answered, but no renewal within 4s, and no server was reached"},
	"a stop that a renewal followed, then refusals": {func(s *story) {
		s.Run(at(8600*time.Millisecond), at(7*time.Second), 0)
		s.renewal(8600*time.Millisecond, time.Millisecond)
		s.Detach(at(8700*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		s.fail(8700*time.Millisecond, 15*time.Second, "zk2", cause.Refused)
	}, session.LossNotReached, "no server was reached for 6.3s: zk2 (connection refused)"},
	"a long stop that a renewal followed, then a silent server": {func(s *story) {
		s.Run(at(10*time.Second), at(6500*time.Millisecond), 0)
		s.renewal(10*time.Second, time.Millisecond)
		s.renewal(13*time.Second, 0)
	}, session.LossUnknown, "this process did not run for at least 3.5s, and zk1 stopped answering 2s before"},
	"a long stop that a renewal followed, and nothing else": {func(s *story) {
		s.Run(at(13*time.Second), at(6400*time.Millisecond), 0)
		s.renewal(13*time.Second, time.Millisecond)
	}, session.LossUnknown, "not certain: this process did not run for at least 6.6s"},
	"a short stop, then refusals": {func(s *story) {
		s.Run(at(8*time.Second), at(6600*time.Millisecond), 0)
		s.Detach(at(8*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(8*time.Second, 15*time.Second, "zk2", cause.Refused)
	}, session.LossNotReached, "no server was reached for 7s"},
	"a stop, then refusals": {func(s *story) {
		s.Run(at(10*time.Second), at(7*time.Second), 0)
		s.Detach(at(10*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(10*time.Second, 15*time.Second, "zk2", cause.Refused)
	}, session.LossUnknown, "this process did not run for at least 3s, and no server was reached for 5s"},
	"refusals, then a stop": {func(s *story) {
		s.Ring = cause.New(began)
		s.Attach(at(0), at(0), "zk1")
		s.Detach(at(3100*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		s.fail(3100*time.Millisecond, 9*time.Second, "zk2", cause.Refused)
		s.Run(at(16*time.Second), at(9*time.Second), 0)
		s.loss.At = int64(16 * time.Second)
	}, session.LossUnknown, "this process did not run for at least 7s, and no server was reached"},
	"a few refusals, then a long stop": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 8*time.Second, "zk2", cause.Refused)
		s.Run(at(16*time.Second), at(8*time.Second), 0)
		s.loss.At = int64(16 * time.Second)
	}, session.LossUnknown, "this process did not run for at least 8s"},
	"a wait as long as the stop that followed": {func(s *story) {
		s.renewal(8*time.Second, 0)
		s.Run(at(15*time.Second), at(11500*time.Millisecond), 0)
	}, session.LossUnknown, "not certain: this process did not run for at least 3.5s"},
	"an outage that healed, then a silent server": {func(s *story) {
		s.Detach(at(6500*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		s.fail(6500*time.Millisecond, 11*time.Second, "zk1", cause.Refused)
		s.Attach(at(11*time.Second), at(11*time.Second), "zk1")
		s.renewal(11*time.Second, time.Millisecond)
		s.renewal(13*time.Second, 0)
	}, session.LossUnknown, "zk1 stopped answering 2s before, and no server was reached for 4.5s"},
	"the time of what has healed is not the trouble's": {func(s *story) {
		s.Detach(at(6100*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		s.Attach(at(6100*time.Millisecond), at(6600*time.Millisecond), "zk1")
		s.renewal(6600*time.Millisecond, time.Millisecond)
		s.renewal(9*time.Second, 0)
	}, session.LossNotAnswered, "zk1 stopped answering 6s before"},
	"a silence that healed is no part of the next": {func(s *story) {
		s.left(6100*time.Millisecond, 1500*time.Millisecond, false)
		s.Attach(at(7600*time.Millisecond), at(7600*time.Millisecond), "zk2")
		s.renewal(7600*time.Millisecond, time.Millisecond)
		s.renewal(9*time.Second, 0)
	}, session.LossNotAnswered, "zk1 stopped answering 6s before"},
	"a reconnection in milliseconds is not the trouble's beginning": {func(s *story) {
		s.Detach(at(6100*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		s.Attach(at(6100*time.Millisecond), at(6104*time.Millisecond), "zk1")
		s.renewal(9*time.Second, 0)
	}, session.LossNotAnswered, "zk1 stopped answering 6s before"},
	"not reached first, then silent": {func(s *story) {
		s.Detach(at(3100*time.Millisecond), time.Time{}, "zk1", cause.Reset)
		s.fail(3100*time.Millisecond, 6*time.Second, "zk1", cause.Refused)
		s.Attach(at(6*time.Second), at(6*time.Second), "zk2")
		s.Renew(at(6*time.Second), at(6*time.Second), "zk2")
	}, session.LossNotAnswered, "zk2 stopped answering 9s before"},
	"renewals of a ring that has no older events": {func(s *story) {
		s.Ring = cause.New(began)
		s.renewal(6*time.Second, time.Millisecond)
		s.left(9*time.Second, 4*time.Second, false)
		s.Attach(at(13*time.Second), at(13*time.Second), "zk2")
		s.Renew(at(13*time.Second), at(13*time.Second), "zk2")
	}, session.LossNotAnswered, "servers answered nothing for 6s: zk1, zk2"},
	"a renewal in a ring that has no older events": {func(s *story) {
		s.Ring = cause.New(began)
		s.left(9*time.Second, 4*time.Second, false)
		s.Attach(at(13*time.Second), at(13*time.Second), "zk2")
		s.Renew(at(13*time.Second), at(13*time.Second), "zk2")
	}, session.LossNotAnswered, "servers answered nothing for 6s: zk1, zk2"},
	"an answer in a ring that has no older events": {func(s *story) {
		s.Ring = cause.New(began)
		s.Answer(at(6*time.Second), at(6*time.Second), "zk1")
	}, session.LossUnknown, "no cause was seen"},
	"health in a ring that has no older events": {func(s *story) {
		s.Ring = cause.New(began)
		s.renewal(6*time.Second, time.Millisecond)
	}, session.LossUnknown, "no cause was seen"},
	"dialing took long, and the connection came at the end": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.Try(at(7*time.Second), "zk2", cause.Dialing)
		s.Try(at(14995*time.Millisecond), "zk2", cause.Shaking)
	}, session.LossNotReached, "no server was reached for 8s: zk2 (timed out)"},
	"the servers ended a session after a stop and an outage": {func(s *story) {
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 11*time.Second, "zk1", cause.Refused)
		s.Run(at(15*time.Second), at(11*time.Second), 0)
		s.loss.How, s.loss.Valid = cause.Expired, false
	}, session.LossUnknown, "not certain: this process did not run"},
	"the servers ended a valid session": {func(s *story) {
		s.loss.How, s.loss.At = cause.Expired, int64(8*time.Second)
	}, session.LossSessionEnded, "which was valid"},
	"the servers ended a session whose leases had ended, and answered until then": {func(s *story) {
		s.loss.How, s.loss.Valid = cause.Expired, false
	}, session.LossSessionEnded, "no cause was seen"},
	"the servers said so before the clock that was late": {func(s *story) {
		s.loss.How, s.loss.At = cause.Expired, int64(30*time.Second)
		s.Run(at(30*time.Second), at(9*time.Second), 0)
	}, session.LossProcessStopped, "21s"},
	"the session was over by the clock, without a connection": {func(s *story) {
		s.loss.How, s.loss.Valid = cause.TimedOut, false
		s.loss.From, s.loss.At, s.loss.Until = int64(6*time.Second), int64(18*time.Second), int64(18*time.Second)
		s.Detach(at(7*time.Second), time.Time{}, "zk1", cause.Reset)
		s.fail(7*time.Second, 18*time.Second, "zk1", cause.Refused)
	}, session.LossNotReached, "for 11s"},
	"the client was closed": {func(s *story) { s.loss.How = cause.ClientClosed }, session.LossClientClosed, ""},
	"authentication was refused": {func(s *story) {
		s.Fail(at(8*time.Second), "zk3", cause.Auth)
		s.loss.How = cause.AuthRefused
	}, session.LossAuthRefused, "zk3 refused this client's authentication"},
	"the connection ended under StandardErrorPolicy": {func(s *story) {
		s.Detach(at(15*time.Second), time.Time{}, "zk1", cause.Reset)
		s.loss.How, s.loss.Code = cause.Disconnected, cause.Reset
	}, session.LossConnectionLost, "the connection to zk1 was lost: connection reset"},
	"what went before the last renewal does not count": {func(s *story) {
		s.Ring = cause.New(began)
		s.Detach(at(0), time.Time{}, "zk1", cause.Reset)
		s.fail(0, 2*time.Second, "zk1", cause.Refused)
		s.Run(at(3*time.Second), at(-time.Minute), 0)
		s.Attach(at(3*time.Second), at(3*time.Second), "zk1")
		s.renewal(4*time.Second, time.Millisecond)
	}, session.LossUnknown, "no cause was seen"},
}

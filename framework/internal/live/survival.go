package live

import (
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
)

// A survival is whether the session has outlived something that its end at the servers brings with it: the removal of
// one of its nodes, which a server may report before it closes the connection, or the end of a connection. A server
// that has ended a session answers nothing more in it. So any later answer settles that it lived on; its end without
// one settles that it may have been over. All that has come since the newest answer shares one survival.
type survival struct {
	of    atomic.Pointer[validity] // nil once settled
	end   *loss                    // the session's, without an answer before it; settled with of
	after []func()                 // guarded by the mutex
}

// survivalLocked is that of something that the session has heard of now.
func (v *validity) survivalLocked() *survival {
	if v.survival == nil {
		s := &survival{end: v.end}
		if v.over != nil {
			return s
		}
		s.of.Store(v)
		v.survival = s
	}
	return v.survival
}

// settleLocked settles what is open, and returns what must be called without the mutex. end is nil after an answer.
func (v *validity) settleLocked(end *loss) (after []func()) {
	s := v.survival
	if s == nil {
		return nil
	}
	v.survival = nil
	s.end, after, s.after = end, s.after, nil
	s.of.Store(nil)
	return after
}

// settled has functions called that waited for a settlement.
func (v *validity) settled(after []func()) {
	for _, fn := range after {
		v.tell.Chore(fn)
	}
}

// OnSettled is for [session.NodeLoss].
func (s *survival) OnSettled(fn func()) {
	if v := s.of.Load(); v != nil {
		v.mu.Lock()
		open := s.of.Load() != nil
		if open {
			s.after = append(s.after, fn)
		}
		v.mu.Unlock()
		if open {
			return
		}
	}
	fn()
}

// A nodeLoss is a [session.NodeLoss]. It retains no session once it is settled.
type nodeLoss struct {
	*survival
	late bool // the time of the session, or of the leases in it, was up
}

// NodeLost is for [session.Nodes].
func (s *Session) NodeLost() session.NodeLoss {
	now := s.base.clock.Now()
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	v := &s.validity
	return &nodeLoss{v.survivalLocked(), !now.Before(v.untilLocked())}
}

func (n *nodeLoss) Error() string { return session.ErrNodeDeleted.Error() }

func (n *nodeLoss) Unwrap() error { return session.ErrNodeDeleted }

// Explain is for [session.Explain].
func (n *nodeLoss) Explain() session.Explanation {
	why := session.Explain(session.ErrNodeDeleted)
	switch open := n.of.Load() != nil; {
	case !open && n.end == nil:
		return why
	case !open && tookNodes(&n.end.is, n.late):
		return n.end.explain()
	}
	why.Sentence += ", or with its own session"
	return why
}

// tookNodes decides whether a session that ended without an answer since the removal of a node took that with it. late
// says that the session's time was up when the client heard of the removal, as after a pause of the process. A session
// that ended for lack of contact after the removal may have lived then.
func tookNodes(end *cause.Loss, late bool) bool {
	switch end.How {
	case cause.Expired:
		return late || end.At < end.Until
	case cause.TimedOut:
		return late
	default:
		return false
	}
}

// endedBy is why the servers ended the session that a connection belonged to, if the connection ended with that.
func (s *survival) endedBy() (why session.Explanation, known bool) {
	if s == nil || s.of.Load() != nil || s.end == nil {
		return why, false
	}
	why = s.end.explain()
	return why, why.Kind == session.LossSessionEnded
}

// untilLocked is when the time of the leases is up, or, without a term, that of the session.
func (v *validity) untilLocked() time.Time {
	if v.term != nil {
		return v.leases.validUntil()
	}
	return v.leases.deadline()
}

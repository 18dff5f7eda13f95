package framework

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// mostBetweenSessions is the longest pause before a new session.
const mostBetweenSessions = 10 * time.Second

// betweenSessions is the pause before the next session when so many in a row ended young: before their timeout had
// passed once. One such session is an accident, and its successor is opened at once. A server that ends every session
// soon after it has opened it must not be asked for the next one as fast as it answers: to open a session is a
// transaction of the whole ensemble. The pause doubles up to half of the session timeout, at most ten seconds, and is
// shortened by as much as half at random, so that clients do not come in waves.
func betweenSessions(young int, timeout time.Duration, random float64) time.Duration {
	if young < 2 {
		return 0
	}
	full := min(mostBetweenSessions, timeout/2)
	if doublings := young - 2; doublings < 10 {
		full = min(full, 50*time.Millisecond<<doublings)
	}
	return time.Duration(float64(full) * (1 - random/2))
}

// rest waits before the next session, after s has ended. young counts the sessions in a row that ended young. rest
// reports whether the client is still open.
func (c *core) rest(s *session.Owner, young int) (now int, open bool) {
	ended, timeout := s.EndedYoung()
	if !ended {
		young = 0
	} else {
		young++
	}
	if d := betweenSessions(young, timeout, rand.Float64()); d > 0 {
		c.cfg.logger.Debug("framework: sessions keep ending soon after they were opened", "sessions", young, "pause", d)
		ctx, cancel := context.WithTimeout(c.life, d)
		<-ctx.Done()
		cancel()
	}
	return young, c.life.Err() == nil
}

// restarted tells that the client goes on with an ensemble that is younger than what it has seen.
func (c *core) restarted(server string, seen, found int64) {
	c.cfg.logger.Warn("framework: the ensemble is younger than what this client has seen, so it was wiped, restored or replaced: "+
		"the client goes on with it, and fencing tokens start anew",
		"server", server, "seen", fmt.Sprintf("%#x", seen), "found", fmt.Sprintf("%#x", found))
}

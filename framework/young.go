package framework

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gocurator/curator/framework/internal/live"
)

const mostBetweenSessions = 10 * time.Second

// betweenSessions is the pause before the next session when so many in a row ended young: before their timeout had
// passed once. One is an accident, without a pause. A server that ends every session soon must not be asked for the
// next as fast as it answers: to open one is a transaction of the whole ensemble. The pause doubles up to half of the
// session timeout, at most ten seconds; chance takes up to half off, so that clients do not come in waves.
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

// rest pauses after the end of s, and reports whether the client is still open. young counts the sessions in a row that
// ended young.
func (c *core) rest(s *live.Runner, young int) (now int, open bool) {
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

func (c *core) restarted(server string, seen, found int64) {
	c.cfg.logger.Warn("framework: the ensemble is younger than what this client has seen, so it was wiped, restored or replaced: "+
		"the client goes on with it, and fencing tokens start again",
		"server", server, "seen", fmt.Sprintf("%#x", seen), "found", fmt.Sprintf("%#x", found))
}

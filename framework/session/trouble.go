package session

import (
	"errors"
	"log/slog"
	"time"
)

// A Trouble logs what a recipe fails to do in the background: one line at Warn when it begins, and one at Info when it
// is over, however often it is tried, and even if the reason changes. Its zero value is ready for use. It is not safe
// for concurrent use, and does not block.
type Trouble struct {
	log        *slog.Logger // nil without trouble
	what, path string
	since      time.Time
	reason     error // the last one
}

// Note records why the recipe at path fails; what is the text of the line. A nil reason is Over, and so is [ErrClosed],
// because the program has closed the client.
func (t *Trouble) Note(log *slog.Logger, what, path string, reason error) {
	switch {
	case reason == nil || errors.Is(reason, ErrClosed):
		t.Over()
	case t.log != nil:
		t.reason = reason
	default:
		*t = Trouble{log, what, path, time.Now(), reason}
		log.Warn(what, "path", path, "error", reason)
	}
}

// Over records that the recipe does not fail any more, or has ended. The line has the duration and the last reason.
func (t *Trouble) Over() {
	if t.log != nil {
		t.log.Info(t.what+" (over)", "path", t.path, "lasted", time.Since(t.since).Round(time.Millisecond), "error", t.reason)
		*t = Trouble{}
	}
}

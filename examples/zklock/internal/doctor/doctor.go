// Package doctor looks for what is wrong with locks, and with the servers that they are on. It only reads.
package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/framework"
)

// Levels of findings.
const (
	Wrong   = "wrong"
	Look    = "look"
	OK      = "ok"
	Unknown = "unknown"
)

// A Finding is what doctor says about one thing.
type Finding struct {
	Level  string `json:"level"`
	About  string `json:"about"` // a path, a session or a server
	What   string `json:"what"`
	Advice string `json:"advice,omitempty"`
}

// Locks examines the locks at and below a path. many is how many locks of one session are worth a look; hide leaves out
// what nodes contain. It blocks until all are read; its errors are those of survey.Walk.
func Locks(ctx context.Context, client *framework.Client, root string, many int, hide bool) ([]Finding, error) {
	found, err := survey.Walk(ctx, client, root)
	if err != nil {
		return nil, err
	}
	e := &examination{client: client, many: many, hide: hide, now: time.Now()}
	sound := 0
	for _, f := range found {
		before := len(e.found)
		if err := e.lock(ctx, f); err != nil {
			return nil, err
		}
		if len(e.found) == before {
			sound++
		}
	}
	e.sessions()
	e.add(soundFinding(root, sound, len(found)))
	return e.found, nil
}

// soundFinding says how many locks were looked at, and nothing if something was found about each of them.
func soundFinding(root string, sound, all int) Finding {
	switch {
	case sound == 0 && all > 0:
		return Finding{}
	case all == 1:
		return Finding{OK, root, "1 lock was looked at", ""}
	case sound == all:
		return Finding{OK, root, fmt.Sprintf("%d locks were looked at", all), ""}
	default:
		return Finding{OK, root, fmt.Sprintf("%d locks were looked at, and nothing was found about %d of them", all, sound), ""}
	}
}

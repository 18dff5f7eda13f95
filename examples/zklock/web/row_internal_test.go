package web

import (
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

func TestAHeadThatCouldNotBeReadIsReadAgain(t *testing.T) {
	h := &hub{rows: map[string]*Row{"/a": {Path: "/a", unread: time.Now()}}}
	for _, err := range []error{errors.New("no answer"), nil} {
		if got := h.toRead(); len(got) != 1 {
			t.Errorf("got %q to read before %v, want /a", got, err)
		}
		h.take("/a", survey.Head{Kind: "mutex"}, err)
	}
	if got := h.toRead(); len(got) != 0 {
		t.Errorf("got %q to read, want nothing", got)
	}
}

func TestTheOverviewShowsNoDataThatAreHidden(t *testing.T) {
	h := &hub{options: Options{HideData: true}, rows: map[string]*Row{"/a": {Path: "/a"}}}
	h.take("/a", survey.Head{Kind: "mutex", Holders: 1, Who: "billing"}, nil)
	if got, want := h.rows["/a"].Who, "(hidden)"; got != want {
		t.Errorf("got the holder %q, want %q", got, want)
	}
}

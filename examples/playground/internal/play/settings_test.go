package play_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/playground/internal/play"
)

func TestSettingsFromALinkAreChecked(t *testing.T) {
	good := play.Settings{Number: 1, Lock: "mutex", Hold: 1200, Pause: 300, Session: 4000}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*play.Settings){
		"worker 0":     func(s *play.Settings) { s.Number = 0 },
		`lock "none"`:  func(s *play.Settings) { s.Lock = "none" },
		"hold -1":      func(s *play.Settings) { s.Hold = -1 },
		"pause NaN":    func(s *play.Settings) { s.Pause = math.NaN() },
		"start +Inf":   func(s *play.Settings) { s.Start = math.Inf(1) },
		"session 10":   func(s *play.Settings) { s.Session = 10 },
		"session 1e+0": func(s *play.Settings) { s.Session = 1e9 },
	} {
		s := good
		change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that names %q", err, want)
		}
	}
}

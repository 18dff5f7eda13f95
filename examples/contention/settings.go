package main

import (
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/session"
)

// settings are what the command line says.
type settings struct {
	demo.Connection

	where    string // the servers, in words
	path     string
	workers  int
	rounds   int
	hold     time.Duration
	session  time.Duration
	crash    int
	json     bool
	picture  string
	terminal bool
}

func (s *settings) flags(flags *flag.FlagSet) {
	s.Flags(flags)
	flags.StringVar(&s.path, "path", "/examples/contention", "where the lock is; processes with the same one contend")
	flags.IntVar(&s.workers, "workers", 10, "how many workers contend")
	flags.IntVar(&s.rounds, "rounds", 1, "how often each worker takes the lock")
	flags.DurationVar(&s.hold, "hold", 300*time.Millisecond, "how long it holds it")
	flags.DurationVar(&s.session, "session", 4*time.Second, "session timeout; the server may grant another one")
	flags.IntVar(&s.crash, "crash", 0, "cut the connection of worker `N` while it holds, and keep it cut")
	flags.BoolVar(&s.json, "json", false, "print one JSON object a line, for programs; the last one is a summary")
	flags.StringVar(&s.picture, "picture", "", "write a picture (SVG) of what a terminal shows at the end to `file`")
}

// check says everything that is wrong with the settings.
func (s *settings) check() error {
	var problems []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	refuse(s.workers < 1, "-workers %d: at least one must work", s.workers)
	refuse(s.rounds < 1, "-rounds %d: at least one is needed", s.rounds)
	refuse(s.hold < 0, "-hold %v: must not be negative", s.hold)
	refuse(s.session <= 0, "-session %v: must be positive", s.session)
	refuse(s.crash < 0 || s.crash > s.workers, "-crash %d: there is no such worker", s.crash)
	if err := session.ValidatePath(s.path); err != nil {
		problems = append(problems, fmt.Errorf("-path: %w", err))
	}
	if _, err := s.Options(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

package run

import "time"

// The front has the session and the lease; the keeper, a process of its own, has the command. So the command ends in
// time also if the front is killed or stopped. They talk over two pipes, one JSON object a line.

// An order is a message from the front to the keeper. Zero fields are not sent.
type order struct {
	Start  *command      `json:",omitempty"`
	Valid  time.Duration `json:",omitempty"` // when the lease ends, by the clock of now()
	Signal int           `json:",omitempty"` // pass it on
	Stop   bool          `json:",omitempty"` // TERM; KILL after the grace
	Kill   bool          `json:",omitempty"` // the lease has ended
	Leave  bool          `json:",omitempty"` // end without what cannot be ended
}

// A command is what the keeper is to start.
type command struct {
	Path          string // the program's path
	Args, Env     []string
	Grace, Margin time.Duration
	Foreground    bool // give it the terminal
	EmptyStdin    bool // it reads from /dev/null
	KeepLeftovers bool // wait for what the command leaves behind, instead of killing it
	AllowSetuid   bool // let it gain privileges
}

// A report is a message from the keeper to the front.
type report struct {
	At      time.Time
	Started int           `json:",omitempty"` // the number of the process
	Dir     string        `json:",omitempty"` // its cgroup's directory
	Group   string        `json:",omitempty"` // the path of that
	NoGroup string        `json:",omitempty"` // why it has none
	Failed  string        `json:",omitempty"` // it could not be started
	Errno   int           `json:",omitempty"`
	Late    bool          `json:",omitempty"` // since there was no time left
	Warned  bool          `json:",omitempty"` // TERM was sent, since the lease is about to end
	Killed  bool          `json:",omitempty"` // KILL was sent
	Resumed bool          `json:",omitempty"` // it was stopped from the terminal, and goes on
	Exited  bool          `json:",omitempty"`
	Code    int           `json:",omitempty"` // the exit code
	Signal  int           `json:",omitempty"` // the signal that ended it
	Left    []string      `json:",omitempty"` // processes that it left behind
	Refused *[]string     `json:",omitempty"` // processes that live and cannot be signalled, after a change of these
	Gone    bool          `json:",omitempty"` // all of them are, and this is the last report
	Spare   time.Duration `json:",omitempty"` // how long the lease was to last from then
}

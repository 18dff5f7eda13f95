package fourletter

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// A Trouble is why there is no answer.
type Trouble int

// Troubles.
const (
	Unreachable Trouble = iota + 1 // there is no connection: refused, no such name, no way
	Silent                         // the server has not answered in the limit
	HungUp                         // it has closed the connection without a word
	Foreign                        // something else than ZooKeeper answers, or in another way
	NotServing                     // ZooKeeper answers that it has no leader, or starts
	NotAllowed                     // ZooKeeper answers that its whitelist lacks the command
	NotAsked                       // the context of the question was cancelled
)

// An Error says why a server has not answered a command, in words that follow "does not answer: ".
type Error struct {
	Trouble Trouble
	What    string
}

func (e *Error) Error() string { return e.What }

// TroubleOf is the trouble of an error of [Server.Ask]; 0 without one.
func TroubleOf(err error) Trouble {
	var e *Error
	if errors.As(err, &e) {
		return e.Trouble
	}
	return 0
}

// Whitelist is the line of zoo.cfg with which a server allows commands.
func Whitelist(commands ...string) string {
	return "4lw.commands.whitelist=" + strings.Join(commands, ",")
}

// ErrNotAsked is the error of a question that was cancelled before its answer.
var ErrNotAsked = &Error{NotAsked, "it was not asked to the end"}

// unreachable explains why there is no connection, without what the Go runtime says around it.
func unreachable(err error, limit time.Duration) *Error {
	var name *net.DNSError
	var system *os.SyscallError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &name):
		return &Error{Unreachable, fmt.Sprintf("the name %s does not resolve", name.Name)}
	case isTimeout(err):
		return &Error{Unreachable, fmt.Sprintf("no connection within %v", limit)}
	case errors.As(err, &record):
		return &Error{Foreign, "its port does not speak TLS"}
	case errors.As(err, &system):
		return &Error{Unreachable, system.Err.Error()}
	case errors.Is(err, io.EOF):
		return &Error{HungUp, "it hung up during the TLS handshake"}
	default:
		return &Error{Unreachable, err.Error()}
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// judge separates answers from texts that are none. err is how reading ended.
func judge(command, answer string, err error, limit time.Duration) (string, error) {
	first, _, _ := strings.Cut(answer, "\n")
	var known *Error
	switch {
	case errors.As(err, &known):
		return "", known
	case strings.HasPrefix(answer, "HTTP/"):
		return "", &Error{Foreign, "it is a web server (" + strings.TrimSpace(first) + ")"}
	case strings.HasPrefix(answer, "<"): // what HTTP 0.9 gets
		return "", &Error{Foreign, "it is a web server"}
	case strings.HasPrefix(answer, "\x15\x03"): // an alert
		return "", &Error{Foreign, "its port speaks TLS"}
	case strings.Contains(first, "is not executed because it is not in the whitelist"):
		return "", &Error{NotAllowed, "it does not allow the command " + command}
	case strings.HasPrefix(answer, "This ZooKeeper instance is not currently serving requests"):
		return "", &Error{NotServing, "it serves no clients: it has no leader, or has just started"}
	case isTimeout(err) && answer == "":
		return "", &Error{Silent, fmt.Sprintf("it is silent for %v", limit)}
	case isTimeout(err):
		return "", &Error{Silent, fmt.Sprintf("its answer does not end within %v", limit)}
	case err != nil && !errors.Is(err, io.EOF) && answer == "":
		return "", hungUp(err)
	case answer == "":
		return "", &Error{HungUp, "it hangs up without a word"}
	case command == "srvr" && !strings.Contains(first, " version: "):
		return "", &Error{Foreign, fmt.Sprintf("it answers srvr with %.40q, which no ZooKeeper server does", first)}
	default:
		return answer, nil // a reset behind the answer is no matter
	}
}

// hungUp explains an error of reading that came before an answer.
func hungUp(err error) *Error {
	var system *os.SyscallError
	if errors.As(err, &system) {
		return &Error{HungUp, "it hangs up without a word: " + system.Err.Error()}
	}
	return &Error{HungUp, "it hangs up without a word: " + err.Error()}
}

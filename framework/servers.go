package framework

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A serversFunc lists servers.
type serversFunc = func(ctx context.Context) (servers []string, err error)

// WithServers gives a list of servers that changes: the client calls list at each attempt to connect, and looks its
// hosts up as those of the connect string. Until list has answered, and while it fails, the client keeps to the last
// list that was right, which is at first the connect string's. That may name a chroot alone, as in "/app", or be empty.
//
// Servers are listed as "host:port" or "host". list should return when ctx ends: if it does not, the client goes on
// without it, and does not call it again before it has returned. A connection to a server that is no longer listed
// stays until it breaks. A [*ConnectError] names failures of list, and lists with wrong entries, as of the "list of
// servers".
//
// Curator: CuratorFrameworkFactory.Builder.ensembleProvider().
func WithServers(list func(ctx context.Context) (servers []string, err error)) Option {
	return func(c *config) {
		if list == nil {
			c.problems = append(c.problems, errors.New("list of servers is nil"))
			return
		}
		c.list = list
	}
}

// theList stands for a server in reports of failures.
const theList = "list of servers"

// A serverList is the servers that a client may connect to.
type serverList struct {
	ask    serversFunc // nil: the list stays as it is
	failed func(server string, err error)

	mu   sync.Mutex
	list []string // the last one that was right; never changed, but replaced
	err  error    // of the last look at it
}

// known returns the last list.
func (l *serverList) known() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list
}

// last returns the last list, and why the last look at it has failed, if it has.
func (l *serverList) last() ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list, l.err
}

// current asks for the list.
func (l *serverList) current(ctx context.Context) []string {
	if l.ask == nil {
		return l.known()
	}
	list, err := l.ask(ctx)
	if err == nil {
		list, err = parseServers(list)
	}
	if err != nil {
		l.failed(theList, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err = err; err == nil {
		l.list = list
	}
	return l.list
}

// parseServers checks a list and adds default ports. One wrong entry makes the whole list wrong: the rest might be a
// minority of the ensemble.
func parseServers(list []string) ([]string, error) {
	if len(list) == 0 {
		return nil, errors.New("it is empty")
	}
	parsed := make([]string, 0, len(list))
	for _, entry := range list {
		server, err := parseServer(entry)
		if entry == "" {
			err = errors.New("an entry is empty")
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(parsed, server) {
			parsed = append(parsed, server)
		}
	}
	return parsed, nil
}

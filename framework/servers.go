package framework

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/ranked"
)

type serversFunc = func(ctx context.Context) (servers []string, err error)

// WithServers gives a list of servers that changes: the client calls list at each attempt to connect, and looks its
// hosts up as those of the connect string. Until list has answered, and while it fails, the last right list counts, at
// first the connect string's, which may be empty or a chroot alone, as in "/app".
//
// Servers are "host:port" or "host"; SRV records that another resolver than [net.DefaultResolver] finds are such a
// list, too. A connection to a server that is no longer listed stays until it breaks. A [*ConnectError] names failures
// of list, and wrong entries, as of the "list of servers".
//
// While list is late, its last answer is used. ctx ends with the client, or after a minute, or the connection timeout
// if that is longer. Up to two calls may run at a time, so list must be safe for concurrent use.
//
// Curator: CuratorFrameworkFactory.Builder.ensembleProvider().
func WithServers(list func(ctx context.Context) (servers []string, err error)) Option {
	return func(c *config) {
		c.refuse(list == nil, "list of servers is nil")
		c.list = list
	}
}

const theList = "list of servers"

type serverList struct {
	ask    serversFunc // nil: the list stays
	failed func(server string, err error)
	asking transport.Calls

	mu   ranked.Mutex[ranked.Leaf, serverList]
	list []string // the last right one; replaced, never changed
	from int      // the number of the call that listed it
	err  error    // why the last look has failed, or has no answer yet
}

func (l *serverList) known() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list
}

func (l *serverList) last() ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list, l.err
}

func (l *serverList) current(ctx context.Context) []string {
	if l.ask == nil {
		return l.known()
	}
	err := l.asking.Await(ctx, "", l.renew)
	if err != nil {
		l.failed(theList, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = cmp.Or(l.err, err)
	return l.list
}

func (l *serverList) renew(ctx context.Context, number int) error {
	list, err := l.ask(ctx)
	if err == nil {
		list, err = parseServers(list)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if number < l.from {
		return err
	}
	if l.err = err; err == nil {
		l.list, l.from = list, number
	}
	return err
}

// parseServers refuses a list for one wrong entry: the rest might be a minority of the ensemble.
func parseServers(list []string) ([]string, error) {
	if len(list) == 0 {
		return nil, errors.New("it is empty")
	}
	parsed := make([]string, 0, len(list))
	for _, entry := range list {
		server, err := parseServer(entry)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(parsed, server) {
			parsed = append(parsed, server)
		}
	}
	return parsed, nil
}

package framework

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

type (
	dialFunc   func(ctx context.Context, network, address string) (net.Conn, error)
	lookupFunc func(ctx context.Context, host string) (ips []string, err error)
)

type config struct {
	servers           []string    // as the connect string names them
	list              serversFunc // nil: these alone
	chroot            string
	namespace         string
	sessionTimeout    time.Duration
	connectionTimeout time.Duration
	policy            retry.Policy
	errorPolicy       ErrorPolicy
	acl               func(path string) []zk.ACL
	sasl              sasl.Mechanism
	auth              []transport.Auth
	syncRenewal       bool
	dial              dialFunc
	lookup            lookupFunc
	secure            secureFunc
	tls               *tls.Config
	data              []byte
	logger            *slog.Logger
	listeners         []func(StateChange)
	trace             Trace
	maxResponse       int
	maxRequest        int
	problems          []error // and nil, where nothing is wrong
}

func newConfig(connect string, opts []Option) (config, error) {
	c := config{
		sessionTimeout:    defaultSessionTimeout,
		connectionTimeout: defaultConnectionTimeout,
		policy:            retry.ExponentialBackoff(time.Second, 3),
		acl:               func(string) []zk.ACL { return nil },
		logger:            slog.New(slog.DiscardHandler),
		maxResponse:       defaultMaxResponse,
		maxRequest:        defaultMaxRequest,
	}
	nilOption := apply(&c, opts)
	connect = c.useDNS(connect)
	servers, chroot, problems := parseConnectString(connect, c.list != nil)
	c.servers, c.chroot = servers, chroot
	c.problems = append(append(problems, nilOption), c.problems...)
	c.validate()
	if c.data == nil {
		c.data = localAddress()
	}
	if c.dial == nil {
		c.dial = new(net.Dialer).DialContext
		if c.lookup == nil {
			c.lookup = net.DefaultResolver.LookupHost
		}
	}
	if c.tls != nil {
		c.secure = secureTLS(c.tls)
	}
	if err := session.JoinErrors(c.problems...); err != nil {
		return config{}, fmt.Errorf("framework: invalid client: %w", err)
	}
	return c, nil
}

func (c *config) validate() {
	positive, ms := c.sessionTimeout > 0, c.sessionTimeout.Milliseconds()
	c.refuse(!positive, "session timeout must be positive, is %v", c.sessionTimeout)
	c.refuse(positive && (ms < 1 || ms > 1<<31-1), "session timeout %v is not between 1 ms and 2³¹-1 ms", c.sessionTimeout)
	c.refuse(c.connectionTimeout <= 0, "connection timeout must be positive, is %v", c.connectionTimeout)
	for name, size := range map[string]int{"answer": c.maxResponse, "request": c.maxRequest} {
		wrong := size < minSize || size > math.MaxInt32
		c.refuse(wrong, "the longest %s must have between %d and 2³¹-1 bytes, is %d", name, minSize, size)
	}
	c.problems = append(c.problems, retry.Validate(c.policy))
	c.refuse(c.errorPolicy != SessionErrorPolicy && c.errorPolicy != StandardErrorPolicy, "unknown error policy %d", c.errorPolicy)
}

// apply applies options, and refuses a nil one.
func apply[T any, O ~func(*T)](to *T, opts []O) (problem error) {
	for _, opt := range opts {
		if opt == nil {
			problem = errors.New("an option is nil")
			continue
		}
		opt(to)
	}
	return problem
}

// refuse adds a problem, if there is one.
func (c *config) refuse(wrong bool, format string, args ...any) {
	if wrong {
		c.problems = append(c.problems, fmt.Errorf(format, args...))
	}
}

func validateNamespace(namespace string) error {
	if namespace == "" {
		return fmt.Errorf("namespace %q: %w: empty", namespace, ErrInvalidPath)
	}
	if bare := strings.Trim(namespace, "/"); bare != namespace && bare != "" && session.ValidatePath("/"+bare) == nil {
		return fmt.Errorf("namespace %q: %w: must not begin or end with /, write %q", namespace, ErrInvalidPath, bare)
	}
	if err := session.ValidatePath("/" + namespace); err != nil {
		return fmt.Errorf("namespace %q: %w", namespace, err)
	}
	return nil
}

// localAddress is what Curator writes into nodes by default, for people who look at them. No name is resolved for it.
func localAddress() []byte {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return []byte{}
	}
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return []byte(ip.IP.String())
		}
	}
	return []byte("127.0.0.1")
}

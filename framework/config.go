package framework

import (
	"context"
	"crypto/tls"
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
	problems          []error
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
	for _, opt := range opts {
		if opt == nil {
			c.problems = append(c.problems, errNilOption)
			continue
		}
		opt(&c)
	}
	connect = c.useDNS(connect)
	servers, chroot, problems := parseConnectString(connect, c.list != nil)
	c.servers, c.chroot = servers, chroot
	c.problems = append(problems, c.problems...)
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
	if c.sessionTimeout <= 0 {
		c.problems = append(c.problems, fmt.Errorf("session timeout must be positive, is %v", c.sessionTimeout))
	} else if c.sessionTimeout < time.Millisecond || c.sessionTimeout.Milliseconds() > 1<<31-1 {
		c.problems = append(c.problems, fmt.Errorf("session timeout %v is not between 1 ms and 2³¹-1 ms", c.sessionTimeout))
	}
	if c.connectionTimeout <= 0 {
		c.problems = append(c.problems, fmt.Errorf("connection timeout must be positive, is %v", c.connectionTimeout))
	}
	for name, size := range map[string]int{"answer": c.maxResponse, "request": c.maxRequest} {
		if size < minSize || size > math.MaxInt32 {
			c.problems = append(c.problems, fmt.Errorf("the longest %s must have between %d and 2³¹-1 bytes, is %d", name, minSize, size))
		}
	}
	if err := retry.Validate(c.policy); err != nil {
		c.problems = append(c.problems, err)
	}
	if c.errorPolicy != SessionErrorPolicy && c.errorPolicy != StandardErrorPolicy {
		c.problems = append(c.problems, fmt.Errorf("unknown error policy %d", c.errorPolicy))
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

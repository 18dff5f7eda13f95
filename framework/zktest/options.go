package zktest

import (
	"log/slog"
	"time"
)

type config struct {
	tick         time.Duration
	minTimeout   time.Duration // 0: two ticks
	maxTimeout   time.Duration
	reap         time.Duration
	maxFrame     int
	superDigest  string
	ttlNodes     bool
	quotas       bool          // enforced
	commitTime   time.Duration // how long a transaction past the end of a counter takes
	logger       *slog.Logger  // nil: none
	syncLimit    time.Duration // 0: five ticks
	version      version
	keeper       bool              // version is one of ClickHouse Keeper
	sasl         map[string]string // passwords by user; nil: not configured
	saslRequired bool
}

// Option changes a default of NewServer.
type Option func(*config)

// WithTickTime sets the granularity of session expiry (default 100 ms; a real
// server's is 2 s): a silent session ends at the first tick boundary after
// its timeout. Like all options here that take a number it panics if that is
// not positive.
func WithTickTime(d time.Duration) Option {
	positive("tick time", int64(d))
	return func(c *config) { c.tick = d }
}

// WithSessionTimeouts sets the limits between which clients get the session
// timeout they ask for (default: two ticks and one hour; a real server's
// upper limit is 20 ticks).
func WithSessionTimeouts(least, most time.Duration) Option {
	checkSessionTimeouts(least, most)
	return func(c *config) { c.minTimeout, c.maxTimeout = least, most }
}

// WithContainerCheckInterval sets how often empty containers and outlived TTL
// nodes are looked for (default 1 s; a real server looks every 60 s).
func WithContainerCheckInterval(d time.Duration) Option {
	positive("container check interval", int64(d))
	return func(c *config) { c.reap = d }
}

// WithMaxFrame sets the longest request in bytes, ZooKeeper's jute.maxbuffer
// (default 1 048 575). A longer one costs the client its connection.
func WithMaxFrame(bytes int) Option {
	positive("frame length", int64(bytes))
	return func(c *config) { c.maxFrame = bytes }
}

// WithSuperDigest makes a client that authenticates as this "user:base64(sha1(
// user:password))" the super user, for whom no ACL counts.
func WithSuperDigest(userPasswordDigest string) Option {
	return func(c *config) { c.superDigest = userPasswordDigest }
}

// WithTTLNodes says whether TTL nodes exist (default true; on a real server
// only with zookeeper.extendedTypesEnabled).
func WithTTLNodes(enabled bool) Option {
	return func(c *config) { c.ttlNodes = enabled }
}

// WithCommitTime sets how long a creation is under way in the server (default
// 0). It matters at the end of a node's sequence numbers only: since ZooKeeper
// 3.6 those end at 2147483647, but a creation that comes while the one before
// it is under way still gets the next number, -2147483648 and so on, and the
// first that comes when none is gets 2147483647 again. With 0 that happens
// within a multi alone. It takes SetCreateCounter to get there in less than
// some days.
func WithCommitTime(d time.Duration) Option {
	positive("commit time", int64(d))
	return func(c *config) { c.commitTime = d }
}

// WithLogger has the server log each connection that it closes of its own
// accord, with the reason, and each Accept of a listener that fails. The logger
// may call the server.
func WithLogger(logger *slog.Logger) Option { return func(c *config) { c.logger = logger } }

func checkSessionTimeouts(least, most time.Duration) {
	positive("session timeout", int64(least))
	if most < least {
		panic("zktest: the longest session timeout is less than the shortest")
	}
}

func positive(what string, n int64) {
	if n <= 0 {
		panic("zktest: the " + what + " is not positive")
	}
}

func defaults() config {
	return config{
		tick: 100 * time.Millisecond, maxTimeout: time.Hour,
		reap: time.Second, maxFrame: 0xfffff, ttlNodes: true, version: defaultVersion,
	}
}

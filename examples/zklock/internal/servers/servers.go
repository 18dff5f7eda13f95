// Package servers says which ZooKeeper servers zklock talks to, and as what: by flags, the environment and a file, in
// this order.
package servers

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
)

// Help is the text on these settings for the manual.
const Help = `Each of the flags for the connection can also be a variable of the environment,
ZKLOCK_ and its name (ZKLOCK_TLS_CA), or a line of a file, "tls-ca = ca.pem". A
flag wins over a variable, and a variable over the file. The servers can also
stand in ZOOKEEPER. The file is ZKLOCK_CONFIG, or zklock.conf in the user's
configuration directory (~/.config on Linux), if there is one.

Credentials stand in files of their own, which -auth and -sasl name, and which
others must not be able to read: never on the command line, which every user of
a machine can list.`

// names are the names of the flags, which Complete looks for elsewhere, too.
var names = []string{"zk", "session", "connect-timeout", "auth", "sasl", "tls", "tls-ca", "tls-cert", "tls-key", "tls-name"}

// Config is a set of settings. Make one with Flags.
type Config struct {
	Session        time.Duration
	ConnectTimeout time.Duration

	connection demo.Connection
	set        *flag.FlagSet
}

// Flags adds the flags to a set.
func Flags(set *flag.FlagSet) *Config {
	c := &Config{set: set}
	c.connection.Flags(set)
	set.Lookup("zk").Usage = "the `servers`, as host:port,host:port/chroot, or dns-srv://name/chroot for their SRV records; also in ZOOKEEPER"
	set.DurationVar(&c.Session, "session", 30*time.Second,
		"session `timeout` to ask for; servers grant at most 20 ticks, 40s by default")
	set.DurationVar(&c.ConnectTimeout, "connect-timeout", 15*time.Second, "`duration` for which to try to reach a server")
	return c
}

// Servers are the addresses and the chroot.
func (c *Config) Servers() string { return c.connection.Servers }

// TLS is how to speak with the servers; nil is in the clear. Its errors are those of Client.
func (c *Config) TLS() (*tls.Config, error) { return c.connection.TLS() }

// Each returns the servers one by one, to be asked by four-letter commands for at most so long each. It looks their SRV
// records up if those are named. Its errors are those of Client and of the look-up.
func (c *Config) Each(ctx context.Context, limit time.Duration) ([]fourletter.Server, error) {
	secure, err := c.connection.TLS()
	if err != nil {
		return nil, err
	}
	return fourletter.Find(ctx, c.connection.Servers, secure, limit)
}

// Complete takes from the environment and the file what the command line did not say. It is to be called after the
// flags are parsed.
func (c *Config) Complete(getenv func(string) string) error {
	given := map[string]bool{}
	c.set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	path, values, err := readFile(getenv)
	if err != nil {
		return err
	}
	var wrong []error
	for _, name := range names {
		if given[name] {
			continue
		}
		value, from := elsewhere(name, getenv, path, values)
		if value == "" {
			continue
		}
		if err := c.set.Set(name, value); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s = %q: %w", from, name, value, err))
		}
	}
	if c.connection.Servers == "" {
		wrong = append(wrong, errors.New("no servers are named: say -zk host:port, or set ZOOKEEPER"))
	}
	for _, name := range []string{"auth", "sasl"} {
		if file := c.set.Lookup(name).Value.String(); file != "" {
			if err := Private(file); err != nil {
				wrong = append(wrong, fmt.Errorf("-%s: %w", name, err))
			}
		}
	}
	return errors.Join(wrong...)
}

// elsewhere returns what the environment or the file says, and which of them.
func elsewhere(name string, getenv func(string) string, path string, values map[string]string) (value, from string) {
	variables := []string{"ZKLOCK_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
	if name == "zk" {
		variables = append(variables, "ZOOKEEPER")
	}
	for _, variable := range variables {
		if value := getenv(variable); value != "" {
			return value, variable
		}
	}
	return values[name], path
}

// retryPause is the pause before an operation is tried again. No try begins after ConnectTimeout, in which the client
// has not reached a server.
const retryPause = 250 * time.Millisecond

// Client makes a client. debug is where it logs; nil is nowhere.
func (c *Config) Client(debug *slog.Logger) (*framework.Client, error) {
	opts, err := c.connection.Options()
	if err != nil {
		return nil, err
	}
	opts = append(opts, framework.WithSessionTimeout(c.Session), framework.WithConnectionTimeout(c.ConnectTimeout),
		framework.WithRetryPolicy(retry.UntilElapsed(c.ConnectTimeout, retryPause)))
	if debug != nil {
		opts = append(opts, framework.WithLogger(debug))
	}
	return framework.NewClient(c.connection.Servers, opts...)
}

// readFile reads the configuration, if there is one.
func readFile(getenv func(string) string) (path string, values map[string]string, err error) {
	path = getenv("ZKLOCK_CONFIG")
	asked := path != ""
	if !asked {
		dir := configDir(getenv)
		if dir == "" {
			return "", nil, nil
		}
		path = filepath.Join(dir, "zklock.conf")
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("configuration: %w", err)
	}
	values, err = parse(path, string(text))
	return path, values, err
}

// configDir is os.UserConfigDir by a given environment.
func configDir(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}

func parse(path, text string) (map[string]string, error) {
	values := map[string]string{}
	var wrong []error
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || !slices.Contains(names, name) {
			wrong = append(wrong, fmt.Errorf("%s:%d: want one of %s, and its value behind =", path, number, strings.Join(names, ", ")))
			continue
		}
		values[name] = value
	}
	return values, errors.Join(wrong...)
}

// Private fails if others can read a file with credentials.
func Private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s has credentials, and others can read it: chmod 600 %[1]s", path)
	}
	return nil
}

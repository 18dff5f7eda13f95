// Package servers says which ZooKeeper servers zklock talks to, and as what: by flags, the environment and a file, in
// this order.
package servers

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
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

	"github.com/gocurator/curator/framework"
)

// Help is the text on these settings for the manual.
const Help = `Each of these flags can also be a variable of the environment, ZKLOCK_ and its
name (ZKLOCK_TLS_CA), or a line of a file, "tls-ca = /etc/zk/ca.pem". A flag
wins over a variable, and a variable over the file. The servers can also stand
in ZOOKEEPER. The file is ZKLOCK_CONFIG, or zklock.conf in the user's
configuration directory (~/.config on Linux), if there is one.

Credentials stand in a file of their own, which -auth-file names, one
"digest:user:password" a line, or in ZKLOCK_AUTH: never on the command line,
which every user of a machine can read. Files with credentials must not be
readable by others. SASL is not supported yet.`

// Config is a set of settings. Make one with Flags.
type Config struct {
	Servers        string
	Session        time.Duration
	ConnectTimeout time.Duration

	authFile, ca, cert, key, name string
	plain                         bool
	set                           *flag.FlagSet
	auth                          []string // lines of "scheme:credentials"
}

// names are those of the flags, which Complete looks for elsewhere too.
var names = []string{"zk", "session", "connect-timeout", "auth-file", "tls", "tls-ca", "tls-cert", "tls-key", "tls-server-name"}

// Flags adds the flags to a set.
func Flags(set *flag.FlagSet) *Config {
	c := &Config{set: set}
	set.StringVar(&c.Servers, "zk", "", "the `servers`, as host:port,host:port/chroot; also in ZOOKEEPER")
	set.DurationVar(&c.Session, "session", framework.DefaultSessionTimeout,
		"session `timeout` to ask for; servers grant at most 20 ticks, 40s by default")
	set.DurationVar(&c.ConnectTimeout, "connect-timeout", 15*time.Second, "how long to try to reach a server")
	set.StringVar(&c.authFile, "auth-file", "", "`file` with credentials, one scheme:credentials a line")
	set.BoolVar(&c.plain, "tls", false, "speak TLS; -tls-ca and -tls-cert imply it")
	set.StringVar(&c.ca, "tls-ca", "", "`file` with the certificates to trust (default: the system's)")
	set.StringVar(&c.cert, "tls-cert", "", "`file` with the client's certificate")
	set.StringVar(&c.key, "tls-key", "", "`file` with the client's key")
	set.StringVar(&c.name, "tls-server-name", "", "`name` to expect in the servers' certificates (default: their host)")
	return c
}

// Complete takes from the environment and the file what the command line did not say. It is to be called after the
// flags are parsed.
func (c *Config) Complete(getenv func(string) string) error {
	given := map[string]bool{}
	c.set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	file, err := readFile(getenv)
	if err != nil {
		return err
	}
	var wrong []error
	for _, name := range names {
		if given[name] || c.set.Lookup(name) == nil {
			continue
		}
		variable := "ZKLOCK_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		value, from := getenv(variable), variable
		if value == "" && name == "zk" {
			value, from = getenv("ZOOKEEPER"), "ZOOKEEPER"
		}
		if value == "" {
			value, from = file.values[name], file.path
		}
		if value == "" {
			continue
		}
		if err := c.set.Set(name, value); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s = %q: %w", from, name, value, err))
		}
	}
	c.auth = file.auth
	if auth := getenv("ZKLOCK_AUTH"); auth != "" {
		c.auth = strings.Split(auth, "\n")
	}
	if c.Servers == "" {
		wrong = append(wrong, errors.New("no servers are named: say -zk host:port, or set ZOOKEEPER"))
	}
	if (c.cert == "") != (c.key == "") {
		wrong = append(wrong, errors.New("-tls-cert and -tls-key go together"))
	}
	return errors.Join(wrong...)
}

// Client makes a client. debug is where it logs; nil is nowhere.
func (c *Config) Client(debug *slog.Logger) (*framework.Client, error) {
	opts := []framework.Option{
		framework.WithSessionTimeout(c.Session), framework.WithConnectionTimeout(c.ConnectTimeout),
	}
	if debug != nil {
		opts = append(opts, framework.WithLogger(debug))
	}
	auth := c.auth
	if c.authFile != "" {
		text, err := readSecret(c.authFile)
		if err != nil {
			return nil, fmt.Errorf("-auth-file: %w", err)
		}
		auth = strings.Split(text, "\n")
	}
	for _, line := range auth {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		scheme, credentials, found := strings.Cut(line, ":")
		if !found || credentials == "" {
			// which it does not repeat
			return nil, errors.New("credentials are scheme:credentials, such as digest:user:password")
		}
		opts = append(opts, framework.WithAuthorization(scheme, []byte(credentials)))
	}
	conf, err := c.tls()
	if err != nil {
		return nil, err
	}
	if conf != nil {
		opts = append(opts, framework.WithTLS(conf))
	}
	return framework.NewClient(c.Servers, opts...)
}

// tls returns the settings of TLS, or nil. The client's certificate is read for each handshake, so a renewed one
// counts.
func (c *Config) tls() (*tls.Config, error) {
	if !c.plain && c.ca == "" && c.cert == "" {
		return nil, nil //nolint:nilnil // no TLS is no error
	}
	conf := &tls.Config{ServerName: c.name, MinVersion: tls.VersionTLS12}
	if c.ca != "" {
		pem, err := os.ReadFile(c.ca)
		if err != nil {
			return nil, fmt.Errorf("-tls-ca: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("-tls-ca: no certificate in %s", c.ca)
		}
	}
	if c.cert != "" {
		load := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.cert, c.key)
			return &pair, err
		}
		if _, err := load(); err != nil {
			return nil, fmt.Errorf("-tls-cert, -tls-key: %w", err)
		}
		conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return conf, nil
}

// settings are what a file says.
type settings struct {
	path   string
	values map[string]string
	auth   []string
}

func readFile(getenv func(string) string) (s settings, err error) {
	s.path = getenv("ZKLOCK_CONFIG")
	asked := s.path != ""
	if !asked {
		dir := configDir(getenv)
		if dir == "" {
			return s, nil
		}
		s.path = filepath.Join(dir, "zklock.conf")
	}
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("configuration: %w", err)
	}
	return s, s.parse(string(text))
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

func (s *settings) parse(text string) error {
	s.values = map[string]string{}
	var wrong []error
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case found && name == "auth":
			s.auth = append(s.auth, value)
		case found && slices.Contains(names, name):
			s.values[name] = value
		default:
			wrong = append(wrong, fmt.Errorf("%s:%d: want one of %s, auth, and its value behind =",
				s.path, number, strings.Join(names, ", ")))
		}
	}
	if len(s.auth) > 0 {
		wrong = append(wrong, private(s.path))
	}
	return errors.Join(wrong...)
}

func readSecret(path string) (string, error) {
	if err := private(path); err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// private fails if others can read a file with credentials.
func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s has credentials, and others can read it: chmod 600 %s", path, path)
	}
	return nil
}

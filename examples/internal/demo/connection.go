package demo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/saslmd5"
)

// A Connection says which servers a program uses, and how. Its flags are the same in every example.
type Connection struct {
	Servers string // empty: a server in memory

	auth, sasl string
	tls        bool
	ca         string
	cert, key  string
	serverName string
}

// Flags declares the flags.
func (c *Connection) Flags(flags *flag.FlagSet) {
	flags.StringVar(&c.Servers, "zk", "", "real ZooKeeper, as `host:port,host:port/chroot` (default: a server in memory)")
	flags.StringVar(&c.auth, "auth", "", "`file` with one line, \"digest user:password\": who the program is")
	flags.StringVar(&c.sasl, "sasl", "", "`file` with one line, \"user:password\": who the program is, by SASL DIGEST-MD5")
	flags.BoolVar(&c.tls, "tls", false, "speak TLS with the servers; implied by the flags below")
	flags.StringVar(&c.ca, "tls-ca", "", "`file` with certificates (PEM) that have signed the servers' (default: the system's)")
	flags.StringVar(&c.cert, "tls-cert", "", "`file` with the program's own certificate (PEM), for servers that want one")
	flags.StringVar(&c.key, "tls-key", "", "`file` with the key (PEM) of that certificate")
	flags.StringVar(&c.serverName, "tls-name", "", "`name` that the servers' certificates have, if it is not the host's")
}

// Options are what a client needs for the connection. They fail with a *[UsageError] that names everything that is
// wrong.
func (c *Connection) Options() ([]framework.Option, error) {
	if c.Servers == "" && (c.secure() || c.auth != "" || c.sasl != "") {
		return nil, &UsageError{errors.New("-auth, -sasl and -tls are for real servers: say which with -zk")}
	}
	var options []framework.Option
	var problems []error
	if c.auth != "" {
		option, err := readAuth(c.auth)
		problems, options = append(problems, err), append(options, option)
	}
	if c.sasl != "" {
		option, err := readSASL(c.sasl)
		problems, options = append(problems, err), append(options, option)
	}
	if c.secure() {
		config, err := c.tlsConfig()
		problems, options = append(problems, err), append(options, framework.WithTLS(config))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, &UsageError{err}
	}
	return options, nil
}

// readAuth reads credentials. Errors do not quote them.
func readAuth(file string) (framework.Option, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("-auth: %w", err)
	}
	scheme, credentials, found := strings.Cut(strings.TrimSpace(string(text)), " ")
	if !found || strings.Contains(credentials, "\n") {
		return nil, fmt.Errorf("-auth: %s must have one line, a scheme and credentials: digest user:password", file)
	}
	return framework.WithAuthorization(scheme, []byte(credentials)), nil
}

// readSASL reads the user, who stays the same. Each connection reads the password again, since it may have changed.
func readSASL(file string) (framework.Option, error) {
	user, _, err := readUser(file)
	if err != nil {
		return nil, err
	}
	return framework.WithSASL(saslmd5.New(user, func(context.Context) (string, error) {
		_, password, err := readUser(file)
		return password, err
	})), nil
}

func readUser(file string) (user, password string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", fmt.Errorf("-sasl: %w", err)
	}
	user, password, found := strings.Cut(strings.TrimSpace(string(text)), ":")
	if !found || user == "" || strings.Contains(password, "\n") {
		return "", "", fmt.Errorf("-sasl: %s must have one line, user:password", file)
	}
	return user, password, nil
}

func (c *Connection) secure() bool {
	return c.tls || c.ca != "" || c.cert != "" || c.key != "" || c.serverName != ""
}

// TLS returns what [Connection.Options] have the client speak with the servers, for other connections to them; nil if
// that is not TLS. Its errors are those of Options.
func (c *Connection) TLS() (*tls.Config, error) {
	if !c.secure() {
		return nil, nil
	}
	config, err := c.tlsConfig()
	if err != nil {
		return nil, &UsageError{err}
	}
	return config, nil
}

func (c *Connection) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.serverName}
	var problems []error
	if c.ca != "" {
		pem, err := os.ReadFile(c.ca)
		config.RootCAs = x509.NewCertPool()
		if err == nil && !config.RootCAs.AppendCertsFromPEM(pem) {
			err = fmt.Errorf("%s has no certificate", c.ca)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("-tls-ca: %w", err))
		}
	}
	if c.cert != "" || c.key != "" {
		own, err := tls.LoadX509KeyPair(c.cert, c.key)
		if err != nil {
			problems = append(problems, fmt.Errorf("-tls-cert, -tls-key: %w", err))
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, errors.Join(problems...)
}

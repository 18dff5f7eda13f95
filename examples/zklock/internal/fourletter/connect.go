package fourletter

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// scheme begins a connect string with the name of SRV records instead of servers.
const scheme = "dns-srv://"

// Split divides a connect string into the servers, or the scheme and the name of their SRV records, and the chroot,
// which may be empty.
func Split(connect string) (servers, chroot string) {
	name, isDNS := strings.CutPrefix(connect, scheme)
	servers, root, found := strings.Cut(name, "/")
	if found {
		chroot = strings.TrimRight("/"+root, "/")
	}
	if isDNS {
		servers = scheme + servers
	}
	return servers, chroot
}

// Find returns the servers of a connect string, each once. It looks SRV records up, for at most limit. Its errors are
// those of the look-up, and of records that a client would refuse.
func Find(ctx context.Context, connect string, secure *tls.Config, limit time.Duration) ([]Server, error) {
	servers, _ := Split(connect)
	name, isDNS := strings.CutPrefix(servers, scheme)
	if !isDNS {
		return Servers(connect, secure, limit), nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, records, err := net.DefaultResolver.LookupSRV(ctx, "", "", name)
	if err == nil {
		err = problem(records)
	}
	if err != nil {
		return nil, fmt.Errorf("SRV records of %s: %w", name, err)
	}
	var all []string
	for _, r := range records {
		all = append(all, net.JoinHostPort(r.Target, strconv.Itoa(int(r.Port))))
	}
	return Servers(strings.Join(all, ","), secure, limit), nil
}

// mostRecords is the most that a client takes.
const mostRecords = 100

// problem returns why a client refuses records, all for one.
func problem(records []*net.SRV) error {
	switch {
	case len(records) == 0:
		return errors.New("there are none")
	case len(records) > mostRecords:
		return fmt.Errorf("there are %d, more than the %d that a client takes", len(records), mostRecords)
	}
	for _, r := range records {
		switch {
		case strings.Trim(r.Target, ".") == "":
			return errors.New(`a target is ".": the name says that it has no such service`)
		case r.Port == 0:
			return fmt.Errorf("the port of %s is 0", r.Target)
		}
	}
	return nil
}

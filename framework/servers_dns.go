package framework

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// dnsScheme begins a connect string that names the SRV records of the servers, as for the client of ZooKeeper 3.10,
// which is in development (ZOOKEEPER-4956).
const dnsScheme = "dns-srv://"

// dnsForm is for errors.
const dnsForm = "write dns-srv://_client._tcp.zk.example.org/chroot"

// cutDNS splits "dns-srv://name/chroot".
func cutDNS(connect string) (name, chroot string, found bool) {
	rest, found := strings.CutPrefix(connect, dnsScheme)
	if !found {
		return "", "", false
	}
	name, root, isRoot := strings.Cut(rest, "/")
	if isRoot {
		chroot = "/" + root
	}
	return name, chroot, true
}

// useDNS takes the list of servers from a connect string with SRV records, and returns what is left of it.
func (c *config) useDNS(connect string) string {
	name, chroot, found := cutDNS(connect)
	if !found || strings.Contains(connect, "@") && strings.ContainsAny(name, "@:") {
		return connect // misread names a user, and quotes no password
	}
	c.refuse(c.list != nil, "connect string names SRV records, and WithServers another list: give one of them")
	problem := dnsProblem(name)
	c.refuse(problem != nil, "connect string names SRV records of %q: %w: %s", name, problem, dnsForm)
	c.list = dnsServers(name)
	return chroot
}

// dnsProblem returns what is wrong with a name.
func dnsProblem(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case strings.Contains(name, ","):
		return errors.New("only one name is looked up")
	case isIP(name):
		return errors.New("it is an IP address, which has no SRV records")
	case strings.Contains(name, ":"):
		return errors.New("ports stand in the records")
	case !isDNSName(name):
		return errors.New("not a DNS name, which has letters, and may have digits, hyphens, underscores and dots")
	default:
		return nil
	}
}

func isIP(name string) bool {
	_, notAddress := netip.ParseAddr(strings.Trim(name, "[]"))
	_, notServer := netip.ParseAddrPort(name)
	return notAddress == nil || notServer == nil
}

// isDNSName refuses what Go's resolver never asks for, with the error that there is no such host.
func isDNSName(name string) bool {
	const digits, others = "0123456789", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	name = strings.TrimSuffix(name, ".")
	wrong := func(label string) bool {
		return label == "" || len(label) > 63 || strings.Trim(label, "-") != label || strings.Trim(label, digits+others) != ""
	}
	return len(name) <= 253 && strings.ContainsAny(name, others) && !slices.ContainsFunc(strings.Split(name, "."), wrong)
}

// mostRecords bounds an answer: an ensemble has a dozen servers.
const mostRecords = 100

// dnsServers lists the targets of the SRV records of name. Go's resolver heeds the deadline of ctx and not its end, so
// that a look-up may outlast its client.
func dnsServers(name string) serversFunc {
	return func(ctx context.Context) ([]string, error) {
		_, records, err := net.DefaultResolver.LookupSRV(ctx, "", "", name)
		if err != nil { // also with some of the records, if others are malformed
			return nil, fmt.Errorf("SRV records of %s: %w", name, err)
		}
		servers, err := targets(records)
		if err != nil {
			return nil, fmt.Errorf("SRV records of %s: %w", name, err)
		}
		return servers, nil
	}
}

// targets refuses all records for one that is wrong, as parseServers does. Priorities and weights do not count: every
// server of an ensemble serves every client, and clients spread over all. The dot at the end of a target stays, which
// spares the search list at its look-up.
func targets(records []*net.SRV) ([]string, error) {
	switch {
	case len(records) == 0:
		return nil, errors.New("there are none")
	case len(records) > mostRecords:
		return nil, fmt.Errorf("there are %d, more than the %d that are taken", len(records), mostRecords)
	}
	servers := make([]string, len(records))
	for i, r := range records {
		if strings.Trim(r.Target, ".") == "" {
			return nil, errors.New(`a target is ".": the name says that it has no such service`)
		}
		servers[i] = net.JoinHostPort(r.Target, strconv.Itoa(int(r.Port)))
		if _, err := parseServer(servers[i]); err != nil {
			return nil, err
		}
	}
	return servers, nil
}

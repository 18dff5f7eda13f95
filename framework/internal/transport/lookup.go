package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// addresses lists what there is to dial, with every host looked up. It blocks until all look-ups, or ctx, have ended.
// cut is set if the list of servers had too little time.
func (r *Route) addresses(ctx context.Context) (all []Address, problems map[string]error, cut bool) {
	servers, cut := r.list(ctx)
	found := make([][]string, len(servers))
	failed := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		host, _, err := net.SplitHostPort(server)
		if _, notIP := netip.ParseAddr(host); r.lookup == nil || err != nil || notIP == nil {
			continue
		}
		wg.Go(func() { found[i], failed[i] = r.look(ctx, host) })
	}
	wg.Wait()
	problems = make(map[string]error)
	dialed := make(map[string]bool)
	for i, server := range servers {
		if failed[i] != nil {
			problems[server] = failed[i]
		}
		for _, a := range waysTo(server, found[i], failed[i]) {
			if !dialed[a.Dial] { // two names of one server
				dialed[a.Dial] = true
				all = append(all, a)
			}
		}
	}
	return all, problems, cut
}

// list asks for the servers in half of the time: if no answer comes, the hosts of the last list still have the other
// half for their look-ups, and a server that has moved is found. cut is set if the half was too short.
func (r *Route) list(ctx context.Context) (servers []string, cut bool) {
	deadline, limited := ctx.Deadline()
	if !limited {
		return r.servers(ctx), false
	}
	half, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	servers = r.servers(half)
	return servers, errors.Is(half.Err(), context.DeadlineExceeded)
}

// look looks a host up. The look-up goes on when ctx ends, and counts for later attempts. With an error comes the last
// answer.
func (r *Route) look(ctx context.Context, host string) ([]string, error) {
	err := r.looking.Await(ctx, host, func(ctx context.Context, number int) error { return r.renew(ctx, host, number) })
	if err != nil {
		err = fmt.Errorf("looking up %s: %w", host, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[host].ips, err
}

func (r *Route) renew(ctx context.Context, host string, number int) error {
	ips, err := r.lookup(ctx, host)
	if err == nil && len(ips) == 0 {
		err = errors.New("no addresses")
	}
	for _, ip := range ips {
		if _, problem := netip.ParseAddr(ip); problem != nil && err == nil {
			err = fmt.Errorf("%q is not an IP address", ip)
		}
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if number > r.known[host].number {
		r.known[host] = found{slices.Clone(ips), number}
	}
	return nil
}

// waysTo returns the addresses of a server whose host was looked up to be ips. The family of the first one is
// preferred: a resolver sorts those to the end that cannot be reached from here.
func waysTo(server string, ips []string, failed error) []Address {
	host, port, err := net.SplitHostPort(server)
	switch {
	case err != nil || len(ips) == 0 && failed == nil: // not looked up
		return []Address{{Server: server, Dial: server}}
	case len(ips) == 0:
		return nil
	}
	all := make([]Address, len(ips))
	for i, ip := range ips {
		all[i] = Address{Server: net.JoinHostPort(host, port), Dial: net.JoinHostPort(ip, port)}
		if isIPv4(ip) != isIPv4(ips[0]) {
			all[i].rank = 1
		}
	}
	return all
}

func isIPv4(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().Is4()
}

package framework

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/gocurator/curator/framework/session"
)

const defaultPort = "2181"

// connectForm is for errors.
const connectForm = "write host:port,host:port/chroot"

// parseConnectString splits "host:port,host:port/chroot". No problem quotes what may be a password. There need be no
// server if they are listed elsewhere.
func parseConnectString(connect string, listed bool) (servers []string, chroot string, problems []error) {
	if problem := misread(connect); problem != nil {
		return nil, "", []error{problem}
	}
	hosts, root, found := strings.Cut(connect, "/")
	if found && root != "" {
		chroot = "/" + root
		if problem := chrootProblem(chroot); problem != nil {
			problems = append(problems, fmt.Errorf("chroot %q: %w", chroot, problem))
		}
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host = strings.TrimSpace(host); host == "" {
			continue // as in Java: templates write commas behind the last server
		}
		server, err := parseServer(host)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		servers = append(servers, server)
	}
	if len(servers)+len(problems) == 0 && !listed {
		problems = append(problems, errors.New("the connect string names no server: "+connectForm))
	}
	return servers, chroot, problems
}

// misread recognises what is no connect string. It does not quote what stands before an @: it may be a password.
func misread(connect string) error {
	scheme, _, isURL := strings.Cut(connect, "://")
	hosts, root, _ := strings.Cut(connect, "/")
	user := strings.Contains(hosts, "@") || isURL && strings.Contains(connect, "@") || strings.Contains(root, "@") && strings.Contains(root, ":")
	switch {
	case user:
		return errors.New("connect string names a user before an @: give the user to WithAuthorization, and " + connectForm)
	case isURL:
		return fmt.Errorf("connect string has a URL that begins with %q: %s", scheme[strings.LastIndexByte(scheme, ',')+1:]+"://", connectForm)
	case strings.Contains(hosts, ";"), slices.ContainsFunc(strings.Split(hosts, ","), hasSpace):
		return fmt.Errorf("connect string %q must separate servers by commas: %s", connect, connectForm)
	default:
		return nil
	}
}

func hasSpace(server string) bool { return strings.ContainsAny(strings.TrimSpace(server), " \t\r\n") }

// chrootProblem also refuses commas: "a:2181/app,b:2181/app" would be one server with a chroot that the caller did not
// mean.
func chrootProblem(chroot string) error {
	if strings.Contains(chroot, ",") {
		return errors.New("has a comma, but the chroot stands once, behind the last server: " + connectForm)
	}
	return session.ValidatePath(chroot)
}

// parseServer checks one server of a connect string and adds the default port.
func parseServer(server string) (string, error) {
	host, port, err := splitServer(server)
	if err != nil {
		return "", fmt.Errorf("server %q: %w", server, err)
	}
	if host == "" {
		return "", fmt.Errorf("server %q: no host", server)
	}
	if strings.ContainsAny(host, " \t\r\n\x00[]@;\\") {
		return "", fmt.Errorf("server %q: not a host name", server)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("server %q: port must be a number from 1 to 65535", server)
	}
	return net.JoinHostPort(host, port), nil
}

func splitServer(server string) (host, port string, err error) {
	bare := strings.HasPrefix(server, "[") && strings.HasSuffix(server, "]")
	switch {
	case bare:
		return server[1 : len(server)-1], defaultPort, nil
	case strings.Count(server, ":") == 0:
		return server, defaultPort, nil
	case strings.Count(server, ":") > 1 && !strings.HasPrefix(server, "["):
		return "", "", errors.New("an IPv6 address must stand in brackets")
	default:
		host, port, err = net.SplitHostPort(server)
		return host, port, err
	}
}

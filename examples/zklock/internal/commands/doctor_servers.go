package commands

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// examineServers asks each server for its settings, for at most so long.
func examineServers(ctx context.Context, connect string, limit time.Duration) (found []finding) {
	addresses, _, _ := strings.Cut(connect, "/")
	for address := range strings.SplitSeq(addresses, ",") {
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(strings.Trim(address, "[]"), "2181")
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		found = append(found, serverFindings(address, func(command string) (string, error) { return fourLetter(limited, address, command) })...)
		cancel()
	}
	return found
}

// fourLetter sends a four-letter command. Servers that do not allow it say so, or hang up.
func fourLetter(ctx context.Context, address, command string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := conn.Write([]byte(command)); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, 1<<20))
	if len(answer) > 0 {
		err = nil // a reset behind the answer is no matter
	}
	return string(answer), err
}

// serverFindings judges a server's settings.
func serverFindings(address string, ask func(command string) (string, error)) (found []finding) {
	version, role := "", ""
	if answer, err := ask("srvr"); err == nil {
		version = line(answer, "Zookeeper version: ")
		role = line(answer, "Mode: ")
	}
	conf, err := ask("conf")
	tick, ok1 := number(conf, "tickTime=")
	least, ok2 := number(conf, "minSessionTimeout=")
	most, ok3 := number(conf, "maxSessionTimeout=")
	if err != nil || !ok1 || !ok2 || !ok3 {
		why := "it does not answer the four-letter command conf"
		if err != nil {
			why = err.Error()
		}
		return append(found, finding{
			unknown, address, "its settings: " + why,
			"4lw.commands.whitelist=conf,srvr lets it tell; with TLS only, look into its zoo.cfg: minSessionTimeout must be two ticks or more",
		})
	}
	version, _, _ = strings.Cut(version, "-")
	found = append(found, finding{
		fine, address, fmt.Sprintf("ZooKeeper %s, %s; tick %v, sessions of %v to %v",
			or(version, "of unknown version"), or(role, "of unknown role"), ms(tick), ms(least), ms(most)), "",
	})
	if least < 2*tick {
		found = append(found, finding{
			wrong, address, fmt.Sprintf("minSessionTimeout is %v, less than two ticks of %v: with such a session a holder may learn too late "+
				"that it has lost its lock", ms(least), ms(tick)), "leave minSessionTimeout out, or set it to two ticks at least",
		})
	}
	if strings.HasPrefix(version, "3.4.") {
		found = append(found, finding{
			look, address, "it is older than 3.5: directories of locks stay for ever, and watches of given-up waits until they fire", "upgrade it",
		})
	}
	return found
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

// line is the rest of the line that begins with a text.
func line(answer, begin string) string {
	for l := range strings.Lines(answer) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), begin); ok {
			return rest
		}
	}
	return ""
}

func number(answer, begin string) (int64, bool) {
	n, err := strconv.ParseInt(line(answer, begin), 10, 64)
	return n, err == nil
}

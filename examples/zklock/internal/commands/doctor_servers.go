package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
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

// serverFindings judges a server by its version and its settings.
func serverFindings(address string, ask func(command string) (string, error)) (found []finding) {
	srvr, err1 := ask("srvr")
	if keeper := line(srvr, "ClickHouse Keeper version: "); keeper != "" {
		return []finding{{unknown, address, "it is ClickHouse Keeper " + keeper + ": doctor knows ZooKeeper's releases and settings only", ""}}
	}
	conf, err2 := ask("conf")
	version := line(srvr, "Zookeeper version: ")
	settings, told := parseSettings(conf)
	if version != "" || told {
		found = append(found, finding{fine, address, summary(version, line(srvr, "Mode: "), settings, told), ""})
	}
	if told && settings.least < 2*settings.tick {
		found = append(found, finding{
			wrong, address, fmt.Sprintf("minSessionTimeout is %v, less than two ticks of %v: with such a session a holder may learn too late "+
				"that it has lost its lock", settings.least, settings.tick), "leave minSessionTimeout out, or set it to two ticks at least",
		})
	}
	if version != "" {
		found = append(found, versionFinding(address, version))
	}
	if strings.HasPrefix(version, "3.4.") {
		found = append(found, finding{
			look, address, "it is older than 3.5: directories of locks stay for ever, and watches of given-up waits until they fire", "upgrade it",
		})
	}
	found = append(found, silenceFinding(address, version != "", told, cmp.Or(err2, err1)))
	return slices.DeleteFunc(found, func(f finding) bool { return f.Level == "" })
}

// silenceFinding says what a server did not tell, and why.
func silenceFinding(address string, version, settings bool, err error) finding {
	var missing, commands []string
	if !version {
		missing, commands = append(missing, "version"), append(commands, "srvr")
	}
	if !settings {
		missing, commands = append(missing, "settings"), append(commands, "conf")
	}
	if len(missing) == 0 {
		return finding{}
	}
	why := "it does not answer the four-letter command " + strings.Join(commands, ", nor ")
	if err != nil {
		why = err.Error()
	}
	return finding{
		unknown, address, "its " + strings.Join(missing, " and its ") + ": " + why,
		"4lw.commands.whitelist=conf,srvr lets it tell; with TLS only, look at the server itself: its version must be 3.9.4 or later, and " +
			"minSessionTimeout in its zoo.cfg two ticks or more",
	}
}

// settings are those of a server that locks rest on.
type settings struct{ tick, least, most time.Duration }

// parseSettings reads the answer to conf. told is false if one is missing.
func parseSettings(conf string) (s settings, told bool) {
	told = true
	for begin, value := range map[string]*time.Duration{"tickTime=": &s.tick, "minSessionTimeout=": &s.least, "maxSessionTimeout=": &s.most} {
		n, err := strconv.ParseInt(line(conf, begin), 10, 64)
		*value = time.Duration(n) * time.Millisecond
		told = told && err == nil
	}
	return s, told
}

// summary is what a server has told, without a judgement.
func summary(version, role string, s settings, told bool) string {
	version, _, _ = strings.Cut(version, ",") // from here on it says when it was built
	version, _, _ = strings.Cut(version, "-")
	text := fmt.Sprintf("ZooKeeper %s, %s", cmp.Or(version, "of unknown version"), cmp.Or(role, "of unknown role"))
	if told {
		text += fmt.Sprintf("; tick %v, sessions of %v to %v", s.tick, s.least, s.most)
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

package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
)

// Servers examines all servers in parallel, and blocks for at most limit. served is set if one of them may serve
// clients: it has answered, be it that it does not allow the command. asked is the session timeout that
// programs ask for, or were granted.
func Servers(ctx context.Context, servers []fourletter.Server, asked, limit time.Duration) (found []Finding, served bool) {
	all := make([][]Finding, len(servers))
	serves := make([]bool, len(servers))
	limits := make([]limitsOf, len(servers))
	fourletter.Each(ctx, len(servers), limit, func(ctx context.Context, i int) {
		all[i], serves[i] = serverFindings(servers[i].Address, func(command string) (string, error) {
			answer, err := servers[i].Ask(ctx, command)
			if command == "conf" {
				s, known := parseSettings(answer)
				limits[i] = limitsOf{servers[i].Address, s, known}
			}
			return answer, err
		})
	})
	return append(slices.Concat(all...), limitFindings(limits, asked)...), slices.Contains(serves, true)
}

// Outages asks all servers in parallel whether they serve clients, and returns what is wrong with those that do not. It
// blocks for at most limit.
func Outages(ctx context.Context, servers []fourletter.Server, limit time.Duration) []Finding {
	all := make([]Finding, len(servers))
	fourletter.Each(ctx, len(servers), limit, func(ctx context.Context, i int) {
		_, err := servers[i].Ask(ctx, "srvr")
		all[i] = outageFinding(servers[i].Address, err)
	})
	return slices.DeleteFunc(all, func(f Finding) bool { return f.Level == "" })
}

// serverFindings judges a server by its version and its settings.
func serverFindings(address string, ask func(command string) (string, error)) (found []Finding, serves bool) {
	srvr, err := ask("srvr")
	if outage := outageFinding(address, err); outage.Level != "" {
		return []Finding{outage}, false
	}
	if keeper := line(srvr, "ClickHouse Keeper version: "); keeper != "" {
		return []Finding{{Unknown, address, "it is ClickHouse Keeper " + keeper + ": doctor knows ZooKeeper's releases and settings only", ""}}, true
	}
	conf, confErr := ask("conf")
	version := line(srvr, "Zookeeper version: ")
	settings, known := parseSettings(conf)
	if version != "" || known {
		found = append(found, Finding{OK, address, summary(version, line(srvr, "Mode: "), settings, known), ""})
	}
	if known && settings.least < 2*settings.tick {
		found = append(found, Finding{
			Wrong, address, fmt.Sprintf("minSessionTimeout is %v, less than two ticks of %v: with such a session a holder may learn too late "+
				"that it has lost its lock", settings.least, settings.tick), "leave minSessionTimeout out, or set it to two ticks at least",
		})
	}
	if version != "" {
		found = append(found, versionFinding(address, version))
	}
	if strings.HasPrefix(version, "3.4.") {
		found = append(found, Finding{
			Look, address, "it is older than 3.5: directories of locks stay for ever, and watches of given-up waits until they fire", "upgrade it",
		})
	}
	if version == "" {
		found = append(found, untoldFinding(address, "its version", "srvr", err))
	}
	if !known {
		found = append(found, untoldFinding(address, "its settings", "conf", confErr))
	}
	return slices.DeleteFunc(found, func(f Finding) bool { return f.Level == "" }), true
}

// outageFinding says that a server serves no client, by its error to srvr, which every server of a default installation
// allows. Its Level is empty if the server may serve clients.
func outageFinding(address string, err error) Finding {
	var advice string
	switch fourletter.TroubleOf(err) {
	case fourletter.Unreachable:
		advice = "does the server run, is its address in -zk right, and does a firewall let this machine through?"
	case fourletter.Silent:
		advice = "is its process stopped, or without memory? is this the port for clients, 2181 by default? See the server's log"
	case fourletter.HungUp:
		advice = "is this the port for clients, 2181 by default, and does it speak TLS (-tls) or not? See the server's log"
	case fourletter.Foreign:
		advice = "name the port for clients, 2181 by default; -tls is for a port that speaks TLS"
	case fourletter.NotServing:
		return Finding{Wrong, address, err.Error(), "more than half of the servers must run and reach each other; see the servers' logs"}
	default:
		return Finding{}
	}
	return Finding{Wrong, address, "does not answer: " + err.Error(), advice}
}

// untoldFinding says what a server that answers did not tell, and why.
func untoldFinding(address, what, command string, err error) Finding {
	const look = "or look at the server itself: its version must be 3.9.4 or later, and minSessionTimeout in its zoo.cfg two ticks or more"
	why := "its answer to " + command + " lacks that"
	if err != nil {
		why = err.Error()
	}
	return Finding{Unknown, address, what + ": " + why, fourletter.Whitelist("srvr", "conf") + " lets it answer; " + look}
}

// settings are the settings of a server that locks rely on.
type settings struct{ tick, least, most time.Duration }

// parseSettings reads the answer to conf. known is false if a setting is missing.
func parseSettings(conf string) (s settings, known bool) {
	known = true
	for begin, value := range map[string]*time.Duration{"tickTime=": &s.tick, "minSessionTimeout=": &s.least, "maxSessionTimeout=": &s.most} {
		n, err := strconv.ParseInt(line(conf, begin), 10, 64)
		*value = time.Duration(n) * time.Millisecond
		known = known && err == nil
	}
	return s, known
}

// summary is what a server has answered, without a judgement.
func summary(version, role string, s settings, known bool) string {
	version, _, _ = strings.Cut(version, ",") // from here on it says when it was built
	version, _, _ = strings.Cut(version, "-")
	text := fmt.Sprintf("ZooKeeper %s, %s", cmp.Or(version, "of unknown version"), cmp.Or(role, "of unknown role"))
	if known {
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

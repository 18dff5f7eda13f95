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

// Servers asks each server for its settings, for at most so long.
func Servers(ctx context.Context, connect string, limit time.Duration) (found []Finding) {
	for _, address := range fourletter.Addresses(connect) {
		limited, cancel := context.WithTimeout(ctx, limit)
		found = append(found, serverFindings(address, func(command string) (string, error) { return fourletter.Ask(limited, address, command) })...)
		cancel()
	}
	return found
}

// serverFindings judges a server by its version and its settings.
func serverFindings(address string, ask func(command string) (string, error)) (found []Finding) {
	srvr, err1 := ask("srvr")
	if keeper := line(srvr, "ClickHouse Keeper version: "); keeper != "" {
		return []Finding{{Unknown, address, "it is ClickHouse Keeper " + keeper + ": doctor knows ZooKeeper's releases and settings only", ""}}
	}
	conf, err2 := ask("conf")
	version := line(srvr, "Zookeeper version: ")
	settings, told := parseSettings(conf)
	if version != "" || told {
		found = append(found, Finding{OK, address, summary(version, line(srvr, "Mode: "), settings, told), ""})
	}
	if told && settings.least < 2*settings.tick {
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
	found = append(found, silenceFinding(address, version != "", told, cmp.Or(err2, err1)))
	return slices.DeleteFunc(found, func(f Finding) bool { return f.Level == "" })
}

// silenceFinding says what a server did not tell, and why.
func silenceFinding(address string, version, settings bool, err error) Finding {
	var missing, commands []string
	if !version {
		missing, commands = append(missing, "version"), append(commands, "srvr")
	}
	if !settings {
		missing, commands = append(missing, "settings"), append(commands, "conf")
	}
	if len(missing) == 0 {
		return Finding{}
	}
	why := "it does not answer the four-letter command " + strings.Join(commands, ", nor ")
	if err != nil {
		why = err.Error()
	}
	return Finding{
		Unknown, address, "its " + strings.Join(missing, " and its ") + ": " + why,
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

package commands

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/doctor"
	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/framework"
)

const doctorHelp = `zklock doctor [flags] [PATH]

Looks at the locks at and below a path, / if there is none, and at the servers,
for what is wrong or will be. It only reads.

  strangers     children of a lock that are no contenders: Java Curator takes
                every child for one, and "0" would block it for ever
  orphans       contenders that no session ends, since they are not ephemeral
  mixed kinds   two kinds of lock on one path do not exclude each other
  permissions   directories that no client may create in, or delete from
  counters      directories whose numbers come to their end
  sessions      with very many locks, and those that wait behind themselves
  outages       servers that refuse connections, do not answer, hang up without
                a word, or have no leader
  DNS           does not answer for the SRV records in -zk, or they are wrong
  settings      of servers that weaken the promise that a holder knows first:
                sessions shorter than two ticks; limits that differ, or that
                -session reaches, since a limit that is lower than a session
                may shorten it without its client's knowledge
  releases      of servers that can lose writes that were answered, so that
                two hold one lock; 3.9.4 and later have the mends that there are

A server must allow the four-letter commands conf and srvr, or doctor says
UNKNOWN; by default servers allow srvr alone. All servers are asked at one
time, with TLS if -tls or the like is given. If none of them serves clients,
doctor prints what it knows of each, and the exit status is 69.

What no server reports: forceSync=no, with which a loss of power loses writes
that were answered. Look into each zoo.cfg and the Java options.

WRONG breaks a lock, now or later; LOOK may be intended, or do harm only
rarely; UNKNOWN could not be found out. LOOK and UNKNOWN leave the exit status
alone.

Examples:

  zklock doctor -zk zk1:2181,zk2:2181,zk3:2181
  zklock doctor -json /locks

Exit status: as below; and 1 if something is wrong.
` + statuses

func newDoctor(set *flag.FlagSet) *looker {
	many := set.Int("many", 100, "how many locks of one session are worth a look")
	limit := answerWithin(set, 5*time.Second)
	return &looker{paths: [2]int{0, 1}, do: func(ctx context.Context, s *scene) error {
		if *limit <= 0 {
			return &statusError{run.ExitUsage, fmt.Errorf("-answer-within %v: want a time that is not zero", *limit)}
		}
		root := "/"
		if len(s.paths) > 0 {
			root = s.paths[0]
		}
		atServers, served := examineServers(ctx, s, *limit)
		found, reached, err := examine(ctx, s.client, root, *many, served)
		if err != nil {
			return err
		}
		found = append(found, atServers...)
		if s.json {
			err = s.printJSON(found)
		} else {
			err = s.print(report(found))
		}
		if err != nil {
			return err
		}
		return verdict(found, reached)
	}}
}

// examineServers examines the servers. If they cannot be found, that is a finding, and served is set, since the client
// may have found one before.
func examineServers(ctx context.Context, s *scene, limit time.Duration) (found []doctor.Finding, served bool) {
	asked, err := s.servers.Each(ctx, limit)
	if err != nil {
		return []doctor.Finding{{
			Level: doctor.Wrong, About: "DNS", What: "the servers were not looked at: " + err.Error(),
			Advice: "clients that start now find no server: are the name in -zk and its records right, and does this machine's DNS server answer?",
		}}, true
	}
	return doctor.Servers(ctx, asked, s.servers.Session, limit)
}

// answerWithin is the flag for how long servers may take to answer four-letter commands.
func answerWithin(set *flag.FlagSet, limit time.Duration) *time.Duration {
	return set.Duration("answer-within", limit, "how `long` to wait for the servers' answers to four-letter commands")
}

// examine looks at locks. If no server is reached, that is a finding, and reached is false: the findings on the servers
// say why.
func examine(ctx context.Context, client *framework.Client, root string, many int, served bool) (found []doctor.Finding, reached bool, err error) {
	const what = "its locks were not looked at: "
	if !served {
		return []doctor.Finding{{Level: doctor.Unknown, About: root, What: what + "no server serves clients"}}, false, nil
	}
	found, err = doctor.Locks(ctx, client, root, many, false)
	if run.ExitCode(err) == run.ExitUnreachable && ctx.Err() == nil {
		return []doctor.Finding{{Level: doctor.Unknown, About: root, What: what + err.Error()}}, false, nil
	}
	return found, true, err
}

// verdict is the end of doctor by what it has found.
func verdict(found []doctor.Finding, reached bool) error {
	switch {
	case !reached:
		return &statusError{run.ExitUnreachable, nil}
	case slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Level == doctor.Wrong }):
		return &statusError{ExitFound, nil}
	default:
		return nil
	}
}

// report prints findings in 80 columns, the worst first.
func report(found []doctor.Finding) string {
	var out strings.Builder
	for _, level := range []string{doctor.Wrong, doctor.Look, doctor.Unknown, doctor.OK} {
		for _, f := range found {
			if f.Level != level {
				continue
			}
			text := survey.Printable(f.About + ": " + f.What)
			for i, line := range manual.Wrap(text, 70) {
				if i == 0 {
					fmt.Fprintf(&out, "%-8s  %s\n", strings.ToUpper(f.Level), line)
				} else {
					fmt.Fprintf(&out, "%10s%s\n", "", line)
				}
			}
			if f.Advice == "" {
				continue
			}
			for _, line := range manual.Wrap("→ "+f.Advice, 68) {
				fmt.Fprintf(&out, "%12s%s\n", "", line)
			}
		}
	}
	return out.String()
}

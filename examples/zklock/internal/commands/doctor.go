package commands

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/gocurator/curator/examples/zklock/internal/doctor"
	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
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
  settings      of servers that weaken the promise that a holder knows first:
                sessions shorter than two ticks
  releases      of servers that can lose writes that were answered, so that
                two hold one lock; 3.9.4 and later have the mends that there are

A server must allow the four-letter commands conf and srvr, or doctor says
UNKNOWN; by default servers allow srvr alone.

What no server tells: forceSync=no, with which a loss of power loses writes
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
	return &looker{paths: [2]int{0, 1}, do: func(ctx context.Context, s *scene) error {
		root := "/"
		if len(s.paths) > 0 {
			root = s.paths[0]
		}
		found, err := doctor.Locks(ctx, s.client, root, *many)
		if err != nil {
			return err
		}
		found = append(found, doctor.Servers(ctx, s.servers, s.limit)...)
		if s.json {
			err = s.printJSON(found)
		} else {
			err = s.print(report(found))
		}
		for _, f := range found {
			if f.Level == doctor.Wrong && err == nil {
				return &statusError{ExitFound, nil}
			}
		}
		return err
	}}
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

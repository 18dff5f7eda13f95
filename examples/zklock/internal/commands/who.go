package commands

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/contact"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

const whoHelp = `zklock who [flags] PATH

Shows who holds a lock and who waits for it, in the order in which they came.
It knows mutexes, read/write locks, semaphores and elections, of this library,
of Java Curator, of kazoo and of go-zookeeper. It only reads.

  STATE    holds; reads (the read lock); leads (a latch); waits;
           waits to read; next (has asked for a semaphore's lease, and waits
           for it: also the first of those that wait)
  FOR      since its node was made: it came then, and may have been let in later
  TOKEN    its fencing token
  SESSION  whose it is: all nodes with one session are one client's. One with
           none is not ephemeral: no end of a process removes it
  WHO      the data of its node: zklock run -data, locks.WithLockData, or an
           address of the machine. Those that wait for a semaphore have the
           address alone. Revoked holders show that instead. On a terminal
           it is cut at its width

Below the table who shows whether the clients of the holders, and of the first
three that wait, live: from where each is connected, when a server heard it
last, and when its session ends if it is not heard again. For that it asks the
servers of -zk by the four-letter commands cons and dump, which they must
allow: 4lw.commands.whitelist=cons,dump,srvr,conf. A time with "about" may be
wrong by two ticks of the servers, 4s by default; and a new leader gives all
sessions their whole time again. -answer-within 0s does not ask.

Examples:

  zklock who -zk zk1:2181 /locks/nightly
  zklock who -nodes /locks/nightly      # with the names of the nodes
  zklock who -json /locks/nightly | jq -r '.contenders[0].who'
  zklock who -json /locks/nightly | jq '.contenders[0].client'
` + statuses

func newWho(set *flag.FlagSet) *looker {
	nodes := set.Bool("nodes", false, "print the names of the nodes, too")
	limit := answerWithin(set, 2*time.Second)
	return &looker{paths: [2]int{1, 1}, do: func(ctx context.Context, s *scene) error {
		lock, err := survey.Read(ctx, s.client, s.paths[0])
		if err != nil {
			return err
		}
		report, err := s.contact(ctx, lock, *limit)
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(whoJSON(lock, report))
		}
		return s.print(whoTable(lock, time.Now(), *nodes, columns(s.out)) + clientsText(lock, report))
	}}
}

// whoJSON adds each contender's session as people write it, since JSON would not keep the number, and what the servers
// have answered; report may be nil.
func whoJSON(lock *survey.Lock, report *contact.Report) map[string]any {
	text, err := json.Marshal(lock)
	if err != nil {
		return nil // all fields are plain
	}
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil // likewise
	}
	list, _ := value["contenders"].([]any)
	for i, c := range list {
		fields, ok := c.(map[string]any)
		if !ok {
			continue
		}
		session := lock.Contenders[i].Session
		fields["session"] = fmt.Sprintf("%#x", uint64(session))
		fields["token"] = lock.Contenders[i].Token
		fields["ephemeral"] = session != 0
		if report != nil && session != 0 {
			fields["client"] = report.Client(session)
		}
	}
	if report != nil {
		value["servers"] = report.Answers
		if report.Failed != nil {
			value["servers_error"] = report.Failed.Error()
		}
	}
	return value
}

// whoTable prints a lock in so many columns; 0 is no limit. Times are the servers', so a clock that differs from theirs
// makes FOR wrong.
func whoTable(lock *survey.Lock, now time.Time, nodes bool, columns int) string {
	var out strings.Builder
	if len(lock.Contenders) == 0 {
		return lock.Path + " is free: nothing holds it or waits for it\n"
	}
	fmt.Fprintf(&out, "%s: %s, held by %d, %d waiting\n\n", lock.Path, lock.Kind, len(lock.Holders()), lock.Waiting())
	width := stateWidth(lock)
	fmt.Fprintf(&out, "%-*s  %8s  %-12s  %-18s  %s\n", width, "STATE", "FOR", "TOKEN", "SESSION", "WHO")
	for _, c := range lock.Contenders {
		fmt.Fprintf(&out, "%-*s  %8s  %-12d  %-18s  %s\n", width, c.State, short(now.Sub(c.Since)), c.Token,
			sessionText(c.Session), survey.Cut(c.Who, room(columns, 46+width)))
		if nodes {
			fmt.Fprintf(&out, "       %s\n", c.Node)
		}
	}
	if len(lock.Strangers) > 0 {
		fmt.Fprintf(&out, "\n%d other children are no contenders: zklock doctor %s\n", len(lock.Strangers), lock.Path)
	}
	return out.String()
}

// sessionText is a session as people write it. A node that is not ephemeral has none.
func sessionText(session int64) string {
	if session == 0 {
		return "none"
	}
	return fmt.Sprintf("%#x", uint64(session))
}

// stateWidth is how wide the column of states is.
func stateWidth(lock *survey.Lock) int {
	width := len("STATE")
	for _, c := range lock.Contenders {
		width = max(width, len(c.State))
	}
	return width
}

// short is a duration in at most eight columns.
func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

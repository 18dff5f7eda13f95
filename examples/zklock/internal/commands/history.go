package commands

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// ExitIncomplete is history's status if a part of the files is damaged or missing.
const ExitIncomplete = 65

const historyHelp = `zklock history [flags] DIR... PATH

Shows who queued at a lock, who held it and how that ended, from the transaction
logs and snapshots of a ZooKeeper server, of the releases 3.5 to 3.9. It asks no
server: it reads files, also beside a running server, or copies of them.

DIR is a server's dataDir, or version-2 in it; with dataLogDir, give both. Give
those of all servers of an ensemble for what they have executed together: the
log of one alone may lack transactions, or have some that were never executed.
That is said, with status 65; and so it is if an ensemble has had more than one
leader, and no server's snapshots are in the DIR of its logs, or of all servers
in another: these show what a server got by a snapshot, and has in no log.

PATH is a lock, or a directory above several. Of several it lists the locks. A
node in a lock, and the leases or the gate of a semaphore, stand for their lock.

  QUEUED   when its node was made: for a semaphore's lease, when its client came
  WAITED   until no contender was in its way
  HELD     from then on: the earliest moment at which its client can hold. The
           client learns of it later, and may end its work earlier. "<" says
           that it was let in before the logs begin
  ENDED    released (by its own session), gave up (while it waited), closed
           (its client closed the session), expired (the servers ended the
           session), removed (by another session or by hand), unknown (in a gap
           of the logs, or whose it was is not known); or what it does still:
           holds, waits
  TOKEN    its fencing token, which is the zxid of its node's creation
  SESSION  whose it was
  WHO      the data of its node

Whose turn it is, is decided by the rule of this library: all nodes of a lock
count. Clients of other libraries may hold while their nodes are shown to wait,
or to have given up. Curator for Java does not wait for kazoo's nodes, nor a
mutex of it for readers and writers on its path, and before 5.5 a writer that
becomes a reader is in beside the next writer. kazoo waits for others only if
it is set to. If a lock's nodes were mixed so, that is said below it, and in
"may_overlap" of -json.

A semaphore's lease that its session removed before it left the gate was never
held; those of one acquire are let in together. Of leases that are older than
the logs it may not be known whose place at the gate was their own.

Times are those of the ensemble's leader, when it took a request up. Servers do
not store the limit of a semaphore: it is taken for the most leases that were
held together, unless -limit says it. A lock that is retained, by RetainedLock,
is one hold, whatever its client did in between: of the holds within it servers
do not hear, but the records for -check have each. The leases of a semaphore of
kazoo are not read, since their nodes have no numbers; PATH-__lock__ is the
queue for them. Snapshots may be compressed, by gzip or snappy.

What is damaged, missing, or was never executed is said on the standard error
and in "notes" of -json; all the rest is shown. What may have been executed is
shown as well, and said: such are the newest transactions if most of the servers
have older files. Nodes that are older than the logs are known from a snapshot,
and so is what came or went in a gap. A node that no file has, or whose end is
in a gap, has no times, and durations that follow from them are not known: "?",
or null.

-json without -check prints one object: path, from and to (zxid and time of the
first and the newest transaction), locks, omitted, notes, and more_notes, which
is how many notes there are beyond. A lock has path, kind, limit, may_overlap
and contenders; a contender has path, node, kind, by, session, who, token,
czxid, queued, let_in, let_in_earlier, asked_to_leave, asked_earlier (before the
logs begin), ended, how, ended_by, waited_seconds and held_seconds. A note has
kind, file, offset, first, last and text.

-check lays a file of records over the logs, as package zklock/holds/records
writes them: a line of JSON for each hold, with the session, the token, and the
newest transaction that the client had seen at its begin and at its end. -check
may be given several times, for all that held the lock. It says of each two
holds that exclude each other whether they overlapped, did not, or that it
cannot tell. Transactions decide that, never the clocks of two processes: when a
lost hold ended, its client's clock alone has recorded. So of that and the next
hold it cannot tell, unless the process that lost it held the lock once more
before the next one began. It also finds holds without a record, records without
a node, tokens and sessions that differ, and holds that outlasted their node. It
judges all that the logs have, and keeps 500,000 contenders unless -most says
how many. Give the files to which records were rotated as well.

With -json it prints path, verdict, locks, and notes of the records. A lock has
path, verdict, holds, outside, may_overlap, groups and findings, at most 100 of
each, and how many there are: overlaps, unclear and found. A group has verdict,
why and holds, which are records with who and bounds: a hold began after the
first zxid and before the second, and ended after the third and before the
fourth; 0 is no bound.

Examples:

  zklock history /var/lib/zookeeper /locks/nightly
  zklock history -last 1h -lanes /var/lib/zookeeper /locks/nightly
  zklock history -longest 10 zk1/version-2 zk2/version-2 zk3/version-2 /locks
  zklock history -json -from "2026-11-24 09:00:00" zk1 /locks/nightly
  zklock history -check a.ndjson -check b.ndjson zk1 zk2 zk3 /locks/nightly

Exit status: 0, with -check if nothing overlapped; 1 if holds overlapped; 64
wrong usage; 65 something is damaged, missing or not certain, the rest is shown,
or -check cannot tell; 66 there is no log in DIR, no lock at PATH in it, or no
file of records; 70 another failure.
`

// A historian is what history's flags say.
type historian struct {
	set      *flag.FlagSet
	json     bool
	lanes    bool
	last     time.Duration
	longest  int
	from, to moment
	o        history.Options
	records  fileNames // -check
}

func newHistorian() *historian {
	h := &historian{set: flag.NewFlagSet("zklock history", flag.ContinueOnError)}
	h.set.SetOutput(io.Discard)
	h.set.BoolVar(&h.json, "json", false, "print JSON")
	h.set.BoolVar(&h.lanes, "lanes", false, "draw a line for each client, over time")
	h.set.DurationVar(&h.last, "last", 0, "the `duration` before the newest transaction alone")
	h.set.Var(&h.from, "from", "leave out what ended before a `time`: 2026-11-24 09:00:00, local, or RFC 3339")
	h.set.Var(&h.to, "to", "leave out what came after a `time`")
	h.set.IntVar(&h.longest, "longest", 0, "print the `number` longest waits, and those that waited most often, alone")
	h.set.IntVar(&h.o.Most, "most", 10000, "the `number` of contenders that are kept, the newest; 0 for all, as memory allows")
	h.set.Var(&h.records, "check", "lay a `file` of clients' records over it, and say whether holds overlapped; several times for several files")
	h.set.IntVar(&h.o.Limit, "limit", 0, "the `number` of leases that the semaphores have, if it is known")
	return h
}

// A moment is a time on the command line.
type moment struct{ time.Time }

func (m *moment) String() string { return "" }

func (m *moment) Set(text string) (err error) {
	if m.Time, err = time.Parse(time.RFC3339, text); err == nil {
		return nil
	}
	for _, layout := range []string{time.DateTime, "2006-01-02T15:04:05"} {
		if m.Time, err = time.ParseInLocation(layout, text, time.Local); err == nil { //nolint:gosmopolitan // as people type it
			return nil
		}
	}
	return errors.New(`want a time such as "2026-11-24 09:00:00" or 2026-11-24T09:00:00Z`)
}

// readHistory runs the command, and returns the status of the process.
func readHistory(args []string, out, errs io.Writer) int {
	h := newHistorian()
	words, err := run.Interleaved(h.set, args)
	if errors.Is(err, flag.ErrHelp) {
		manual.PrintAlone(out, historyHelp, h.set)
		return 0
	}
	fail := func(code int, err error) int {
		text := strings.ReplaceAll(err.Error(), "\n", "; ") // errors that are joined
		_, _ = fmt.Fprintf(errs, "zklock history: %s\n", survey.Printable(text))
		if code == run.ExitUsage {
			_, _ = fmt.Fprintln(errs, "zklock history -h has the manual")
		}
		return code
	}
	if err := errors.Join(err, h.check(words)); err != nil {
		return fail(run.ExitUsage, err)
	}
	h.o.From, h.o.To = h.from.Time, h.to.Time
	if len(h.records) > 0 {
		h.keepForCheck()
	}
	dirs, path := words[:len(words)-1], words[len(words)-1]
	found, err := history.Read(path, dirs, h.last, h.o)
	status := 0
	if found != nil {
		status = sayNotes(errs, found)
	}
	switch {
	case errors.Is(err, history.ErrNoLock), errors.Is(err, os.ErrNotExist):
		return fail(ExitNoLock, err)
	case err != nil:
		return fail(run.ExitSoftware, err)
	}
	if len(h.records) > 0 {
		return h.checkRecords(out, fail, found, status)
	}
	if err := h.print(out, found); err != nil {
		return fail(run.ExitSoftware, err)
	}
	return status
}

func (h *historian) check(words []string) (err error) {
	if len(words) < 2 {
		return errors.New("want a directory of a server, and the path of a lock behind it")
	}
	switch {
	case h.last < 0 || h.longest < 0 || h.o.Most < 0 || h.o.Limit < 0:
		err = errors.New("-last, -longest, -most and -limit are not negative")
	case h.last > 0 && !h.from.IsZero():
		err = errors.New("-last and -from exclude each other")
	case h.json && (h.lanes || h.longest > 0):
		err = errors.New("-json has everything: without -lanes and -longest")
	case len(h.records) > 0 && (h.lanes || h.longest > 0):
		err = errors.New("-check prints what it finds alone: without -lanes and -longest")
	case len(h.records) > 0 && (h.last > 0 || !h.from.IsZero() || !h.to.IsZero()):
		err = errors.New("-check judges all that the logs have: without -last, -from and -to")
	}
	return errors.Join(err, validate(words[len(words)-1:]))
}

// sayNotes prints what is wrong with the files. Its status is not 0 if they do not say all.
func sayNotes(errs io.Writer, h *history.History) (status int) {
	for _, n := range h.Notes {
		_, _ = fmt.Fprintf(errs, "zklock history: %s\n", survey.Printable(n.String()))
	}
	if h.Incomplete {
		status = ExitIncomplete
	}
	if h.MoreNotes > 0 {
		_, _ = fmt.Fprintf(errs, "zklock history: and %d more\n", h.MoreNotes)
	}
	if h.Omitted > 0 {
		_, _ = fmt.Fprintf(errs, "zklock history: the %d oldest contenders are left out; -from, -to and -most choose others\n", h.Omitted)
	}
	return status
}

func (h *historian) print(out io.Writer, found *history.History) error {
	if h.json {
		return printHistory(out, found)
	}
	wide := columns(out)
	var parts []string
	if len(found.Locks) > 1 {
		parts = append(parts, locksTable(found, wide))
	}
	for i := range found.Locks {
		if h.lanes {
			parts = append(parts, lanesOf(found, &found.Locks[i], h.o, wide > 0))
		}
	}
	if h.longest > 0 {
		parts = append(parts, longestTable(found, h.longest, wide))
	}
	if len(parts) == 0 {
		parts = append(parts, historyTable(found, &found.Locks[0], wide))
	}
	text := strings.Join(parts, "\n")
	_, err := io.WriteString(out, text)
	return err
}

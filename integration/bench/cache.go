//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/integration/bench/caches"
	"github.com/gocurator/curator/integration/bench/plan"
)

// cacheOptions are the settings of "bench cache".
type cacheOptions struct {
	impls   list
	nodes   list
	many    list
	disturb string
	at      list
	changes int
	cuts    int
	quiet   time.Duration
	timeout time.Duration
	session time.Duration
	memory  string
}

const cacheUsage = `usage: go run . cache [flags]

Measures caches of trees, with 100 bytes in each node, and prints one table. It takes a few minutes.

First this library's CuratorCache, Java Curator's CuratorCache and kazoo's TreeCache, one after the other, on a
ZooKeeper on loopback: the time from the start to the event that the cache is full, of a process that has just started
and of a second cache in it; what a node takes in memory; and the time from the call that changes a node to the event.
A tree has 100 nodes for each directory. Memory is used heap after a collection, in Python growth of the process.

Then many caches of one client of this library, each with a tree of its own, on zktest in the same process: the time
until all are full, and until all have read again after a cut; memory of the caches without the server's tree, and the
time to an event.

Last, what caches do to a lease of the same client, with a session timeout T of 4 s: while there are none, while they
fill, and while they read again after cuts. "lease left" is the least time that it had left. That is at most 0.49 T
without caches as well: a renewal is sent T/4 after the answer to the last one, and proves what was answered T/4 before
it was sent. The renewals are transactions that change nothing, as real ones, but every 5 ms: often enough for a
percentile; their times are from call to return. "lost" is how often the client had no connection without a cut: it
leaves a server that is silent for T/8. At most 64 reads should be under way, and the 99th percentile should grow by less
than 50 ms.

`

func parseCache(args []string, out io.Writer) (cacheOptions, error) {
	o := cacheOptions{
		impls: list{plan.Ours, plan.Reference, "kazoo"}, nodes: list{"1", "1000", "100000"}, many: list{"100x10000", "1000x1000"},
		at: list{"zookeeper", "zktest"},
	}
	flags := flag.NewFlagSet("bench cache", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		_, _ = fmt.Fprint(flags.Output(), cacheUsage)
		flags.PrintDefaults()
	}
	flags.Var(&o.impls, "impls", "`clients` to compare, separated by commas; none for an empty list")
	flags.Var(&o.nodes, "nodes", "`numbers` of nodes of their trees")
	flags.Var(&o.many, "many", "how many caches of one client, and of how many nodes each: `AxB,CxD`; none for an empty list")
	flags.StringVar(&o.disturb, "disturb", "100x1000", "how many caches disturb a lease, and of how many nodes each: `AxB`; empty for none")
	flags.Var(&o.at, "at", "`servers` where they do: zookeeper, zktest or both")
	flags.IntVar(&o.changes, "changes", 1000, "changes that are measured for each row")
	flags.IntVar(&o.cuts, "cuts", 5, "cuts after which the caches that disturb read again")
	flags.DurationVar(&o.quiet, "quiet", 5*time.Second, "how long the lease is looked at without caches")
	flags.DurationVar(&o.timeout, "timeout", 4*time.Second, "timeout of the session that has the lease; the default is the least that ZooKeeper grants")
	flags.DurationVar(&o.session, "session", 10*time.Second, "timeout of the sessions that are compared")
	flags.StringVar(&o.memory, "memory", "/dev/shm", "`directory` in memory, for the server's data")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var wrong []error
	if flags.NArg() > 0 {
		wrong = append(wrong, fmt.Errorf("what is %q?", flags.Args()))
	}
	for _, name := range o.impls.items() {
		if !slices.Contains([]string{plan.Ours, plan.Reference, "kazoo"}, name) {
			wrong = append(wrong, fmt.Errorf("-impls: no cache is called %q", name))
		}
	}
	for _, name := range o.at.items() {
		if !slices.Contains([]string{"zookeeper", "zktest"}, name) {
			wrong = append(wrong, fmt.Errorf("-at: no server is called %q", name))
		}
	}
	for _, text := range o.nodes.items() {
		if n, err := strconv.Atoi(text); err != nil || n < 1 {
			wrong = append(wrong, fmt.Errorf("-nodes %s: not a positive number", text))
		}
	}
	for _, text := range append(o.many.items(), list{o.disturb}.items()...) {
		if _, err := sizeOf(text); err != nil {
			wrong = append(wrong, err)
		}
	}
	if o.changes < 1 || o.cuts < 1 {
		wrong = append(wrong, errors.New("-changes and -cuts: at least one"))
	}
	return o, errors.Join(wrong...)
}

// items are the values of a list that are not empty.
func (l list) items() []string {
	return slices.DeleteFunc(slices.Clone(l), func(text string) bool { return text == "" })
}

// sizeOf reads 100x1000.
func sizeOf(text string) (size caches.Size, err error) {
	a, b, _ := strings.Cut(text, "x")
	size.Caches, err = strconv.Atoi(a)
	if err == nil {
		size.Nodes, err = strconv.Atoi(b)
	}
	if err != nil || size.Caches < 1 || size.Nodes < 1 {
		return size, fmt.Errorf("%q is no number of caches, x, and a number of nodes", text)
	}
	return size, nil
}

// cacheCommand is "bench cache".
func cacheCommand(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseCache(args, os.Stderr)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	t, err := measureCaches(ctx, o)
	return errors.Join(err, t.Write(out)) // what there is is printed even if the run was broken off
}

// Holds writes a record of each hold of a lock into a file, a line of JSON, and reads it back: who held the lock, from
// when to when, which transactions of the servers its client had seen at both ends, and how it ended.
//
// Package records, beside this program, is what yours can use: a Recorder makes a locks.Trace, and writes to a File
// that rotates at its size. It blocks no lock, and counts what it could not write. "zklock history -check" lays such
// files over the servers' transaction logs, and says whether two programs held the lock at one time.
//
//	go run -C examples/zklock ./holds                # on a server in memory
//	go run -C examples/zklock ./holds -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(recordHolds, demo.About(source)) }

// recordHolds has two clients hold a lock one after the other, of which the second loses it.
func recordHolds(ctx context.Context, env *demo.Env) (err error) {
	dir, err := os.MkdirTemp("", "holds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the directory for temporary files
	name := filepath.Join(dir, "holds.ndjson")
	file, err := records.OpenFile(name, 8<<20)
	if err != nil {
		return err
	}
	client := env.Client()
	root, err := client.AbsolutePath("/") // with the namespace; a chroot would come before it
	if err != nil {
		return err
	}
	recorder := records.NewRecorder(file, root)
	waits, ended := make(chan struct{}, 1), make(chan struct{}, 2)
	trace := recorder.Trace(locks.Trace{
		Waiting:  func(context.Context, locks.Waiting) { waits <- struct{}{} },
		Released: func(locks.Released) { ended <- struct{}{} },
		Lost:     func(locks.Lost) { ended <- struct{}{} },
	})
	held := errors.Join(twoHolds(ctx, env, client, trace, waits), await(ctx, ended, 2))
	if err := errors.Join(held, recorder.Close(), file.Close()); err != nil {
		return err
	}
	return printRecords(env, name)
}

func twoHolds(ctx context.Context, env *demo.Env, client *framework.Client, trace locks.Trace, waits <-chan struct{}) error {
	first, err := locks.NewInterProcessMutex(client, "/lock", locks.WithTrace(trace)).Acquire(ctx)
	if err != nil {
		return err
	}
	env.Say("the first client holds")
	other, line := env.BreakableClient()
	defer line.Heal()
	released := make(chan error, 1)
	go func() { released <- errors.Join(await(ctx, waits, 1), first.Release()) }()
	second, err := locks.NewInterProcessMutex(other, "/lock", locks.WithTrace(trace)).Acquire(ctx)
	if err := errors.Join(err, <-released); err != nil {
		return err
	}
	env.Say("the second client holds, and is cut off")
	line.Cut()
	select {
	case <-second.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await waits for so many signals.
func await(ctx context.Context, signals <-chan struct{}, most int) error {
	for range most {
		select {
		case <-signals:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func printRecords(env *demo.Env, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var all []records.Record
	report, err := records.Read(file, func(r records.Record) error {
		all = append(all, r)
		env.Say("%s: token %d, session %v, from zxid %d to %d, %v: %s %s", r.Path, r.Czxid, r.Session, r.Begin.Zxid, r.End.Zxid,
			r.End.Time.Sub(r.Begin.Time).Round(time.Millisecond), r.How, r.Reason)
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(all) != 2 || report.Broken > 0 || report.Missing > 0:
		return fmt.Errorf("got %d records and %+v, want 2 and nothing else", len(all), report)
	case all[0].How != records.Released || all[1].How != records.Lost || all[1].After != all[0].Node:
		return errors.New("the records are not those of a release and of a loss after it")
	}
	return nil
}

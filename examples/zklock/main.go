// Zklock runs programs under locks in ZooKeeper, and shows who holds them.
//
//	export ZOOKEEPER=zk1:2181,zk2:2181,zk3:2181
//	zklock run /locks/nightly -- ./backup.sh     # while it holds the lock; ends it in time if the lock is lost
//	zklock who /locks/nightly                    # who holds it, who waits
//	zklock help                                  # the other commands
//
// go install github.com/gocurator/curator/examples/zklock@latest
package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/gocurator/curator/examples/zklock/internal/commands"
	"github.com/gocurator/curator/examples/zklock/internal/run"
)

func main() { os.Exit(dispatch(os.Args[1:])) }

func dispatch(args []string) int {
	if len(args) == 0 {
		commands.Overview(os.Stderr)
		return run.ExitUsage
	}
	all, rest := commands.All(), args[1:]
	if at := slices.IndexFunc(all, func(c commands.Command) bool { return c.Name == args[0] }); at >= 0 {
		return all[at].Main(rest, os.Stdout, os.Stderr)
	}
	switch args[0] {
	case "run": // this system has none
		return run.Main(rest, os.Stdout, os.Stderr)
	case "keep": // zklock run starts this
		return run.Keep(rest)
	case "complete": // the scripts of completion call this
		commands.Complete(rest[min(len(rest), 1):], os.Stdout) // the first is "--"
		return 0
	case "completion":
		if commands.Completion(rest, os.Stdout) {
			return 0
		}
		fmt.Fprint(os.Stderr, commands.CompletionHelp)
		return run.ExitUsage
	case "help", "-h", "-help", "--help":
		return help(rest)
	default:
		fmt.Fprintf(os.Stderr, "zklock: there is no command %q; zklock help lists them\n", args[0])
		return run.ExitUsage
	}
}

// help prints the overview, the man page, or the manual of a command.
func help(args []string) int {
	if len(args) == 0 {
		commands.Overview(os.Stdout)
		return 0
	}
	if args[0] == "-man" {
		commands.Man(os.Stdout)
		return 0
	}
	return dispatch([]string{args[0], "-h"})
}

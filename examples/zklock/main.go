// Zklock runs programs under locks in ZooKeeper, and shows who holds them.
//
//	zklock run -zk zk1:2181 /locks/nightly -- ./backup.sh
package main

import (
	"fmt"
	"os"

	"github.com/gocurator/curator/examples/zklock/internal/run"
)

func main() { os.Exit(dispatch(os.Args[1:])) }

func dispatch(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "zklock: say what to do: zklock run …")
		return run.ExitUsage
	}
	switch args[0] {
	case "run":
		return run.Main(args[1:], os.Stdout, os.Stderr)
	case "keep": // zklock run starts this
		return run.Keep(args[1:])
	default:
		fmt.Fprintf(os.Stderr, "zklock: there is no command %q\n", args[0])
		return run.ExitUsage
	}
}

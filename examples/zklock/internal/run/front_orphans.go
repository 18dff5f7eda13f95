//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"fmt"
	"os"
	"strings"
)

// withKeepers adds the variable that names the front and the keeper to the environment of a command. Where the system
// does not show when processes began, it adds nothing.
func (f *front) withKeepers(env, around []string) []string {
	front, ok1 := identify(os.Getpid())
	keeper, ok2 := identify(f.family.leader)
	if !ok1 || !ok2 {
		return env
	}
	own := kept{servers: f.job.servers.Servers(), front: front, keeper: keeper}
	return append(env, keepersOf(os.Getenv(keepers), len(around), len(f.job.paths), own))
}

// startsBesideNone reports whether nothing remains on this machine of an earlier hold of the paths. Otherwise it says
// what: the caller has the lock, starts nothing, and releases.
func (f *front) startsBesideNone() bool {
	left := names(append(strangers(f.plan.margin), proc.orphans(f.job.servers.Servers(), f.job.paths)...))
	if len(left) == 0 {
		return true
	}
	f.tell(Event{
		Event: "failed", Processes: left, problem: true, Reason: "orphans",
		text: fmt.Sprintf("not started: an earlier zklock with %s was killed on this machine, and what it had started still runs: "+
			"PID %s; end that first", strings.Join(f.job.paths, ", "), strings.Join(left, ", PID ")),
	})
	return false
}

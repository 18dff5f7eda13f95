package run

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// A procfs is the directory in which the system lists processes: /proc.
type procfs string

const proc procfs = "/proc"

// orphans returns the processes that remain of a hold of one of the paths at the servers, whose front and keeper were
// both killed, so that nothing ends them. The caller has the lock and has started nothing.
//
//	the front and the keeper are killed at one moment; the command dies with the keeper, and what it has started lives
//	the session ends; this zklock, which has waited, gets the lock, looks, finds the orphan, and releases
//
// What remains is found by its environment, which a child inherits. A process that is born after /proc was listed is
// missed; its parent is found, unless it ended before its turn came, so a second look follows one that finds nothing.
// These are not found: a process whose environment this user may not read, one that has changed it, and one in another
// container, whose numbers mean other processes.
func (p procfs) orphans(servers string, paths []string) []process {
	for range 2 {
		if found := p.lookForOrphans(servers, paths); len(found) > 0 {
			return found
		}
	}
	return nil
}

func (p procfs) lookForOrphans(servers string, paths []string) (found []process) {
	all := p.processes()
	ours := ancestors(os.Getpid(), all)
	space, err := p.space()
	if err != nil {
		return nil
	}
	for _, one := range all {
		environ, err := os.ReadFile(p.file(one.pid, "environ"))
		if err != nil || ours[one.pid] || one.state == "Z" {
			continue
		}
		if !orphaned(keptBy(environ), servers, paths, p.lives) {
			continue
		}
		if its, err := os.Readlink(p.file(one.pid, "ns/pid")); err == nil && its == space {
			found = append(found, one)
		}
	}
	return found
}

// space names what the numbers of processes belong to: those of another container mean others.
func (p procfs) space() (string, error) { return os.Readlink(p.file(os.Getpid(), "ns/pid")) }

func (p procfs) file(pid int, name string) string {
	return filepath.Join(string(p), strconv.Itoa(pid), name)
}

// lives reports whether there is this very process. A zombie does nothing any more.
func (p procfs) lives(i identity) bool {
	stat, err := os.ReadFile(p.file(i.pid, "stat"))
	if err != nil {
		return false
	}
	one, ok1 := parseStat(stat)
	start, ok2 := parseStart(stat)
	return ok1 && ok2 && start == i.start && one.state != "Z" && one.state != "X"
}

// identify returns the identity of a process that runs.
func identify(pid int) (identity, bool) {
	stat, err := os.ReadFile(proc.file(pid, "stat"))
	if err != nil {
		return identity{}, false
	}
	start, ok := parseStart(stat)
	return identity{pid, start}, ok
}

// parseStart reads when a process began from a line of /proc/<pid>/stat: the 22nd field, the third being the first
// behind the name.
func parseStart(line []byte) (start uint64, ok bool) {
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return 0, false
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return start, err == nil
}

// ancestors returns a process and all above it.
func ancestors(pid int, all []process) map[int]bool {
	parents := map[int]int{}
	for _, p := range all {
		parents[p.pid] = p.parent
	}
	found := map[int]bool{}
	for ; pid != 0 && !found[pid]; pid = parents[pid] {
		found[pid] = true
	}
	return found
}

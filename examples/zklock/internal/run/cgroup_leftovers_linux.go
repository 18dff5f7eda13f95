package run

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// leftovers are the cgroups below the parent whose front and keeper both live no more.
func (p procfs) leftovers(parent cgroup) (found []*cgroup) {
	space, err := p.space()
	entries, err2 := os.ReadDir(parent.dir)
	if err != nil || err2 != nil {
		return nil
	}
	for _, e := range entries {
		front, keeper, ok := parseCgroupName(e.Name(), space)
		if ok && e.IsDir() && !p.lives(front) && !p.lives(keeper) {
			found = append(found, &cgroup{dir: filepath.Join(parent.dir, e.Name())})
		}
	}
	return found
}

// endLeftovers ends what remains in cgroups of zklocks that were killed, of whatever lock: the promise to end it was
// theirs, and nothing else does. It removes the cgroups, and returns the processes that live on after limit. Two that
// do this at one moment do no harm: both kill what both may kill.
//
// A process that has been killed is in the cgroup for a while yet, although no file lists it, and keeps it from being
// removed: so the removal says when the last one has ended.
func (p procfs) endLeftovers(parent cgroup, limit time.Duration) (living []process) {
	all := p.leftovers(parent)
	for _, g := range all {
		g.kill()
	}
	for end := time.Now().Add(limit); ; time.Sleep(time.Millisecond) { // the kernel reports no end of a stranger
		all = slices.DeleteFunc(all, (*cgroup).remove)
		if len(all) == 0 || time.Now().After(end) {
			break
		}
	}
	for _, g := range all {
		living = append(living, g.processes(p)...)
	}
	return living
}

// processes are those in the cgroup and in those below it.
func (g *cgroup) processes(p procfs) (found []process) {
	_ = filepath.WalkDir(g.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Name() != "cgroup.procs" {
			return nil
		}
		numbers, _ := os.ReadFile(path) // one that is gone has no processes
		for number := range bytes.FieldsSeq(numbers) {
			pid, _ := strconv.Atoi(string(number))
			stat, err := os.ReadFile(p.file(pid, "stat"))
			if one, ok := parseStat(stat); err == nil && ok && one.state != "Z" {
				found = append(found, one)
			}
		}
		return nil
	})
	return found
}

// strangers ends what remains in cgroups, and returns what it could not end.
func strangers(limit time.Duration) []process {
	parent, err := proc.ownCgroup()
	if err != nil {
		return nil
	}
	return proc.endLeftovers(parent, limit)
}

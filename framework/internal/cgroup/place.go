// Package cgroup reads for how long a process was kept from running: by the CPU quota of its cgroup, and by others that
// wanted the processors. It reads a hierarchy of version 2 only.
package cgroup

import (
	"path"
	"strings"
)

// Place finds the directory of a process's cgroup from what /proc/self/cgroup and /proc/self/mountinfo have; "" if
// there is none of version 2.
func Place(cgroup, mountinfo string) string {
	within, found := "", false
	for line := range strings.Lines(cgroup) {
		if within, found = strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); found {
			break
		}
	}
	if !found || !strings.HasPrefix(within, "/") {
		return ""
	}
	for line := range strings.Lines(mountinfo) {
		mount, kind, found := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if !found || !strings.HasPrefix(kind, "cgroup2 ") || len(fields) < 5 {
			continue
		}
		root, point := unescape(fields[3]), unescape(fields[4])
		// A mount shows a part of the hierarchy, and the process may stand outside of that.
		below, found := strings.CutPrefix(path.Clean(within), strings.TrimSuffix(root, "/"))
		if found && (below == "" || below[0] == '/') && !strings.HasPrefix(within, "/..") {
			return path.Join(point, below)
		}
	}
	return ""
}

// unescape undoes what the kernel does to blanks in paths.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

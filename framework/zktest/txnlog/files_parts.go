package txnlog

import (
	"os"
	"path/filepath"
	"slices"
)

// withoutTwins leaves out directories that are given twice, also as the one above.
func withoutTwins(dirs []string) (list []string) {
	var infos []os.FileInfo
	for _, dir := range dirs {
		named := dir
		if below := filepath.Join(dir, "version-2"); isDir(below) {
			named = below
		}
		info, err := os.Stat(named)
		if err == nil && slices.ContainsFunc(infos, func(i os.FileInfo) bool { return os.SameFile(i, info) }) {
			continue
		}
		if err == nil {
			infos = append(infos, info)
		}
		list = append(list, dir)
	}
	return list
}

// joinParts takes two directories for one server: a dataDir that has old logs, and the dataLogDir in which this server
// has logged since. The dataLogDir has no snapshots, and goes on where the dataDir ends.
func joinParts(servers []serverFiles) []serverFiles {
	for later := range servers {
		if len(servers[later].snapshots) > 0 {
			continue
		}
		begin, _ := bounds(servers[later].logs[:1])
		for earlier, s := range servers {
			last := s.logs[len(s.logs)-1]
			if earlier == later || len(s.snapshots) == 0 || last.first >= servers[later].logs[0].first {
				continue
			}
			_, end := bounds([]logFile{last})
			if end == 0 || max(end, epoch(begin)<<32)+1 != begin {
				continue
			}
			servers = slices.Clone(servers)
			servers[earlier].logs = slices.Concat(s.logs, servers[later].logs)
			return joinParts(slices.Delete(servers, later, later+1))
		}
	}
	return servers
}

// bounds returns the first and the last zxid of logs; zero if there is none.
func bounds(logs []logFile) (first, last int64) {
	m := newMerge([]serverFiles{{logs: logs}}, func(Note) {}, false)
	defer m.close()
	for on := m.next(); len(on) > 0; on = m.next() {
		if last = on[0].zxid(); first == 0 {
			first = last
		}
	}
	return first, last
}

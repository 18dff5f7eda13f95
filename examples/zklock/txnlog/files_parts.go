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
		if below := filepath.Join(dir, versionDir); isDir(below) {
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
// has logged since. The dataLogDir has no snapshots, and goes on in the epoch in which the dataDir ends. Nothing proves
// it: the parts count as one server, of which only the first can show what a leader knew. At the begin of an epoch each
// log goes on where another ends, so these are not joined.
func joinParts(servers []serverFiles) []serverFiles {
	for later := range servers {
		if len(servers[later].snapshots) > 0 {
			continue
		}
		begin := firstOf(servers[later].logs[0])
		for earlier, s := range servers {
			last := s.logs[len(s.logs)-1]
			if earlier == later || len(s.snapshots) == 0 || last.first >= servers[later].logs[0].first {
				continue
			}
			if end := lastOf(last); end == 0 || end+1 != begin {
				continue
			}
			servers = slices.Clone(servers)
			servers[earlier].logs = slices.Concat(s.logs, servers[later].logs)
			if s.joined == 0 {
				servers[earlier].joined = begin
			}
			return joinParts(slices.Delete(servers, later, later+1))
		}
	}
	return servers
}

// firstOf returns the first zxid of a log; zero if there is none.
func firstOf(log logFile) (zxid int64) {
	eachOf(log, func(first int64) bool { zxid = first; return false })
	return zxid
}

// lastOf returns the last zxid of a log; zero if there is none.
func lastOf(log logFile) (zxid int64) {
	eachOf(log, func(next int64) bool { zxid = next; return true })
	return zxid
}

func eachOf(log logFile, fn func(zxid int64) bool) {
	m := newMerge([]serverFiles{{logs: []logFile{log}}}, func(Note) {}, false)
	defer m.close()
	for on := m.next(); len(on) > 0 && fn(on[0].zxid()); on = m.next() {
	}
}

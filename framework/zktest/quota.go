package zktest

import (
	"strconv"
	"strings"
)

// A quota on /a consists of two nodes under /zookeeper/quota/a, which clients
// create: zookeeper_limits says what may be, and makes the server keep in
// zookeeper_stats how much there is at and below /a. Whether a limit is one is
// up to WithEnforcedQuotas.
const (
	quotaRoot  = "/zookeeper/quota"
	limitsName = "zookeeper_limits"
	statsName  = "zookeeper_stats"
)

// WithEnforcedQuotas makes hard limits refuse what exceeds them, as
// zookeeper.enforceQuota does. Without it, as on a real server, quotas are
// only counted.
func WithEnforcedQuotas() Option { return func(c *config) { c.quotas = true } }

// usage is what either node of a quota contains, in the form
// "count=1,bytes=2=;byteHardLimit=3;countHardLimit=4".
type usage struct{ count, bytes, hardCount, hardBytes int64 }

func parseUsage(data []byte) usage {
	u := usage{-1, -1, -1, -1}
	fields := map[string]*int64{"count": &u.count, "bytes": &u.bytes, "countHardLimit": &u.hardCount, "byteHardLimit": &u.hardBytes}
	for field := range strings.FieldsFuncSeq(string(data), func(r rune) bool { return r == ',' || r == ';' }) {
		name, value, _ := strings.Cut(field, "=")
		if to := fields[name]; to != nil {
			if n, err := strconv.ParseInt(strings.TrimSuffix(value, "="), 10, 64); err == nil {
				*to = n
			}
		}
	}
	return u
}

func (u usage) encode() []byte {
	return []byte("count=" + strconv.FormatInt(u.count, 10) + ",bytes=" + strconv.FormatInt(u.bytes, 10))
}

// limitedBy returns the longest path at or above path that has a quota.
func (t *tree) limitedBy(path string) (limited string, ok bool) {
	for len(t.limited) > 0 && path != "" {
		if _, ok := t.limited[path]; ok {
			return path, true
		}
		path = path[:strings.LastIndexByte(path, '/')]
	}
	return "", false
}

// ofQuota returns the path that a node below quotaRoot is about.
func ofQuota(path string) (about, name string, ok bool) {
	if !strings.HasPrefix(path, quotaRoot) {
		return "", "", false
	}
	about, name = split(path[len(quotaRoot):])
	return about, name, about != "/" && (name == limitsName || name == statsName)
}

// account counts a change that has just been made, and returns how to take
// that back. The nodes' versions do not show it.
func (t *tree) account(c change) (undo func()) {
	about, name, ok := ofQuota(c.path)
	switch {
	case !ok:
		return t.charge(c)
	case name == limitsName && c.kind == changeCreate:
		t.limited[about] = struct{}{}
		return func() { delete(t.limited, about) }
	case name == limitsName && c.kind == changeDelete:
		delete(t.limited, about)
		return func() { t.limited[about] = struct{}{} }
	case name == statsName && c.kind == changeCreate:
		return t.setUsage(about, t.count(about))
	}
	return func() {}
}

func (t *tree) charge(c change) (undo func()) {
	limited, ok := t.limitedBy(c.path)
	if !ok {
		return func() {}
	}
	stats := t.nodes[quotaRoot+limited+"/"+statsName]
	if stats == nil {
		return func() {}
	}
	u := parseUsage(stats.data)
	u.bytes += int64(len(c.data)) - int64(c.was)
	switch c.kind {
	case changeCreate:
		u.count++
	case changeDelete:
		u.count--
	case changeData:
	default:
		return func() {}
	}
	return t.setUsage(limited, u)
}

func (t *tree) setUsage(limited string, u usage) (undo func()) {
	stats := t.nodes[quotaRoot+limited+"/"+statsName]
	before := stats.data
	stats.data = u.encode()
	return func() { stats.data = before }
}

// count counts what is at and below path.
func (t *tree) count(path string) (u usage) {
	n := t.nodes[path]
	if n == nil {
		return u
	}
	u = usage{count: 1, bytes: int64(len(n.data))}
	for name := range n.children {
		below := t.count(join(path, name))
		u.count += below.count
		u.bytes += below.bytes
	}
	return u
}

// withinQuota looks at what was there before the transaction: steps of a multi
// do not see what earlier ones use up.
func (t *txn) withinQuota(path string, bytes, count int64) code {
	if !t.st.cfg.quotas {
		return 0
	}
	limited, ok := t.st.tree.limitedBy(path)
	if !ok {
		return 0
	}
	limits, stats := t.st.tree.nodes[quotaRoot+limited+"/"+limitsName], t.st.tree.nodes[quotaRoot+limited+"/"+statsName]
	if limits == nil || stats == nil {
		return 0
	}
	data, ok := t.usage[limited]
	if !ok {
		data = stats.data
	}
	limit, used := parseUsage(limits.data), parseUsage(data)
	if count != 0 && limit.hardCount > -1 && used.count+count > limit.hardCount ||
		bytes != 0 && limit.hardBytes > -1 && used.bytes+bytes > limit.hardBytes {
		return codeQuotaExceeded
	}
	return 0
}

// noteUsage remembers what was there before a change.
func (t *txn) noteUsage(path string) {
	limited, ok := t.st.tree.limitedBy(path)
	if _, noted := t.usage[limited]; !ok || noted {
		return
	}
	if stats := t.st.tree.nodes[quotaRoot+limited+"/"+statsName]; stats != nil {
		if t.usage == nil {
			t.usage = make(map[string][]byte)
		}
		t.usage[limited] = stats.data
	}
}

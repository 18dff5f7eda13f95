package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

// held names, in the environment, the paths of all locks that are held around a command. Its separator is escaped in
// paths.
const held = "ZKLOCK_HELD"

var (
	escape   = strings.NewReplacer("%", "%25", ":", "%3A")
	unescape = strings.NewReplacer("%3A", ":", "%25", "%")
)

// heldAround returns the paths that this process is a part of the hold of.
func heldAround(getenv func(string) string) (paths []string) {
	for part := range strings.SplitSeq(getenv(held), ":") {
		if part != "" {
			paths = append(paths, unescape.Replace(part))
		}
	}
	return paths
}

// environment returns that of the command.
func environment(base []string, j *job, around []string, lease *locks.Lease, session int64, timeout time.Duration) []string {
	parts := lease.Parts()
	if parts == nil {
		parts = []*locks.Lease{lease}
	}
	env := slices.DeleteFunc(slices.Clone(base), setByUs) // an outer lock's variables
	add := func(name, value string) { env = append(env, name+"="+value) }
	all := slices.Clone(around)
	for i, part := range parts {
		prefix := "ZKLOCK_" + strconv.Itoa(i) + "_"
		if len(parts) > 1 {
			add(prefix+"PATH", part.Path())
			add(prefix+"NODE", part.NodeName())
			add(prefix+"TOKEN", strconv.FormatInt(part.FencingToken(), 10))
		}
		all = append(all, part.Path())
	}
	add("ZKLOCK_COUNT", strconv.Itoa(len(parts)))
	add("ZKLOCK_PATH", parts[0].Path())
	add("ZKLOCK_NODE", parts[0].NodeName())
	add("ZKLOCK_TOKEN", strconv.FormatInt(parts[0].FencingToken(), 10))
	add("ZKLOCK_SESSION_ID", sessionID(session))
	add("ZKLOCK_KIND", j.kind())
	add("ZKLOCK_TIMEOUT_MS", strconv.FormatInt(timeout.Milliseconds(), 10))
	for i, path := range all {
		all[i] = escape.Replace(path)
	}
	add(held, strings.Join(all, ":"))
	return env
}

// setByUs reports whether a variable is one that environment sets.
func setByUs(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	rest, ours := strings.CutPrefix(name, "ZKLOCK_")
	if !ours || rest == "" {
		return false
	}
	return rest[0] >= '0' && rest[0] <= '9' ||
		slices.Contains([]string{"HELD", "PATH", "NODE", "TOKEN", "SESSION_ID", "KIND", "TIMEOUT_MS", "COUNT", "KEEPERS"}, rest)
}

func sessionID(id int64) string { return fmt.Sprintf("%#x", uint64(id)) }

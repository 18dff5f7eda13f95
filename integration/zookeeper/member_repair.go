//go:build unix

package zookeeper

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Ended reports whether the server's process has ended, by itself or by Kill.
func (m *Member) Ended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.process.exited:
		return true
	default:
		return false
	}
}

// refusal is why a server does not start on what it has itself written.
var refusal = regexp.MustCompile(`The current epoch, [0-9a-f]+, is older than the last zxid, (\d+)`)

// Repair corrects the data of a server that has ended because its epoch is older than its log; [Member.Start] then
// starts it. An error says that the server has ended for another reason, or runs.
//
// A server of 3.9 that joins a leader logs what it lacks, and only then notes the leader's epoch. If it is killed in
// between, or its disk is full, it refuses to start from then on. Before it logs anything of that leader it cuts off
// what the leader does not have. So its log is the begin of the leader's, and the epoch that it lacks is the log's.
func (m *Member) Repair() error {
	if !m.Ended() {
		return fmt.Errorf("zookeeper: repair: server %d runs", m.id)
	}
	tail := logTail(m.logFile)
	reasons := refusal.FindAllSubmatch(tail, -1)
	if len(reasons) == 0 {
		return fmt.Errorf("zookeeper: repair: server %d has ended for a reason that is not known; its log ends:\n%s", m.id, tail)
	}
	zxid, err := strconv.ParseInt(string(reasons[len(reasons)-1][1]), 10, 64)
	if err != nil {
		return fmt.Errorf("zookeeper: repair: server %d: %w", m.id, err)
	}
	epoch := strconv.FormatInt(zxid>>32, 10)
	if err := os.WriteFile(filepath.Join(m.dataDir, "version-2", "currentEpoch"), []byte(epoch), 0o600); err != nil {
		return fmt.Errorf("zookeeper: repair: server %d: %w", m.id, err)
	}
	return nil
}

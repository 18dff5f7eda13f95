package locks

import "github.com/gocurator/curator/framework"

// RetainedQueues is how many local queues of clients have a front or contenders that wait.
func RetainedQueues(clients ...*framework.Client) int {
	n := 0
	for _, client := range clients {
		queues := retainedQueuesOf(client)
		queues.mu.Lock()
		for _, q := range queues.byKey {
			if q.busy || q.kept != nil || len(q.waiting)+len(q.hears) > 0 {
				n++
			}
		}
		queues.mu.Unlock()
	}
	return n
}

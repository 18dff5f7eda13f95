package locks

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// LocalLines is how many local lines clients have.
func LocalLines(clients ...*framework.Client) int {
	n := 0
	for _, client := range clients {
		lines := localLinesOf(client)
		lines.mu.Lock()
		n += len(lines.byKey)
		lines.mu.Unlock()
	}
	return n
}

// Registered is how many entries the registries of clients have.
func Registered(clients ...*framework.Client) int {
	n := 0
	for _, client := range clients {
		n += queue.RegistryOf(client).Entries()
	}
	return n
}

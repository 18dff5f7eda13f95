package locks_test

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"sync"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A record of each hold, a line of JSON. Laid over the servers' transaction logs, the token and the zxids say whether
// two programs held the lock at one time. Package examples/zklock/holds/records also has times, sessions and a file that
// rotates.
func ExampleTrace_records() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()

	var begun sync.Map // the begin of each hold, by its node
	lines, written := json.NewEncoder(os.Stdout), make(chan struct{})
	end := func(path, node, how string, zxid int64) {
		begin, _ := begun.LoadAndDelete(node)
		acquired, _ := begin.(locks.AcquireEnd)
		_ = lines.Encode(map[string]any{ // node, session and times are left out here: they are others in each run
			"path": path, "how": how, "czxid": acquired.Token, "from": acquired.Zxid, "to": zxid,
		})
		close(written)
	}
	mutex := locks.NewInterProcessMutex(client, "/locks/nightly", locks.WithTrace(locks.Trace{
		AcquireEnd: func(_ context.Context, e locks.AcquireEnd) { begun.Store(e.Node, e) },
		Released:   func(r locks.Released) { end(r.Path, r.Node, "released", r.Zxid) },
		Lost:       func(l locks.Lost) { end(l.Path, l.Node, "lost: "+l.Err.Error(), l.Zxid) },
	}))

	err := locks.Do(context.Background(), mutex, func(ctx context.Context) error {
		_, _, err := client.Create(ctx, "/report", nil)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	<-written
	// Output:
	// {"czxid":6,"from":6,"how":"released","path":"/locks/nightly","to":7}
}

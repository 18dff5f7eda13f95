//go:build linux

package interop_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gocurator/curator/integration/programs"
)

// A zklockHistory is what zklock history says of each contender, by the name of its node.
type zklockHistory map[string]zklockContender

type zklockContender struct {
	Path, How, Session string
	LetIn              *struct{ Zxid string } `json:"let_in"`
}

// zklockHistory has zklock read the files of the running server.
func (r *run) zklockHistory() zklockHistory {
	r.t.Helper()
	zklock := filepath.Join(r.t.TempDir(), "zklock")
	build := programs.GoBuild(r.t.Context(), "-o", zklock, "github.com/gocurator/curator/examples/zklock")
	if output, err := build.CombinedOutput(); err != nil {
		r.t.Fatalf("build zklock: %v\n%s", err, output)
	}
	output, err := programs.Command(r.t, zklock, "history", "-json", "-most", "0", "-limit", "2", r.server.DataDir(), "/").Output()
	var found struct {
		Locks []struct{ Contenders []json.RawMessage }
	}
	if err := errors.Join(err, json.Unmarshal(output, &found)); err != nil {
		r.t.Fatalf("zklock history: %v", err)
	}
	all, hows := zklockHistory{}, map[string]int{}
	for _, lock := range found.Locks {
		for _, text := range lock.Contenders {
			var c zklockContender
			if err := json.Unmarshal(text, &c); err != nil {
				r.t.Fatal(err)
			}
			all[c.Path] = c
			hows[c.How]++
		}
	}
	fmt.Fprintf(r.t.Output(), "zklock history: %d contenders: %v\n", len(all), hows)
	return all
}

// differences are those between what the processes reported of their holds, and what zklock says. A release that does
// not reach the server, because that is down or the link is frozen, is none to it: the session expires.
func (z zklockHistory) differences(path string, holds []hold) (wrong []string) {
	for _, h := range holds {
		c, ok := z[path+"/"+h.node]
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("zklock does not know %v", h))
		case c.LetIn == nil || c.How == "gave up":
			wrong = append(wrong, fmt.Sprintf("zklock says %+v of %v", c, h))
		case h.ours() && !h.lost && !h.killed && (c.How == "removed") == (h.removed.by == h.removed.owner):
			wrong = append(wrong, fmt.Sprintf("zklock says %+v of %v, which its client released", c, h))
		case h.removed.owner != 0 && c.Session != "0x"+strings.TrimLeft(fmt.Sprintf("%x", uint64(h.removed.owner)), "0"):
			wrong = append(wrong, fmt.Sprintf("zklock says %+v of %v, whose session was %#x", c, h, h.removed.owner))
		}
	}
	return wrong
}

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDrawingHasAColumnForEachLane(t *testing.T) {
	for name, c := range map[string]struct {
		events []event
		want   string
	}{
		"nothing": {nil, "\n"},
		"two clients and a server": {
			[]event{
				{at: 54 * time.Millisecond, lane: "B0", text: "holds -lock-0000000000"},
				{at: 61*time.Minute + time.Microsecond, lane: "A12", text: "waits\nfor it"},
				{at: 62 * time.Minute, lane: "B", text: "cut", fault: true},
				{at: 62 * time.Minute, lane: "server0", text: "restart", fault: true},
				{at: 63 * time.Minute, lane: "server", text: "all is well"},
			},
			`
              A   B   server
00:00.054000  ·   0   ·       holds -lock-0000000000
61:00.000001  12  ·   ·       waits for it
62:00.000000  ·   ✗   ·       cut
62:00.000000  ·   ·   ✗0      restart
63:00.000000  ·   ·   •       all is well
`,
		},
		"a lane with a long name": {
			[]event{{lane: "transaction", text: "create"}},
			`
              transac…
00:00.000000  •         create
`,
		},
		"a long text": {
			[]event{{lane: "A", text: strings.Repeat("é", 200)}},
			"\n              A\n00:00.000000  •    " + strings.Repeat("é", 100) + "…\n",
		},
	} {
		want := strings.TrimPrefix(c.want, "\n")
		if c.events == nil {
			want = c.want
		}
		if got := draw(c.events); got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
	}
}

func TestManyLanesShareTheLastColumn(t *testing.T) {
	var events []event
	for i := range 40 {
		events = append(events, event{lane: fmt.Sprintf("%c%c1", 'A'+i/26, 'a'+i%26), text: strings.Repeat("=", 200)})
	}
	lines := strings.Split(draw(events), "\n")
	if !strings.HasSuffix(lines[0], " others") {
		t.Errorf("got the columns %s, want the last to be others", lines[0])
	}
	for _, line := range lines[1 : len(lines)-1] {
		if got := utf8.RuneCountInString(line); got != wide {
			t.Errorf("got %d columns, want %d: %s", got, wide, line)
		}
	}
	if last := lines[40]; !strings.Contains(last, "•       Bn1 ===") {
		t.Errorf("got %s, want the lane in the text", last)
	}
	if first := lines[1]; !strings.Contains(first, "  1   ·") || strings.Contains(first, "Aa1") {
		t.Errorf("got %s, want the lane in its column", first)
	}
}

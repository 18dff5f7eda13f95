package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A record is a line of -json, as a program that knows nothing of this one reads it.
type record struct {
	Time   time.Time `json:"time"`
	PID    int       `json:"pid"`
	Worker int       `json:"worker"`
	Event  string    `json:"event"`
	Node   string    `json:"node"`
	Ahead  string    `json:"ahead"`
	Token  int64     `json:"token"`
	Waited float64   `json:"waited_ms"`
	Held   float64   `json:"held_ms"`
	State  string    `json:"state"`
	Text   string    `json:"text"`
}

func decode(t *testing.T, output []byte) (records []record) {
	t.Helper()
	for line := range bytes.Lines(output) {
		if bytes.Contains(line, []byte(`"event":"summary"`)) {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		var r record
		if err := decoder.Decode(&r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		records = append(records, r)
	}
	return records
}

// summaryOf returns the last line of -json.
func summaryOf(t *testing.T, output string) (s summary) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil || s.Event != "summary" {
		t.Fatalf("got the last line %q, want a summary: %v", lines[len(lines)-1], err)
	}
	return s
}

// number is the number in a node's name.
func number(t *testing.T, node string) int64 {
	t.Helper()
	if len(node) < 10 {
		t.Fatalf("%q is no node's name", node)
	}
	n, err := strconv.ParseInt(node[len(node)-10:], 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A turn is one hold, as the records of all processes have it.
type turn struct {
	acquired, end record
}

// turns puts the holds together, in the order in which they began, and checks that they were one after the other, in
// the order of their nodes.
func turns(t *testing.T, records []record) (turns []turn) {
	t.Helper()
	ends := map[string]record{}
	for _, r := range records {
		switch r.Event {
		case released, lost:
			ends[r.Node] = r
		case acquired:
			turns = append(turns, turn{acquired: r})
		case waiting:
			if number(t, r.Ahead) >= number(t, r.Node) {
				t.Errorf("%s waits for %s, which came later", r.Node, r.Ahead)
			}
		case cut, state, servers, note:
		default:
			t.Errorf("event %q", r.Event)
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return a.acquired.Time.Compare(b.acquired.Time) })
	for i := range turns {
		now := &turns[i]
		end, ok := ends[now.acquired.Node]
		if !ok {
			t.Fatalf("no end of the hold of %s", now.acquired.Node)
		}
		now.end = end
		if i == 0 {
			continue
		}
		before := turns[i-1]
		if now.acquired.Time.Before(before.end.Time) {
			t.Errorf("%s held %v before %s had ended", now.acquired.Node, before.end.Time.Sub(now.acquired.Time),
				before.acquired.Node)
		}
		if number(t, now.acquired.Node) <= number(t, before.acquired.Node) {
			t.Errorf("%s held after %s", now.acquired.Node, before.acquired.Node)
		}
		if now.acquired.Token <= before.acquired.Token {
			t.Errorf("token %d after %d", now.acquired.Token, before.acquired.Token)
		}
	}
	return turns
}

// lossAt returns the place of the one hold that was lost.
func lossAt(t *testing.T, turns []turn) int {
	t.Helper()
	at := -1
	for i, turn := range turns {
		if turn.end.Event != lost {
			continue
		}
		if at >= 0 {
			t.Fatal("two holds were lost")
		}
		at = i
	}
	if at < 0 {
		t.Fatal("no hold was lost")
	}
	return at
}

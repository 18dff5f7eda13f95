package nodes

import (
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"
)

// lasting is the Stat of a node of no session.
func lasting(czxid int64, version int32, data string) *zk.Stat {
	return &zk.Stat{Czxid: czxid, Version: version, DataLength: int32(len(data))}
}

func TestAClaimIsOnTheNodeThatWasAnsweredAndOnTheOneThatBearsAMark(t *testing.T) {
	ephemeral := lasting(5, 0, "a")
	ephemeral.EphemeralOwner = 1
	for name, c := range map[string]struct {
		before func(c *claim)
		data   string
		stat   *zk.Stat
		want   bool
	}{
		"nothing was asked for":             {func(*claim) {}, "a", lasting(5, 0, "a"), false},
		"answered":                          {func(c *claim) { c.take(5) }, "b", lasting(5, 7, "b"), true},
		"answered, another node":            {func(c *claim) { c.take(5) }, "a", lasting(6, 0, "a"), false},
		"create without an answer":          {func(c *claim) { c.doubt(0, []byte("a")) }, "a", lasting(5, 0, "a"), true},
		"other data":                        {func(c *claim) { c.doubt(0, []byte("a")) }, "b", lasting(5, 0, "b"), false},
		"written since":                     {func(c *claim) { c.doubt(0, []byte("a")) }, "a", lasting(5, 1, "a"), false},
		"write without an answer":           {func(c *claim) { c.doubt(3, []byte("a")) }, "a", lasting(5, 3, "a"), true},
		"write that was not executed":       {func(c *claim) { c.doubt(3, []byte("a")) }, "b", lasting(5, 2, "b"), false},
		"the first of two":                  {func(c *claim) { c.doubt(3, []byte("a")); c.doubt(3, []byte("b")) }, "a", lasting(5, 3, "a"), true},
		"the second of two":                 {func(c *claim) { c.doubt(3, []byte("a")); c.doubt(3, []byte("b")) }, "b", lasting(5, 3, "b"), true},
		"an answer after one that was lost": {func(c *claim) { c.doubt(0, []byte("a")); c.take(6) }, "a", lasting(5, 0, "a"), false},
		"lost after an answer":              {func(c *claim) { c.take(6); c.doubt(0, []byte("a")) }, "a", lasting(5, 0, "a"), true},
		"lost after an answer, the first":   {func(c *claim) { c.take(6); c.doubt(0, []byte("a")) }, "b", lasting(6, 1, "b"), true},
		"no data, empty ones were sent":     {func(c *claim) { c.doubt(0, nil) }, "", lasting(5, 0, ""), true},
		"unreadable, empty ones were sent":  {func(c *claim) { c.doubt(0, nil) }, "", lasting(5, 0, "secret"), false},
		"ephemeral":                         {func(c *claim) { c.doubt(0, []byte("a")) }, "a", ephemeral, false},
	} {
		var known claim
		c.before(&known)
		if got := known.sees([]byte(c.data), c.stat); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// What was seen with a mark stays the keeper's, whatever another client writes to it; and no later node is.
func TestANodeThatWasSeenWithAMarkStaysClaimedAndNoOtherIs(t *testing.T) {
	var c claim
	c.doubt(0, []byte("a"))
	if !c.sees([]byte("a"), lasting(5, 0, "a")) || !c.sees([]byte("b"), lasting(5, 1, "b")) {
		t.Error("got a node that is not claimed, want it claimed from the first look on")
	}
	if c.sees([]byte("a"), lasting(6, 0, "a")) {
		t.Error("got a claim on a later node with the same data, want none")
	}
}

func TestAClaimKeepsEachMarkOnce(t *testing.T) {
	var c claim
	for i := range 1000 {
		c.doubt(3, fmt.Append(nil, i%2))
	}
	if len(c.marks) != 2 {
		t.Errorf("got %d marks, want 2", len(c.marks))
	}
}

// FuzzClaim plays what this keeper and another client do to one path. The keeper's node is claimed unless the other
// client has written to it since; another one is not, unless it has the data and the version of an unanswered request.
func FuzzClaim(f *testing.F) {
	f.Add([]byte{1, 4, 9, 32, 77})
	f.Fuzz(func(t *testing.T, steps []byte) {
		var c claim
		czxid, version, data := int64(1), int32(0), ""
		ours := false // the newest request that was executed on the node is this keeper's
		sent := map[string]bool{}
		for i, step := range steps {
			next := string([]byte{step >> 4 & 1})
			switch step & 7 {
			case 0: // another client makes the node again
				czxid, version, data, ours = int64(i+2), 0, next, false
			case 1: // another client writes
				version, data, ours = version+1, next, false
			case 2: // a write that is answered
				version, data, ours = version+1, next, true
				c.take(czxid)
				clear(sent)
			case 3: // a write that is executed, without an answer
				c.doubt(version+1, []byte(next))
				version, data, ours = version+1, next, true
				sent[fmt.Sprint(version, data)] = true
			case 4: // a write that is not executed, without an answer
				c.doubt(version+1, []byte(next))
				sent[fmt.Sprint(version+1, next)] = true
			case 5: // a create that is executed, without an answer
				c.doubt(0, []byte(next))
				czxid, version, data, ours = int64(i+2), 0, next, true
				sent[fmt.Sprint(version, data)] = true
			default:
				had := c.has(lasting(czxid, version, data))
				bears := sent[fmt.Sprint(version, data)]
				got := c.sees([]byte(data), lasting(czxid, version, data))
				if ours && !got {
					t.Fatalf("step %d: got no claim on a node of this keeper's", i)
				}
				if got && !had && !bears {
					t.Fatalf("step %d: got a claim on a node that bears no mark", i)
				}
				if got && !had {
					clear(sent)
				}
			}
		}
	})
}

package counters

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// missing is the version that stands for no node: creating the node leaves version 0.
const missing = -1

// A node is what a server said of a counter's node.
type node struct {
	czxid   int64 // 0 if there is none
	version int32
	data    []byte
}

func (n node) missing() bool { return n.czxid == 0 }

// look reads the node.
func look(ctx context.Context, client *framework.Client, path string) (node, error) {
	data, stat, err := client.Get(ctx, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return node{version: missing}, nil
	case err != nil:
		return node{}, err
	}
	return node{czxid: stat.Czxid, version: stat.Version, data: data}, nil
}

// An outcome is what became of a write.
type outcome int

const (
	undecided outcome = iota
	written           // it has counted
	passed            // another write came before it: it has not counted, and will not
)

// judge says what became of a write of data to the node that was seen, from what is there now. The write's answer was
// lost, and it was refused when it was sent again: so something was written meanwhile.
//
// If that was one write, and has left something else, it was another client's. Everything else has two explanations:
//
//	one write, the same data      ours, or that of a client that has seen the same and added the same
//	several writes                ours and others, or others alone
//	another node (czxid), none    ours has gone with the node that was seen, or was never executed
//
// Nothing in a Stat distinguishes these: it has no session, and zxids and times are those of either. So no such write
// is ever taken for ours. Only a mark would prove it, a node of the writer's own that the same transaction sets: a node
// for each writer, which has to be made, and to be cleared away after it, beside counters of Java's programs.
//
// Of a creation, the question is whether the node that is there is ours: one that was made before it and deleted does
// not matter.
func judge(seen, now node, data []byte) outcome {
	sameNode := !now.missing() && (seen.missing() || now.czxid == seen.czxid)
	if sameNode && now.version == seen.version+1 && !bytes.Equal(now.data, data) {
		return passed
	}
	return undecided
}

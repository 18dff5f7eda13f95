package model

import (
	"fmt"
	"strings"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// A table is what does not change: the configuration, and all names that were used so far.
type table struct {
	*Config
	markers queue.Markers
	kinds   []Kind
	owner   []int8 // by contender: its client
	names   []info
	byText  map[string]name
	given   map[key]name
}

// An info is what a name says. The fields of the first line are the queue's, the others the model's own.
type info struct {
	node   queue.Node
	try    try // by is -1 for a stranger's
	number int32
	dir    int8
}

type key struct {
	try
	number int32
}

func newTable(c *Config) *table {
	counts := queue.LockMarkers()
	if c.Limit > 0 {
		counts[queue.LeaseMarker] = false
	}
	t := &table{
		Config: c, markers: queue.New(queue.Config{Dir: "/", Counts: counts}).Markers,
		names: make([]info, 1), byText: map[string]name{}, given: map[key]name{},
	}
	for i, kinds := range c.Clients {
		for _, kind := range kinds {
			t.kinds, t.owner = append(t.kinds, kind), append(t.owner, int8(i))
		}
	}
	return t
}

// nameOf is the name that a server gives to the node of a try.
func (t *table) nameOf(y try, number int32) name {
	k := key{y, number}
	if n, ok := t.given[k]; ok {
		return n
	}
	n := t.add(y, fmt.Sprintf("%s%010d", markerOf[t.kinds[y.by]], number), number)
	t.given[k] = n
	return n
}

// add enters the name of a try's node, which is unique, as if it had a GUID.
func (t *table) add(y try, rest string, number int32) name {
	text := fmt.Sprintf("%c%d-%s", 'a'+y.by, y.number, rest)
	if n, ok := t.byText[text]; ok {
		return n
	}
	node, ok := t.markers.Parse(text)
	if !ok {
		node = queue.Node{Name: text}
	}
	n := name(len(t.names))
	t.names = append(t.names, info{node: node, try: y, number: number, dir: t.dirOf(y.by)})
	t.byText[text] = n
	return n
}

// readerName is the name of the node with which a writer's holder goes on.
func (t *table) readerName(y try, writer name) name {
	rest, _ := queue.ReaderName(t.text(writer), queue.ReadMarker)
	return t.add(y, rest, t.names[writer].number)
}

func (t *table) text(n name) string { return t.names[n].node.Name }

func (t *table) texts(names []name) []string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = t.text(n)
	}
	return texts
}

func (t *table) dirOf(by int8) int8 {
	if by >= 0 && t.kinds[by] == Lease {
		return leaseDir
	}
	return queueDir
}

func (t *table) shared(by int8) bool { return strings.HasPrefix(markerOf[t.kinds[by]], "__READ") }

func letter(by int8) string { return string(rune('a' + by)) }

package plan

import (
	"slices"
	"time"
)

// A Piece is a part of the benchmark that takes 35 minutes at most. Every piece has Java Curator and this library in
// it, so that ratios are of one piece. Together the pieces are everything.
type Piece struct {
	ID, Says  string
	Workloads []string
	Delays    []time.Duration // what the network adds, each way
	Disk      bool            // the servers' data lies on a disk, not in memory
}

const away = 2 * time.Millisecond

var (
	mutexes = []string{"uncontended", "own16", "one16", "mp4", "fair16"}
	others  = []string{"read", "write", "rw", "sem5", "semaphore", "semmutex"}
	pauses  = []string{"pingpong", "pingpong-think0.5", "mp16", "mp16-think1", "mp16-think10", "mp16-graded10"}
)

// Pieces are all that there are.
var Pieces = []Piece{
	{ID: "loopback", Says: "mutexes of all clients, on loopback", Workloads: mutexes, Delays: []time.Duration{0}},
	{ID: "away", Says: "mutexes of all clients, 2 ms away", Workloads: mutexes, Delays: []time.Duration{away}},
	{ID: "disk", Says: "mutexes at servers that sync to a disk", Workloads: mutexes[:3], Delays: []time.Duration{0}, Disk: true},
	{ID: "recipes", Says: "read/write locks and semaphores, on loopback and 2 ms away", Workloads: others, Delays: []time.Duration{0, away}},
	{ID: "retained", Says: "retained locks of several processes, on loopback and 2 ms away", Workloads: pauses, Delays: []time.Duration{0, away}},
}

// PieceNamed returns the piece with an id.
func PieceNamed(id string) (Piece, bool) {
	i := slices.IndexFunc(Pieces, func(p Piece) bool { return p.ID == id })
	if i < 0 {
		return Piece{}, false
	}
	return Pieces[i], true
}

// Takes reports whether a case belongs to the piece.
func (p Piece) Takes(workload string, delay time.Duration, disk bool) bool {
	return slices.Contains(p.Workloads, workload) && slices.Contains(p.Delays, delay) && p.Disk == disk
}

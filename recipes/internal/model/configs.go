package model

// Configs are the worlds that are explored. integration/PROOF.md has the figures of each.
var Configs = []Config{
	{Name: "mutex", Clients: [][]Kind{{Mutex}, {Mutex}}, Faults: Faults{Cuts: 1, Lates: 1}},
	{Name: "mutex, lapse", Clients: [][]Kind{{Mutex}, {Mutex}}, Faults: Faults{Lapses: 1, GiveUps: 1}},
	{Name: "mutex, by hand", Clients: [][]Kind{{Mutex}, {Mutex}}, Faults: Faults{Hands: 1, Strange: 1}},
	{Name: "three mutexes", Clients: [][]Kind{{Mutex}, {Mutex}, {Mutex}}, Faults: Faults{}},
	{Name: "shared view", Clients: [][]Kind{{Mutex, Mutex}, {Mutex}}, Faults: Faults{GiveUps: 1}},
	{Name: "unlisted", Clients: [][]Kind{{Mutex}, {Mutex}}, Again: 2, Unlisted: true, Faults: Faults{Sweeps: 1}},
	{Name: "tries", Clients: [][]Kind{{Try}, {Mutex}, {Try}}},
	{Name: "Curator", Clients: [][]Kind{{Plain}, {Mutex}, {Plain}}, Faults: Faults{}},
	{Name: "readers and a writer", Clients: [][]Kind{{Reader}, {Writer}, {Reader}}},
	{Name: "downgrade", Clients: [][]Kind{{Writer, Heir}, {Writer}}, Faults: Faults{Cuts: 1}, Steady: 1},
	{Name: "downgrade, three", Clients: [][]Kind{{Writer, Heir}, {Writer, Reader}}},
	{Name: "follower", Clients: [][]Kind{{Writer, Heir}, {Writer}}, Two: true, Steady: 1},
	{Name: "end of the counter", Clients: [][]Kind{{Mutex}, {Mutex}}, Start: 1<<31 - 1<<16 - 1},
	{Name: "semaphore", Clients: [][]Kind{{Gate, Lease}, {Gate, Lease}}, Limit: 1},
	{Name: "semaphore, limit", Clients: [][]Kind{{Gate, Lease}, {Gate, Lease}}, Limit: 2, Raised: 1},
	{Name: "semaphore, by hand", Clients: [][]Kind{{Gate, Lease}, {Gate, Lease}}, Limit: 1, Faults: Faults{Hands: 1}},
}

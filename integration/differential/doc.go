// Package differential has random scripts of raw requests executed by zktest and by a real ZooKeeper, and compares
// every answer, field and event.
//
//	CURATOR_INTEGRATION=1 go test -C integration ./differential -run Random -v -args -steps 1000000 -seed 0
//
// A script is a list of steps of several clients: requests good and bad, also truncated ones, pipelined, with watches,
// ACLs and transactions; and sessions that end, expire, move and come back. Either server executes it in a directory of
// its own. Zxids are compared by their distance from the first, times by what they have to do with zxids; lists that a
// real server keeps in hash tables are sorted. A script that is answered differently is shortened before it is shown.
package differential

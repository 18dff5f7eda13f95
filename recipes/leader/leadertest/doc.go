// Package leadertest has the guarantees of elections as laws, which both of them have to pass on every kind of
// ZooKeeper, as package lockstest has those of locks. Names of laws begin with the guarantee of package locks that they
// are about.
//
//	go test ./recipes/leader -run TestElectionsKeepTheLaws
//
// Every law is one of G4 and G5 besides: when it has ended, and while its clients are still connected, no node and no
// watch may be left. And every law checks the journal: see package recipes/journaltest.
package leadertest

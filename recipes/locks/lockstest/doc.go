// Package lockstest has the guarantees of package locks as laws: one suite that every recipe has to pass, on every kind
// of ZooKeeper.
//
// A law is a function whose name begins with its guarantee, so that
//
//	go test ./recipes/locks -run 'TestRecipesKeepTheLaws/InterProcessMutex/G5'
//
// runs those about what is left behind. A [Recipe] says what a lock is called and how many may hold it. A [Backend]
// says where the laws run: [InMemory] in a bubble, where time costs nothing; package integration has one of real
// servers. What a backend cannot do, it says, and [Run] logs which laws it has therefore not shown. A [Link] is a
// client's network path, on which laws cut, mute, delay and lose.
//
// Every law is one of G4 and G5 besides: when it has ended, and while its clients are still connected, no node and no
// watch may be left. In a bubble it is also one of G12: no goroutine may be. Every law checks the journal of its
// clients and of the server: see package recipes/journaltest. In a bubble no view, grant or waiter may be left there.
//
// In real time a law runs again if the machine stood still for so long that a client lost what it held. Failures of
// exclusion, of the journal and of what is left always count.
//
// # Where other libraries' tests are
//
// Curator's, by their names in curator-recipes:
//
//	testReentrant, testReentrant2Threads            re-entry/as deep as one likes
//	testReentrantSingleLock                         G1/many goroutines of one client
//	test2Clients                                    G1/two clients
//	testLocker                                      G5/Do fails, Do panics
//	testWaitingProcessKilledServer                  G10/the server restarts
//	testKilledSession, testLockPath                 G7/a holder's session ends
//	testContainerCleanup                            G5/parents go after the last child
//	testWithNamespace                               G13/namespaces
//	testWithSchema                                  G13/nodes are ephemeral, names
//	testSetNodeData                                 G13/data
//	testLockACLs, testACLsCreatingParents           G13/ACLs
//	testClientClose                                 G12/a holder
//	testInterruptAcquire, testNoOrphanedNodes       G5/ctx ends while waiting; G8/a waiter's node
//	testAcquireAfterLostServer (CURATOR-335)        G6/again and again; G6/the listing's reply
//	testNodeDeletedCleanlyWithFaults                G5/ctx ends without a connection
//	testMaxPerSession, testThreads, testRelease*    G1/many clients
//	testSimple, testSimple2                         G1/TryAcquire
//	testRevoking, testDowngrading*, testUpgrading,  tests of package locks
//	testGetParticipantNodes, testThreadedLease…,
//	testSome…
//	SemaphoreCluster                                integration/ensemble
//
// What Curator's suite lacks:
//
//	release and re-entry after the loss             G7/a holder's session ends
//	waiters during an outage                        G10
//	close with an untimed waiter                    G12/a waiter
//	CURATOR-604, a follower that lags               G7/a follower that lags
//	the counter's end; foreign children             G11
//	namespaced protection with session change       G6/the session ends; G13/namespaces
//
// kazoo's test_lock.py:
//
//	test_lock, test_lock_many_threads, _no_block    G1/many clients, many goroutines of one client
//	test_lock_reconnect                             G10/shorter than the session
//	test_lock_non_blocking, test_non_blocking       G1/TryAcquire
//	test_lock_fail_first_call                       G6/adopted
//	test_lock_cancel, test_semaphore_cancel,        G5/ctx ends while waiting, ctx ends during the create
//	test_acquire_after_cancelled
//	test_lock_no_double_calls, same_thread          re-entry/not for strangers
//	test_lock_reacquire, test_reacquire             G5/a release without a connection; G9/tokens grow
//	test_lock_ephemeral                             G13/nodes are ephemeral
//	test_lock_timeout, test_timeout                 G5/a deadline passes while waiting
//	test_handle_session_loss                        G7/a holder's session ends
//	TestSequence                                    G11/order up to the counter's end; tests of package locks
//
// etcd's and Consul's:
//
//	TestMutexLock*, TestMutexTryLock*               G1/two clients, TryAcquire
//	TestMutexSessionRelock                          re-entry
//	TestMutexWaitsOnCurrentHolder                   G1/a waiter in the middle dies
//	TestMutexLockSessionExpired                     G7/a waiter's session ends (ours queues again)
//	Lock/Semaphore_ForceInvalidate                  G7/a holder's session ends
//	Lock/Semaphore_DeleteKey                        G8/a holder's node
//	Lock/Semaphore_Contend                          G1/many clients
//	Lock_MonitorRetry                               G10/again and again
//	Lock_ReclaimLock                                G6/adopted
//	Lock_Conflict                                   G11/children of no kind
package lockstest

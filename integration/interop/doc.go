// Package interop proves on the real things that this library, Java Curator, kazoo and go-zookeeper's zk.Lock share
// locks, that this library and Java Curator share elections, services and numbers, and that versions of this library
// share all that both have.
//
// Drivers in Go, Java and Python obey orders on their stdin (godriver/protocol.go); the tests steer contenders of all
// of them on one path of a real ZooKeeper, and judge what they report by times of CLOCK_MONOTONIC, which all of them
// have in common, and by what stands in the server's logs. Each client of ours writes a journal of what happens inside
// its locks, which the tests check with those logs: see package recipes/journaltest.
//
//	integration/run interop                                                    all of it: two to three minutes
//	integration/run --no-lint ./integration/interop -run Mutex -v              a part
//	integration/run --no-lint ./integration/interop -run Random -v -acquisitions 20000   ten random minutes
//	integration/run --no-lint ./integration/interop -run Election -v -terms 50   elections with Java: three minutes
//	integration/run --no-lint ./integration/interop -run GetsARetainedLock -v -demands 100   how long contenders wait
//
// integration/run fetches what is needed: two versions of Java Curator, as java/pom.xml names them, and kazoo, as
// kazoo/requirements.txt does. CURATOR_JAVA_VERSION takes the place of the newer one.
//
// # What is shared
//
//	                          Java Curator 5.9   Java Curator 5.4         kazoo          zk.Lock
//	InterProcessMutex         yes                yes                      if set         yes
//	InterProcessReadWriteLock yes                but for its downgrades   if set         –
//	InterProcessSemaphoreV2   yes, live limit too yes                     –              –
//	InterProcessSemaphoreMutex yes               yes                      –              –
//	InterProcessMultiLock     yes                                         –              –
//	revocation                both ways          both ways                –              –
//	LeaderSelector            yes, mutexes too   yes, mutexes too         –              –
//	LeaderLatch               yes                yes                      –              –
//	CuratorCache, TreeCache   yes, see below                              –              –
//	ServiceDiscovery          yes, see below                              –              –
//	PersistentNode            yes, see below                              –              –
//	DistributedAtomicLong     yes, see below                              –              –
//	DistributedAtomicInteger  yes, see below                              if set         –
//
// "Shared" means, for locks and elections: contenders are let in in the order in which they came, whatever the
// languages; none is let in before the release of what excludes it; nothing is left behind; and nodes have the same
// names, modes, data and ACLs.
//
// # Versions of this library
//
// What every version promises to every other one is the wire: a recipe that both have makes nodes of the same names,
// modes, data and ACLs in both. So processes of different versions stand in one queue, in the order in which they came;
// hand over locks and elections; hear of one limit, and of requests to leave; and leave a lock that one of them retains
// to the other. A service can be upgraded process by process, and back, while its locks are in use. Nothing is promised
// of what only one version has: an earlier one has no caches, services or numbers.
//
// The tests have a second driver of this library, "go-earlier". It is built from the history of this repository, as it
// was at commit f762448, before the first release, and takes part beside Java in the tests of mutexes, read/write locks
// with downgrades, semaphores with fixed and live limits, multi-locks, requests to leave, elections and retained locks.
// upgrade_test.go compares the nodes of both versions, and replaces the processes of a queue one after the other, with
// a crash among them, there and back. A clone without that commit fails these tests: git fetch --unshallow.
//
// # Limits of the others
//
// Each has a test in limits_test.go that shows it.
//
// kazoo ignores the nodes of other languages unless it knows of them: Lock(path, extra_lock_patterns=["lock-"]) for a
// mutex; "__WRIT__" for its ReadLock, "__WRIT__" and "__READ__" for its WriteLock. This library counts kazoo's nodes
// without any setting.
//
// Curator never counts kazoo's nodes, whatever kazoo is set to: to Curator their names sort after every number. So a
// lock that Java and Python have in common excludes one way only. A Go process may stand in a queue with either.
//
// Curator's mutex and Curator's read/write lock on one path do not exclude each other, since each takes the other's
// nodes for late ones. Ours wait for both kinds. That helps ours alone: a Java mutex is let in beside our writer.
//
// Curator sorts by text. Past the end of a directory's counter, after 2³¹ nodes, numbers are negative or all the same,
// and Curator's newcomers are let in beside the holder. Ours are refused before that (ErrCounterExhausted), and wait
// for contenders that have such a number. A directory that is left alone for a moment goes away, and its counter with
// it.
//
// Up to 5.4, Curator gives the reader that a writer becomes a number of its own, behind the writers that wait. The next
// of them, in whatever language, is then let in beside that reader. It concerns downgrades by the old version only: it
// waits for ours and for those of 5.5 and later as it should.
//
// Curator counts every child of a lock's directory: one whose name sorts before the numbers, "0" for instance, blocks
// it for ever. Ours ignore strangers. zk.Lock fails on every child whose name it cannot take apart, and leaves its own
// node behind until its session ends.
//
// Curator's recipes do not notice a semaphore at the path of a mutex, and do not exclude each other there. Ours refuse
// that, with ErrOtherRecipe.
//
// Curator's semaphores return leases that are gone: if the connection is lost while an acquire leaves its inner mutex,
// and the session with it, the acquire succeeds afterwards, on a node that went with the session, beside the next
// holder.
//
// Holders of the other clients do not hear of a loss. A Java, Python or zk.Lock process that was frozen for longer than
// its session goes on beside the next holder; Curator's isAcquiredInThisProcess stays true. Ours ends by its own clock
// before that.
//
// Curator's time limits do not bound single operations: while the connection is away, an acquire with a limit of half a
// second fails when its retries are used up. Ours ends in time, and the node is removed in the background.
//
// # Intended differences
//
// script_test.go makes the same calls of Java Curator and of this library, and compares every outcome, every wait and
// the trees. These are all the differences; the tests list them with -v, and fail if one of them is no longer there.
//
//	call                               Curator                here              because
//	try on a lock that is taken        makes a node, looks,   one read          a try need not write
//	                                   removes it
//	the holder's node is removed by    still true             false             a lease whose node is gone has ended
//	hand, or its session ends:
//	isAcquiredInThisProcess, isOwned
//	… acquire again, as the owner      true                   ErrLeaseLost      who has lost a lock is not let in on the
//	                                                                            strength of it
//	… release                          done                   ErrLeaseLost      the owner should know
//	a waiter's node is removed by      notices when the one   queues again at   a waiter watches its own node
//	hand                               ahead goes             once
//	data of a revocable mutex's node   empty                  as ever           every lease can be revoked
//	the write lock for a reader        waits for itself       ErrUpgrade        it would never end
//	more leases than a fixed limit     waits for ever and     refused           it would never end
//	                                   lets no one else in
//	a multi-lock with a time limit     the limit for each     one limit         a context bounds the whole call
//	                                   part
//
// Not compared, since only one of the two has it: a lease ends by its own clock before anybody else is let in, fencing
// tokens, waits that outlast any number of retries.
//
// # Caches
//
// cache_test.go plays stories, on one server, to the cache of this library and to Java's two. They end with the
// server's nodes and report the same events of each node, but for these differences. The tests list them with -v, and
// fail if one of them is no longer there.
//
//	what happens                         CuratorCache          TreeCache               here
//	a node is deleted and created        changed; no event if  updated                 deleted, created
//	again while the cache is cut off     the version is the
//	                                     same
//	… and has had as many children       never has the new     created                 created
//	since as before                      children
//	a missing root is created and        created when it       not seen again before   created when it
//	deleted, then created                comes                 the next reconnection   comes
//	a node that could not be read is     created               not seen before the     created
//	opened and set                                             next reconnection
//	the connection is lost for a moment  no event              suspended, reconnected  stale, synced
//	the session ends                     no event              suspended, lost,        stale, synced
//	                                                           reconnected, synced
//	a child comes: its parent's Stat     as it was read        new                     as it was read
//
// TreeCache's "reconnected" comes before the differences that it has missed, our "synced" after them. In all three,
// changes between two reads of a node are one event.
//
// In random runs TreeCache's events do not add up. It lists the children of a node that it has dropped already if the
// node was created again, so two of its objects report the same nodes from then on: nodes are created twice and deleted
// twice, or deleted late, when the next node of that path was created already. Only one of the two is read again after
// a reconnection, so some nodes are never deleted. The cache itself has what the server has.
//
// # Services, persistent nodes, numbers
//
// discovery_test.go has a writer in each language for one service. After each step Java's queryForInstances,
// ServiceCache and ServiceProvider, and our Instances and ServiceCache, have the same instances, with the same URIs.
// The nodes of both languages are equal byte by byte. Payloads are of a class, maps, texts, large numbers, and of
// Spring Cloud's class. nodes_test.go has persistent nodes of both languages on one path, and counters_test.go has
// numbers of both, with the same outcomes, the same bytes, and the sum of all under load. kazoo's Counter has the
// bytes of DistributedAtomicInteger with support_curator=True.
//
// What Curator does otherwise, each shown by a story:
//
//	what happens                         Curator                                here
//	the connection comes back            every instance is deleted and          nodes stay as they are
//	                                     registered again, STATIC ones too
//	a DYNAMIC_SEQUENTIAL instance        one more node whenever it connects;    one node
//	                                     it can be neither updated nor
//	                                     unregistered
//	a payload of a class that a reader   queryForInstances fails for all;       an instance as others
//	does not expect                      ServiceCache lacks this one
//	a node that is no instance           the same                               the others, and an error
//	an instance is made again, with the  ServiceCache keeps the old one until   deleted, created
//	same version, while a cache is cut   the next change
//	off
//	an id that another process has       its node is deleted. If that comes     waits until it goes
//	                                     back at once, it is deleted again,
//	                                     and nothing is registered, without
//	                                     an error
//	the path of a PersistentNode has a   gets new data, and is deleted by       waits until it goes
//	node of another client               close
//	the answer to an increment is lost   is counted twice, also by kazoo        ErrUnknown, counted once at most
//
// # Random runs
//
// TestRandomMixedRun has contenders of all languages work on four paths (a mutex with Java, one with kazoo, a
// read/write lock and a semaphore of two leases with Java) while processes are killed and frozen, connections cut, and
// the server is killed and started again. No two holds that exclude each other may overlap, where a hold of ours ends
// at its Release or its ValidUntil, whichever is first, and a hold of the other libraries at its release or when its
// node is gone, since these report no loss; those that exclude each other come in the order of their numbers; nothing
// may be left at the end. When a node was removed, and by which session, the server's logs say: each hold of ours must
// end before, and no session of ours may remove a node of others.
//
// TestRandomChangesReachCaches has writers of both languages change a tree while the caches lose their connections and
// their sessions. After each round all caches must have the server's nodes, and the events of ours and of CuratorCache
// must add up to them; what is excused stands above. Neither may report that a node is created which is there, or that
// another node is changed or deleted than the one that it had reported.
//
// TestElectionUnderFaultsHasOneLeader does the same with both elections, Java's and ours, the selectors' among mutexes
// of both languages, and has links and the server frozen as well. It prints a table: the terms of each language, how
// many of them followed the other language, the overlaps, and for leaders whose process was frozen the time from the
// thaw to the first look. In that time a program may believe to lead: no election can prevent it, and only a fence
// protects what the leader writes to.
package interop

// Bench compares lock clients side by side: this library, Java Curator, go-zookeeper's zk.Lock, kazoo, etcd, NATS
// JetStream KV, Postgres, redsync and redislock. It starts the servers, runs everything on one machine, and leaves
// nothing behind but the programs of two servers in integration/.cache.
//
//	cd integration/bench
//	go run . -h                                                the pieces, with the time that each takes
//	go run . -piece loopback                                   one of them, into results/loopback
//	go run . residue                                           what ended contexts leave behind: two minutes
//	go run . report -out results results/*/results.json        one page of all pieces of one commit
//	go run . check results/results.json                        is what the library promises met on that page?
//	go run . -rounds 1 -workloads mp4,fair16 -delays 2ms       a part
//	go run . -impls go-curator,java-curator,raw                some clients
//	go run . report results/results.json                       that page's tables and plots once more
//	go run . compare -base main                                is the working tree as quick as a commit? eight minutes
//	go run . cache                                             caches in place of locks: a few minutes
//	go run . compare -h                                        its flags; so have residue and cache
//
// Results are tables (results.md), what the library promises and whether it was met (targets.txt), plots, what the
// library's README shows (summary.md), and everything that was measured (results.json). The page names its commit.
// Pieces of different commits, machines or versions are not merged, and each ratio is of one piece and one round.
//
// # Publishing a page
//
// On a quiet machine, on a commit without changes. The five pieces take an hour and a half, and can be run one by one,
// in any order:
//
//	go run . -piece loopback
//	go run . -piece away
//	go run . -piece disk -disk /var/tmp
//	go run . -piece recipes
//	go run . -piece retained
//	go run . residue
//	go run . report -out results results/*/results.json
//	go run . check results/results.json
//	cp results/results.md results/targets.txt results/*.svg figures
//
// check fails if a target is missed, which is no reason not to publish the page. Then summary.md, up to its second
// table, takes the place of the plot, the table and the sentences below it in the library's README, under Speed. Its
// tables are those of figures/README.md as well, which is rewritten by hand from results.md, as it says what the
// figures mean. A commit has all of it, and names the one that was measured. results.json is not published: raw results
// stay on the machine that measured them, in the directory of -out, which git ignores. -disk needs a directory on a
// real disk.
//
// # What has to be installed
//
// Java and ZooKeeper, Curator's jars and kazoo are those that integration/run fetches. The servers of etcd and NATS are
// built from the Go module proxy when they are measured for the first time, which takes some minutes; server/built.mod
// pins their versions. redis-server and PostgreSQL are the system's (Debian: redis-server, postgresql). What cannot be
// had is said to be so in the tables, and left out.
//
// # What is measured
//
//	uncontended          one worker, one lock
//	own16                16 workers, each with its own lock, one client
//	one16                16 workers on one lock, one client
//	mp4                  4 processes with a worker each, one lock
//	fair16               4 processes with 4 workers, each with its own client, one lock, held for 1 ms
//	read, write          one worker with a read lock, or a write lock
//	rw                   16 workers on one read/write lock, one client; one acquisition in 20 writes
//	sem5                 16 workers on a semaphore of 5, one client, held for 1 ms
//	semaphore, semmutex  one worker
//	pingpong, mp16       2 and 16 processes with a worker each, one lock, retained and not
//
// Each is measured on loopback, and with 2 ms between clients and server each way, which a proxy adds that delays and
// does not throttle. uncontended, own16 and one16 are also measured on servers that sync each write to a disk: those of
// ZooKeeper, etcd, NATS, and a Redis with appendfsync always, beside one that keeps nothing. Otherwise all servers have
// their data in memory, where a sync costs nothing. The floor, create + delete, is two requests of this library's
// client, without a lock. Retained locks have a table of their own: beside locks for which others wait they would be no
// comparison.
//
// pingpong and mp16 have variants in which workers think after each release: pingpong-think0.5 for half as long as a
// retained node stays idle (-idle), mp16-think1 and mp16-think10 for 1 and 10 times as long, on average. In
// mp16-graded10 the first process does not think at all, the last for 10 times as long, the others in between. Their
// table shows throughput and the longest wait with retained locks and without:
//
//	go run . -rounds 1 -workloads pingpong,pingpong-think0.5,mp16,mp16-think1,mp16-think10,mp16-graded10
//
// Workers take the lock, hold it and release it, again and again, from a second before the measured window to after it;
// those in Java begin earlier. They note the time at each call and return, by CLOCK_MONOTONIC, which all processes have
// in common. From that come
//
//	acquisitions a second  those in the window
//	cycle                  from the call of acquire to the return of release
//	wait                   from the call of acquire to its return; one that the window's end cuts off counts as long as
//	                       it was
//	hand-over              from the call of release by one worker to the return of acquire in the next, if that is
//	                       another one
//	most/fewest            acquisitions of the worker that had most, for each of the one that had fewest
//	requests, events       what ZooKeeper received, and what it sent that is no answer (mntr)
//	syncs                  how often ZooKeeper has waited for its log to be on the disk (mntr); writes that come
//	                       together share one
//	processor time         of clients and servers (/proc), for each acquisition
//
// The stamps are a proof as well: if two workers ever held a lock at one time, of whichever client, the run fails.
//
// # Two versions of this library
//
// compare builds this program twice, from a commit (-base) and from the working tree or another commit (-head), each
// with its own worker and library, and runs uncontended, own16, one16 and mp4 with both, on one server, in ten rounds.
// In each round the two run one right after the other, and who begins changes. The table has the geometric mean of the
// ten ratios of acquisitions a second, and its interval with 95 % confidence (Student's, of the logarithms); the same
// for the clients' processor time, which is less noisy; and the ratio of requests. The exit status is 1 if an interval
// ends below -least, 0.97 by default: then the working tree is slower. A wide interval says that the machine was not
// quiet enough to judge.
//
// # How to read it
//
// Clients and servers share the machine's processors. So only ratios of the same round mean anything, and only those
// are quoted: each round runs everything once, clients that are compared one right after the other, and who begins
// changes. Tables have the median of the rounds, and in brackets the least and the most. If others used more than 12 %
// of the processors, a run is made again, twice at most; the head of the tables says how often that did not help.
//
// On loopback a request costs a tenth of a millisecond, most of it processor time, so these figures are about how much
// work a client makes, for itself and for the server. With 2 ms each way they are about round trips.
//
// Under contention "acquisitions a second" flatters locks that are not fair: a worker that takes its lock again before
// anybody else hears of the release is quick, and others starve. The tables say how often that happened, and fair16 how
// long the others waited.
//
// # What a lock is worth beside its speed
//
// A table of its own says for each client whether a holder learns of a loss before another has the lock, whether there
// is a fence, whether a held lock survives the loss of a server, and whether waiters are served in order. Those are
// promises, and each has its source: plan/promises.go. The tables of acquisitions say in a sentence which clients are
// faster than this library, and which of those have locks in memory alone.
//
// residue measures what an acquire leaves whose context ends: each is of a lock of its own that has been taken before,
// and its context ends after 50 to 300 µs, or within one and a half times what an acquire of that client takes. The
// client whose contexts end stays connected. Another client looks at the locks until none is taken, or has a contender,
// for a second at most: once while they are free, and once while that other client has held them. On several servers of
// Redis a lock is taken if most of them have its key.
//
// # The peers
//
// Each is set up with its defaults, or better where that would be unjust, in the file that is named here. Corrections
// by those who know one better are welcome. Sessions and leases last 10 s for all but the clients of Redis.
//
//	Java Curator     java/Bench.java: ExponentialBackoffRetry(1 s, 3). Each thread has a lock object of its own: with
//	                 one for all, each release wakes every thread that waits in it, and an acquisition by 16 of them
//	                 costs 24 requests instead of 5. The JVM may use 512 MB, and warms up for 4 s, 6 s where four of
//	                 them compile at a time.
//	zk.Lock          worker/zklock.go: a lock object for each worker
//	kazoo            kazoo/bench.py: threads, its default; a lock object for each, as one would keep the others out by
//	                 itself
//	etcd             worker/etcd.go: concurrency.Mutex, a session for each worker: a lease is one owner. One server and
//	                 the client of the same version, with their defaults: the server syncs each write.
//	NATS             worker/nats.go: NATS has no lock, but its documentation describes one on a bucket. A key is created
//	                 with a TTL if it is not there, a waiter watches it, and the holder deletes the revision that it
//	                 created. A key whose create may have been executed although its context has ended is removed. One
//	                 server with a bucket in files, which syncs each write (sync_interval: always); by default it would
//	                 every two minutes. The bucket leaves markers of keys that expire, so that waiters hear of it.
//	Postgres         worker/postgres.go: pg_advisory_lock and pg_advisory_unlock on a connection from pgx's pool, which
//	                 is the holder's or the waiter's until the release. pgx prepares the statements. The server has its
//	                 defaults; an advisory lock is in its memory alone, and writes nothing.
//	redsync          worker/redis.go: its defaults: 8 s, 32 tries 50 to 250 ms apart; then the worker tries again,
//	                 and its wait goes on. On one Redis that keeps nothing on a disk; on one with appendfsync always;
//	                 and on three that keep nothing, which is the algorithm Redlock.
//	redislock        worker/redis.go: 8 s, a try every 100 ms: by default it does not wait at all. It does not wait for
//	                 longer than a lock lasts; then the worker tries again, and its wait goes on. On one Redis that
//	                 keeps nothing on a disk.
//
// A Redis that keeps nothing is the quickest that a Redis can be, and weaker than what ZooKeeper and etcd promise: if
// it is lost, so are the locks.
//
// Neither NATS's keys nor those of redsync and redislock are renewed, as their holds are short. That makes them a
// little quicker than a lock that may be held for longer.
//
// ZooKeeper has 512 MB and otherwise its defaults, forceSync included. Before the first round it is kept busy until its
// code is compiled.
package main

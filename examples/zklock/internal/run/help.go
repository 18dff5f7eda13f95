package run

// Help is the manual of zklock run, without its flags.
const Help = `zklock run [flags] PATH… -- COMMAND [argument…]

Runs a command while it holds a lock. It waits for its turn, first come, first
served. The command is ended, with all processes that descend from it, before
another process can get the lock: TERM first, and KILL when the grace has
passed, both while the lock is still held. Several paths are locked together,
in one order, so that two of these cannot wait for each other.

Examples:

  zklock run -zk zk1:2181,zk2:2181 /locks/nightly -- ./backup.sh --all
  zklock run -try /locks/nightly -- ./backup.sh     # status 75 if it is taken
  zklock run -wait 30s -read /locks/index -- ./search
  zklock run -semaphore 5 /locks/gpu -- ./train     # five at a time
  zklock run /locks/a /locks/b -- ./move a b        # both, or wait
  zklock run -status-fd 3 /locks/x -- ./job 3>events.json

The time of the command, T being the session timeout that the servers granted:

  the lease is valid for 1/2 to 3/4 T from any moment, while servers answer
  START    after an outage not before the lease is renewed, within T/4
  TERM     grace + margin before it ends; the command may survive that if the
           servers answer again
  KILL     a margin before it ends; without delay if the node was deleted, and
           after a wake-up of the machine that comes too late

The command's environment has ZKLOCK_PATH, ZKLOCK_NODE, ZKLOCK_TOKEN (the
fencing token, a number that grows from hold to hold), ZKLOCK_SESSION_ID,
ZKLOCK_KIND, ZKLOCK_TIMEOUT_MS and ZKLOCK_COUNT; for several paths
ZKLOCK_0_PATH, ZKLOCK_0_NODE, ZKLOCK_0_TOKEN and so on. A store that refuses
smaller tokens than it has seen is safe even from a command that is late.

Signals: INT, TERM, HUP and QUIT end a wait. While the command runs they are
passed on, as are USR1, USR2, WINCH and CONT; after TERM the command has the
grace to end. On a terminal the command is in the foreground, and is not
stopped by Ctrl-Z: others wait for it.

Processes: a second process, "zklock keep", starts the command and ends it, so
that the time is kept although zklock itself is stopped or killed. If both are
stopped, Linux continues them in time; on other systems, and below a debugger,
the command then runs on beside the next one, until CONT. On Linux the keeper
ends everything that descends from the command, daemons included, and the
command ends with it; on other systems, the command's process group. A process
in uninterruptible sleep outlives KILL: the token is for that. Windows has no
signals and no process groups like these, so zklock run does not run there.

` + helpProcesses + `Exit status: that of the command, or 128 + the signal that ended it; and

   64  wrong usage                       77  refused by the servers
   69  no server reached                 78  grace and margin do not fit the
   70  another failure                       session, or the path is another
   71  processes of a killed zklock          kind of lock
       run on this machine
   75  not acquired (-try, -wait)
   76  a process could not be ended      79  the lock was lost, and the
  126, 127  the command cannot be run,       command ended for it
       is not there                     128 + n  signal n came while waiting

-status-fd and -json write one JSON object a line: waiting, acquired, started,
warned, recovered, asked, killed, resumed, left, lost, exited, gone, released,
failed; of what zklock cannot end: refused, unended (instead of killed), kept,
beside. They have spare_ms: how long the lock was to last from then.
`

// HoldHelp is the manual of zklock hold, without its flags.
const HoldHelp = `zklock hold [flags] PATH…

Holds a lock without a command, until standard input ends, a signal comes, or
another process asks it to leave: for scripts and people. When it has the lock
it prints a line for each path, PATH TOKEN NODE, to standard output, and nothing
else there. TOKEN is the fencing token, a number that grows from hold to hold.

Nothing is ended for what the lock protects: the script itself must look whether
zklock hold still runs. Where it can, use zklock run instead, which ends the
command before another process can get the lock.

Examples:

  zklock hold -zk zk1:2181 /locks/nightly       # Ctrl-D releases
  zklock hold -try /locks/a /locks/b < pipe     # both, or status 75

  coproc zklock hold /locks/nightly             # in bash
  read -r path token node <&"${COPROC[0]}" || exit 1
  ./backup.sh --token "$token"
  eval "exec ${COPROC[1]}>&-"                   # releases

When servers do not answer, it says so T/8 + T/16 before the lease ends, T being
the session timeout, and at most 11s; if they answer again, it says that, too.
When the lease has ended, or the node is deleted, it ends with status 79.

A standard input that cannot be read, as in the background of a shell, counts as
one that does not end. It is not stopped by Ctrl-Z: others wait for the lock.

Exit status: 0 when standard input has ended, or another process has asked for
the lock; and

   64  wrong usage                       75  not acquired (-try, -wait), or
   69  no server reached                     standard input ended before
   70  another failure                   77  refused by the servers
   79  the lock was lost                 78  the path is another kind of lock
  128 + n  signal n came

-json writes one JSON object a line: waiting, acquired, warned, recovered,
asked, lost, released, failed.
`

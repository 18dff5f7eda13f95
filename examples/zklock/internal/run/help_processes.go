package run

// helpProcesses is the part of Help about processes that outlive zklock, or that it cannot end.
const helpProcesses = `If zklock and its keeper are killed at one moment, what the command has started
may live on. On Linux, the next zklock that acquires the lock on this machine
then names these processes, releases the lock, and ends with 71 instead of
running its command. It knows them by ZKLOCK_HELD and ZKLOCK_KEEPERS in their
environment, if it may read that and if both name a server alike.

Other users: the system does not let zklock end a process that runs as another
user, unless zklock may end all, as root may. So on Linux the command starts
with "no new privileges": sudo, su, ping and other setuid programs run in it as
the user who started zklock. If it needs more, run zklock under sudo, not sudo
under zklock. -allow-setuid lets it gain privileges. Then, and wherever a signal
is refused, which zklock finds out soon after the start and at each renewal of
the lease, the command is ended and zklock ends with 76. The lock is kept while
a process lives that cannot be ended; when the lease ends, zklock says which
one may run beside the next holder. A second INT, TERM, HUP or QUIT ends zklock
beside it; the lock then ends with the session. Other systems have no such flag,
and only a refusal of the command itself is found there.

Cgroups: where zklock may make a cgroup below its own (version 2, Linux 5.14; as
root, or delegated, as by Delegate=yes of systemd), the command starts in it and
is ended with it, processes of other users too, so nothing is refused. The event
"started" names it as cgroup, -v says why there is none. A later zklock there
ends and removes what one that was killed has left in its own.

`

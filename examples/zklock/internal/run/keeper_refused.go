//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// signal sends to the command and all that descends from it, and deals with those that the system does not let this
// process signal. A process of another user can be neither warned nor killed, so its command is ended as soon as the
// keeper knows of it, while the lease is good and there is time to report it: TERM and KILL to the others, as after
// TERM to zklock itself. The front holds the lock as long as such a process lives.
func (k *keeper) signal(sig syscall.Signal) {
	refused := k.family.signal(sig)
	if sig != syscall.SIGKILL || k.group.kill() {
		refused = outside(k.group, refused)
	}
	if k.refuse(names(refused)) && sig != syscall.SIGTERM && sig != syscall.SIGKILL {
		k.family.signal(syscall.SIGTERM)
	}
}

// outside returns the processes that are not in the cgroup, which ends those in it, of other users too. A process of
// root can leave it.
func outside(g *cgroup, all []process) (found []process) {
	for _, p := range all {
		if !g.has(proc, p.pid) {
			found = append(found, p)
		}
	}
	return found
}

// refuse takes note of the processes that cannot be signalled. It reports whether the command has to be ended for them.
func (k *keeper) refuse(refused []string) bool {
	if slices.Equal(refused, k.refused) {
		return false
	}
	k.refused = refused
	pids := append([]string{}, refused...) // not null, which would say nothing
	k.tell(report{Refused: &pids})
	if len(refused) == 0 || k.s.stopped != 0 {
		return false
	}
	k.s.stopped = k.now()
	return true
}

// probe asks whether everything can be signalled. A process can become another user's at any time: the keeper probes
// soon after the start, and with each renewal of the lease.
func (k *keeper) probe() { k.signal(0) }

// abandons reports whether the keeper can end: the front, which held the lock, is gone, and what lives cannot be ended.
func (k *keeper) abandons() bool {
	if !k.alone || len(k.refused) == 0 || knowsDescendants && len(k.family.members()) > len(k.refused) {
		return false
	}
	_, _ = fmt.Fprintf(os.Stderr, "zklock keep: %s\n", Printable(besideText(k.refused)))
	return true
}

// advice is what to do about processes that cannot be signalled.
const advice = "run zklock under sudo, not sudo under zklock"

// besideText warns people that two commands may overlap.
func besideText(refused []string) string {
	return fmt.Sprintf("could not end PID %s: it may run beside the next holder of the lock", strings.Join(refused, ", PID "))
}

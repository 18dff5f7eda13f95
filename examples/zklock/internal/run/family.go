//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
)

// A process is what the system knows about one.
type process struct {
	pid, parent, group int
	state              string // Z: a zombie
	name               string
}

func (p process) String() string { return fmt.Sprintf("%d (%s)", p.pid, p.name) }

// below returns the processes of all that descend from root and are no zombies, in the order of their numbers.
func below(root int, all []process) (found []process) {
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	// a number that was given to another process while /proc was read could make a circle
	seen := map[int]bool{root: true}
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, p := range children[next[0]] {
			if seen[p.pid] {
				continue
			}
			seen[p.pid] = true
			next = append(next, p.pid)
			if p.state != "Z" {
				found = append(found, p)
			}
		}
	}
	slices.SortFunc(found, func(a, b process) int { return cmp.Compare(a.pid, b.pid) })
	return found
}

// A family is a child with all that descends from it. One goroutine owns it; another one waits, and hands it each child
// that has ended.
type family struct {
	leader int
	events chan int      // a child that has ended or stopped; closed when none is left
	goOn   chan struct{} // the owner has dealt with the event
	reaped atomic.Bool   // the leader was reaped: no more signals to its group on systems that list descendants
	status syscall.WaitStatus
}

// newFamily begins to wait for a child that was just started as the leader of its group.
func newFamily(leader int) *family {
	f := &family{leader: leader, events: make(chan int), goOn: make(chan struct{})}
	go func() { // ends with the last child
		defer close(f.events)
		for {
			pid, ok := f.wait()
			if !ok {
				return
			}
			f.events <- pid
			<-f.goOn
		}
	}()
	return f
}

// signal sends to the child's group, and to all that have left it. It returns the processes that the system does not
// let this process signal, as they run as another user: a group's signal says nothing of them while one of the group
// gets it. Signal 0 only asks.
func (f *family) signal(sig syscall.Signal) (refused []process) {
	if !f.reaped.Load() || !knowsDescendants { // with a leader that is reaped another group may get its number
		_ = syscall.Kill(-f.leader, sig) // it may have gone
	}
	return whoRefuses(f.members(), func(p process) error {
		if p.group == f.leader && !f.reaped.Load() {
			return syscall.Kill(p.pid, 0) // the group's signal has reached it, or was refused
		}
		return syscall.Kill(p.pid, sig)
	})
}

// whoRefuses returns the processes that the system does not let this one signal. Any other failure means that a process
// has gone.
func whoRefuses(all []process, signal func(process) error) (refused []process) {
	for _, p := range all {
		if errors.Is(signal(p), syscall.EPERM) {
			refused = append(refused, p)
		}
	}
	return refused
}

// names are how texts and events name processes.
func names(all []process) (texts []string) {
	for _, p := range all {
		texts = append(texts, p.String())
	}
	return texts
}

// reap takes note of an event's child. It reports how it ended if it was the leader, and true; a child that has only
// stopped is not gone. The owner calls it once for each event, after it has done what needs the leader unreaped.
func (f *family) reap(pid int) (status syscall.WaitStatus, ended bool) {
	defer func() { f.goOn <- struct{}{} }()
	if pid == f.leader && f.status != 0 {
		f.reaped.Store(true)
		return f.status, true
	}
	for {
		_, err := syscall.Wait4(pid, &status, syscall.WNOHANG|syscall.WUNTRACED, nil)
		if err != syscall.EINTR { // it comes as it is
			break
		}
	}
	ended = pid == f.leader && !status.Stopped()
	if ended {
		f.reaped.Store(true)
	}
	return status, ended
}

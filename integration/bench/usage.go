//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gocurator/curator/integration/bench/server"
	"github.com/gocurator/curator/integration/bench/stats"
)

// usage is what has been used up to a moment.
type usage struct {
	at                     time.Time
	clients, server, bench time.Duration // processor time
	machine                time.Duration // all processes of the machine
	received, sent         float64       // ZooKeeper's packets
	syncs                  float64       // ZooKeeper's, of its log
	err                    error
}

// look reads everything, what changes fastest first.
func look(c crew, s *server.Server) usage {
	u := usage{at: time.Now()}
	note := func(d time.Duration, err error) time.Duration {
		if u.err == nil {
			u.err = err
		}
		return d
	}
	for _, h := range c {
		u.clients += note(processTime(h.PID()))
	}
	for _, pid := range s.PIDs() {
		took, err := processTime(pid)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // a child that has just ended: its parent has its time
		}
		u.server += note(took, err)
	}
	u.bench = note(processTime(os.Getpid()))
	u.machine = note(machineTime())
	if s.Kind == server.ZooKeeper {
		mntr, err := s.Mntr()
		note(0, err)
		u.received, u.sent = mntr["zk_packets_received"], mntr["zk_packets_sent"]
		u.syncs = mntr["zk_cnt_fsynctime"]
	}
	return u
}

// since sets the figures that are differences.
func (u usage) since(before usage, f *stats.Figures) {
	took := u.at.Sub(before.at)
	ours := u.clients - before.clients + u.server - before.server + u.bench - before.bench
	others := u.machine - before.machine - ours
	f.Foreign = max(0, others.Seconds()/(took.Seconds()*float64(runtime.NumCPU())))
	if f.Acquisitions == 0 {
		return
	}
	n := float64(f.Acquisitions)
	f.ClientCPU = (u.clients - before.clients).Seconds() * 1e6 / n
	f.ServerCPU = (u.server - before.server).Seconds() * 1e6 / n
	if u.received > 0 {
		f.Requests = (u.received - before.received) / n
		f.Events = max(0, (u.sent-before.sent-u.received+before.received)/n) // what was sent and is no answer
		f.Syncs = (u.syncs - before.syncs) / n
	}
}

// tick is the unit of /proc on Linux, whatever the kernel's own.
const tick = 10 * time.Millisecond

// processTime returns the time that all threads of a process have used, and children that have ended, such as Postgres
// has for each connection.
func processTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// They stand after the name, which may have blanks and ends with the last bracket.
	const user, system, children, childrenSystem = 11, 12, 13, 14
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	return ticks(fields[user], fields[system], fields[children], fields[childrenSystem])
}

// machineTime returns the time that the machine's processors have worked, or were taken away by its host.
func machineTime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	f := strings.Fields(strings.SplitN(string(text), "\n", 2)[0])
	return ticks(f[1], f[2], f[3], f[6], f[7], f[8]) // user, nice, system, irq, softirq, steal
}

func ticks(numbers ...string) (time.Duration, error) {
	sum := time.Duration(0)
	for _, text := range numbers {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

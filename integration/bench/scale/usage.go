package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A usage is how much processor time was used so far, in seconds.
type usage struct{ servers, clients number }

func (r *rig) usage() usage {
	u := usage{servers: missing, clients: missing}
	if !r.apart() {
		return u
	}
	u.servers = 0
	for _, pid := range r.pids() {
		u.servers += processorTime(pid)
	}
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil {
		u.clients = number(own.Utime.Nano()+own.Stime.Nano()) / number(time.Second)
	}
	return u
}

// percent is the part of one core that was used since, in percent.
func (u usage) percent(since usage, lasted time.Duration) usage {
	per := 100 / number(lasted.Seconds())
	return usage{(u.servers - since.servers) * per, (u.clients - since.clients) * per}
}

// processorTime is a process's, in seconds. The kernel counts hundredths.
func processorTime(pid int) number {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return missing
	}
	_, rest, _ := strings.Cut(string(text), ") ") // behind the program's name
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return missing
	}
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	if err1 != nil || err2 != nil {
		return missing
	}
	return number(user+system) / 100
}

// heapUsed finds the parts of a heap in what jcmd prints, which depend on the collector.
var heapUsed = regexp.MustCompile(`(?m)(?:heap|generation)\s+total \d+K, used (\d+)K`)

// serverHeap is what the first server's objects occupy after a collection, in bytes. It is missing without jcmd.
func (r *rig) serverHeap(ctx context.Context) number {
	pids := r.pids()
	if len(pids) == 0 {
		return missing
	}
	pid := strconv.Itoa(pids[0])
	if err := exec.CommandContext(ctx, "jcmd", pid, "GC.run").Run(); err != nil {
		return missing
	}
	text, err := exec.CommandContext(ctx, "jcmd", pid, "GC.heap_info").Output()
	if err != nil {
		return missing
	}
	return heapOf(text)
}

func heapOf(text []byte) number {
	found := heapUsed.FindAllSubmatch(bytes.TrimSpace(text), -1)
	if found == nil {
		return missing
	}
	var sum number
	for _, part := range found {
		kilobytes, err := strconv.ParseFloat(string(part[1]), 64)
		if err != nil {
			return missing
		}
		sum += number(kilobytes) * 1024
	}
	return sum
}

// pause waits, and is cut short by the end of the context.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

//go:build linux

package soak_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Figures that are counted. Each must be what it was before the load began.
const (
	goroutines = iota
	descriptors
	watches
	sessions
	znodes
	ephemerals
	figures
)

var figureNames = [figures]string{
	"goroutines", "descriptors", "watches at the servers", "sessions at the servers", "nodes at the servers", "ephemeral nodes at the servers",
}

type counts [figures]int

// count counts once. Some of what it finds may be about to go.
func (s *soak) count() counts {
	var c counts
	c[goroutines], c[descriptors] = runtime.NumGoroutine(), len(openFiles())
	for _, m := range s.ensemble.Members() {
		figures := m.Mntr()
		number := func(name string) int { n, _ := strconv.Atoi(figures[name]); return n }
		c[watches] += number("zk_watch_count")
		c[sessions] = max(c[sessions], number("zk_global_sessions"))
		c[znodes] = max(c[znodes], number("zk_znode_count"))
		c[ephemerals] = max(c[ephemerals], number("zk_ephemerals_count"))
	}
	return c
}

// settle waits until the counts are those that are wanted; if there are none, until they have not changed for three
// seconds, in which servers remove what is empty. Where they never are, there is a leak.
func (s *soak) settle(want *counts) counts {
	limit := time.Now().Add(patience / 2)
	last, since := s.count(), time.Now()
	for {
		now := s.count()
		if now != last {
			last, since = now, time.Now()
		}
		if want != nil && now == *want || want == nil && time.Since(since) > 3*time.Second {
			return now
		}
		if time.Now().After(limit) {
			s.differ(now, want)
			return now
		}
		pause(s.t.Context(), 50*time.Millisecond)
	}
}

// differ fails the test by the name of each figure that is another.
func (s *soak) differ(got counts, want *counts) {
	if want == nil {
		s.t.Errorf("the counts do not settle within %v: got %v last", patience/2, got)
		return
	}
	details := s.detail()
	for i, name := range figureNames {
		if got[i] != want[i] {
			s.t.Errorf("%s: got %d when everything was released, want %d as before%s", name, got[i], want[i], more(details[i], s.details[i]))
		}
	}
}

// more lists what there is more of than there was.
func more(now, before map[string]int) string {
	var text strings.Builder
	for _, what := range slices.Sorted(maps.Keys(now)) {
		if n := now[what] - before[what]; n > 0 {
			fmt.Fprintf(&text, "\n%d more of %s", n, what)
		}
	}
	return text.String()
}

// detail is what the counts are made of, by name.
func (s *soak) detail() (d [figures]map[string]int) {
	d[goroutines], d[descriptors] = stacks(), map[string]int{}
	for _, file := range openFiles() {
		d[descriptors][file]++
	}
	d[watches] = map[string]int{}
	for _, m := range s.ensemble.Members() {
		var path string
		for line := range strings.Lines(m.FourLetter("wchp")) { // each session stands indented below a path
			if !strings.HasPrefix(line, "\t") {
				path = strings.TrimSpace(line)
				continue
			}
			d[watches]["a watch on "+path]++
		}
	}
	d[znodes] = map[string]int{}
	s.list("/", d[znodes])
	return d
}

func (s *soak) list(path string, all map[string]int) {
	all[path]++
	children, _, err := s.clients[0].Children(s.t.Context(), path)
	if err != nil {
		return // it has gone, or the client is closed
	}
	for _, name := range children {
		s.list(strings.TrimSuffix(path, "/")+"/"+name, all)
	}
}

// stacks are the goroutines' functions, the innermost first, without the addresses.
func stacks() map[string]int {
	var text bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&text, 1) // a buffer takes everything
	all := map[string]int{}
	for group := range strings.SplitSeq(text.String(), "\n\n") {
		var n int
		var stack strings.Builder
		for line := range strings.Lines(group) {
			if fields := strings.Fields(line); fields[0] == "#" {
				name, _, _ := strings.Cut(fields[2], "+0x")
				stack.WriteString("\n\t" + name)
			} else if len(fields) > 2 && fields[1] == "@" {
				n, _ = strconv.Atoi(fields[0])
			}
		}
		if what := stack.String(); !strings.Contains(what, "pprof.") { // this one
			all[what] += n
		}
	}
	return all
}

// openFiles are what this process has open, that by which it looks included.
func openFiles() (all []string) {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		file, err := os.Readlink(link)
		if kind, _, numbered := strings.Cut(file, ":["); numbered {
			file = kind
		}
		if err == nil { // the one by which Glob has looked is closed
			all = append(all, file)
		}
	}
	return all
}

// A memory is what this process has, without what the collector may free.
type memory struct{ heap, resident float64 } // in MB

func measureMemory() memory {
	collect()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	var pages, resident int
	statm, _ := os.ReadFile("/proc/self/statm")
	_, _ = fmt.Sscan(string(statm), &pages, &resident)
	return memory{float64(stats.HeapAlloc) / 1e6, float64(resident*os.Getpagesize()) / 1e6}
}

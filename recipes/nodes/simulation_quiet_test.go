package nodes_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/recipes/nodes"
)

// quiet lets nothing happen for a while, and checks what is listed then.
func (s *simulation) quiet() {
	s.Note("quiet", "begins")
	long := lateLooks
	if s.LostEvents() { // what waits for an event reads again when its wait has doubled
		long += s.Elapsed()
	}
	s.Calm(2*long + time.Minute)
	for _, p := range s.processes {
		for p.suspended() {
			time.Sleep(time.Second)
		}
	}
	time.Sleep(long - lateLooks + settled)
	s.checkListed()
	time.Sleep(lateLooks - settled)
	s.checkListed()
	s.checkOthers()
	s.checkReader()
	s.Calm(0)
	s.Note("quiet", "ends")
}

func (s *simulation) fail(format string, args ...any) {
	s.T.Errorf("seed %d: "+format, append([]any{s.Seed}, args...)...)
	s.Note("law", format, args...)
}

// checkListed wants each provider that runs to be listed, with its data, or one of those that want the same name; and
// wants them to know it.
func (s *simulation) checkListed() {
	h, leader := s.history(), s.Ensemble.Leader()
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := map[string]string{} // by path: whose
	for _, r := range s.providers(running) {
		s.counts.listed++
		stat, there := leader.Stat(r.path)
		session := r.session()
		mine := there && session != 0 && stat.EphemeralOwner == session
		if _, known := listed[r.path]; !known {
			listed[r.path] = ""
		}
		switch err := r.node.Err(); {
		case mine && listed[r.path] != "":
			s.fail("law 3: %s and %s have %s", listed[r.path], r.who, r.path)
		case mine && (!r.node.There() || err != nil):
			s.fail("law 1: %s is listed, and says that it is there: %t, %v", r.who, r.node.There(), err)
		case !mine && (r.node.There() || !errors.Is(err, nodes.ErrForeign)):
			s.fail("law 1: %s runs in session %#x; %s is there: %t, of session %#x; it says that it is there: %t, %v",
				r.who, session, r.path, there, stat.EphemeralOwner, r.node.There(), err)
		}
		if !mine {
			continue
		}
		listed[r.path] = r.who
		if life := h.Last(r.path); !life.ByHand && life.Data != string(r.node.Data()) {
			s.fail("law 1: %s is listed with %q, want %q", r.who, life.Data, r.node.Data())
		}
	}
	for path, who := range listed {
		if who == "" {
			s.fail("law 1: %s is of no provider that wants it and runs", path)
		}
	}
	for _, r := range s.providers(starting) {
		if _, taken := listed[r.node.Path()]; !taken {
			s.fail("law 1: %s still starts: %v", r.who, r.node.Err())
		}
	}
}

// providers returns those in a state, with the mutex held.
func (s *simulation) providers(in state) (all []*provider) {
	for _, p := range s.processes {
		for _, r := range p.providers {
			if r.state == in {
				all = append(all, r)
			}
		}
	}
	return all
}

// checkOthers wants nothing to be listed but the nodes of providers that run.
func (s *simulation) checkOthers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := map[string]bool{}
	for _, r := range s.providers(running) {
		kept[r.path] = true
	}
	for _, name := range s.Ensemble.Leader().Children(dir) {
		if !kept[dir+"/"+name] {
			s.fail("laws 2 and 3: %s is listed, of no provider that runs", name)
		}
	}
}

// checkReader wants the cache to list what the servers list. It reads the tree again over a minute: until then it may
// be behind after a lost event.
func (s *simulation) checkReader() {
	var want, got map[string]string
	for range 3 {
		if want, got = s.listed(), s.read(); maps.Equal(got, want) || !s.LostEvents() {
			break
		}
		time.Sleep(time.Minute)
	}
	if !maps.Equal(got, want) {
		s.fail("the reader lists %v, want %v; it is synced: %t, %v",
			lines(got), lines(want), s.reader.Synced(), s.reader.Err())
	}
}

func (s *simulation) read() map[string]string {
	all := map[string]string{}
	for n := range s.reader.All() {
		if strings.HasPrefix(n.Path, dir+"/") {
			all[n.Path] = fmt.Sprintf("%#x %#x %q", n.Stat.Czxid, n.Stat.Mzxid, n.Data)
		}
	}
	return all
}

func (s *simulation) listed() map[string]string {
	leader, all := s.Ensemble.Leader(), map[string]string{}
	for _, name := range leader.Children(dir) {
		path := dir + "/" + name
		if stat, ok := leader.Stat(path); ok {
			data, _ := leader.Data(path)
			all[path] = fmt.Sprintf("%#x %#x %q", stat.Czxid, stat.Mzxid, data)
		}
	}
	return all
}

func lines(nodes map[string]string) (all []string) {
	for _, path := range slices.Sorted(maps.Keys(nodes)) {
		all = append(all, path+" "+nodes[path])
	}
	return all
}

//go:build unix

package differential_test

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/zookeeper"
)

const (
	reapInterval = 200 * time.Millisecond
	ttl          = 12 * time.Second // a busy machine must write to a node more often than that
)

func TestContainersAndTTLNodesGoAsOnARealServer(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{
		ContainerCheckInterval: reapInterval, JavaOptions: []string{"-Dzookeeper.extendedTypesEnabled=true"},
	})
	alone := target{zookeeper.Version(), func() (net.Conn, error) { return net.Dial("tcp", server.Addr()) }}
	want, err := alone.outlive()
	if err != nil {
		fatal(t, err)
	}
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.NewServer(zktest.WithContainerCheckInterval(reapInterval), zktest.WithVersion(zookeeper.Version()))
		defer srv.Close()
		here := target{"zktest", func() (net.Conn, error) { return srv.Dial("", "", 0) }}
		got, err := here.outlive()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("real server:\n%s\nzktest:\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	})
}

// when is which of several removals came first, and so which zxid it got: that of a hash table; and how often the node
// that is renewed was written to.
var when = regexp.MustCompile(`z\+\d+`)

// outlive makes containers and TTL nodes of all kinds, waits until those are gone that have to go, and returns what is
// left, and which events came. It writes to one all the while, and stops when the others of its age are gone.
func (t target) outlive() (outcome []string, err error) {
	r := &run{target: t, dir: "/0000001/R", times: map[int64]int64{}, sessions: map[int64]string{0: "none"}}
	defer r.disconnect()
	if err := r.prepare(); err != nil {
		return nil, err
	}
	c := &r.clients[clients]
	container := func(path string) step { return step{op: opCreateContainer, path: path, acl: open, n: 4} }
	plain := func(path string) step { return step{op: opCreate, path: path, acl: open} }
	mortal := func(path string, d time.Duration) step {
		return step{op: opCreateTTL, path: path, acl: open, n: 5, ttl: d.Milliseconds()}
	}
	r.send(c, []step{{op: opAddWatch, path: root, n: 1}})
	outcome = r.send(c, []step{
		container(root + "/used"), plain(root + "/used/x"), container(root + "/unused"), container(root + "/full"), plain(root + "/full/x"),
		container(root + "/outer"), container(root + "/outer/inner"), plain(root + "/outer/inner/x"),
		mortal(root+"/short", ttl), mortal(root+"/long", time.Hour), mortal(root+"/parent", ttl), plain(root + "/parent/x"),
		mortal(root+"/renewed", ttl),
		{op: opMulti, steps: []step{{op: opDelete, path: root + "/used/x", n: -1}, {op: opDelete, path: root + "/outer/inner/x", n: -1}}},
	})
	renew, look := step{op: opSetData, path: root + "/renewed", n: -1}, step{op: opGetChildren, path: root}
	var heard []string
	for _, part := range []struct {
		gone      string
		meanwhile []step
	}{
		{"/used", []step{renew}},
		{"/outer", []step{renew}},
		{"/short", []step{renew}},
		{"/renewed", nil},
	} {
		events, err := r.awaitGone(c, root+part.gone, part.meanwhile)
		if err != nil {
			return nil, err
		}
		heard = append(heard, events...)
		answer := strings.Split(r.send(c, []step{look})[0], "\n")
		heard = append(heard, answer[:len(answer)-1]...)
		if part.meanwhile == nil || part.gone == "/short" { // what else is gone when a container is, is chance
			outcome = append(outcome, answer[len(answer)-1])
		}
	}
	for _, s := range []step{{op: opGetChildren2, path: root}, {op: opExists, path: root + "/unused"}, {op: opExists, path: root + "/parent"}} {
		outcome = append(outcome, r.send(c, []step{s})...)
	}
	ofRenewals := func(event string) bool { return strings.Contains(event, "type=3 ") }
	heard = slices.DeleteFunc(heard, ofRenewals)
	for i := range heard {
		heard[i] = when.ReplaceAllString(heard[i], "")
	}
	slices.Sort(heard)
	for i := range outcome {
		lines := strings.Split(when.ReplaceAllString(outcome[i], ""), "\n")
		slices.Sort(lines)
		outcome[i] = strings.Join(lines, "\n")
	}
	return append(outcome, heard...), nil
}

// awaitGone waits until a node is gone, takes steps meanwhile, and returns the events that it hears.
func (r *run) awaitGone(c *client, path string, meanwhile []step) (heard []string, err error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(reapInterval / 2) {
		gone := false
		for _, answer := range r.send(c, append(slices.Clone(meanwhile), step{op: opExists, path: path})) {
			lines := strings.Split(answer, "\n")
			heard = append(heard, lines[:len(lines)-1]...)
			gone = strings.Contains(lines[len(lines)-1], "err=-101")
		}
		if gone {
			return heard, nil
		}
	}
	return heard, &lateError{fmt.Sprintf("%s: %s stays for %v", r.name, path, patience)}
}

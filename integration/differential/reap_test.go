//go:build unix

package differential_test

import (
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
	ttl          = 2 * time.Second
)

func TestContainersAndTTLNodesGoAsOnARealServer(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{
		ContainerCheckInterval: reapInterval, JavaOptions: []string{"-Dzookeeper.extendedTypesEnabled=true"},
	})
	alone := target{zookeeper.Version(), func() (net.Conn, error) { return net.Dial("tcp", server.Addr()) }}
	want, err := alone.outlive()
	if err != nil {
		t.Fatal(err)
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

// when is which of several removals came first, and so which zxid it got: that of a hash table.
var when = regexp.MustCompile(`event z\+\d+|[mp]=z\+\d+`)

// outlive makes containers and TTL nodes of all kinds, lets time pass, and tells what is left, and what was heard.
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
	time.Sleep(ttl / 2)
	outcome = append(outcome, r.send(c, []step{{op: opSetData, path: root + "/renewed", n: -1}, {op: opGetChildren, path: root}})...)
	r.disorder()
	time.Sleep(ttl/2 + 3*reapInterval)
	outcome = append(outcome, r.send(c, []step{{op: opGetChildren2, path: root}})...)
	r.disorder()
	time.Sleep(ttl)
	for _, s := range []step{
		{op: opPing},
		{op: opGetChildren2, path: root},
		{op: opExists, path: root + "/unused"},
		{op: opExists, path: root + "/parent"},
	} {
		outcome = append(outcome, r.send(c, []step{s})...)
	}
	for i := range outcome {
		lines := strings.Split(when.ReplaceAllString(outcome[i], ""), "\n")
		slices.Sort(lines)
		outcome[i] = strings.Join(lines, "\n")
	}
	return outcome, nil
}

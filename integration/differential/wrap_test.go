//go:build unix

package differential_test

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/zookeeper"
)

// A real server gets a node whose counter is about to wrap from a transaction log, zktest from SetCreateCounter.
func TestSequenceNumbersEndAsOnARealServer(t *testing.T) {
	dir := t.TempDir()
	if err := writeLog(dir, math.MaxInt32-2); err != nil {
		t.Fatal(err)
	}
	server := zookeeper.Start(t, zookeeper.Config{
		Properties:  map[string]string{"dataDir": dir},
		JavaOptions: []string{"-Dzookeeper.snapshot.trust.empty=true"},
	})
	alone := target{zookeeper.Version(), func() (net.Conn, error) { return net.Dial("tcp", server.Addr()) }}
	want, err := alone.fill()
	if err != nil {
		t.Fatal(err)
	}
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.NewServer(zktest.WithVersion(zookeeper.Version()))
		defer srv.Close()
		for _, path := range []string{"/w", "/w/first"} {
			if err := srv.Create(path, nil); err != nil {
				t.Fatal(err)
			}
		}
		srv.SetCreateCounter("/w", math.MaxInt32-2)
		here := target{"zktest", func() (net.Conn, error) { return srv.Dial("", "", 0) }}
		got, err := here.fill()
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if older.ReplaceAllString(got[i], "") != older.ReplaceAllString(want[i], "") {
				t.Errorf("real server: %s\nzktest:      %s", want[i], got[i])
			}
		}
	})
}

// older are the zxids of /w itself: SetCreateCounter uses up one of its own.
var older = regexp.MustCompile(`[cm]=z-\d`)

// fill creates sequential nodes in /w beyond the end of the numbers.
func (t target) fill() (outcome []string, err error) {
	r := &run{target: t, dir: root, times: map[int64]int64{}, sessions: map[int64]string{0: "none"}}
	defer r.disconnect()
	c := &r.clients[0]
	if _, err := r.connect(c, 0, "", 0, longSession); err != nil {
		return nil, err
	}
	r.send(c, []step{{op: opCreate, path: "/base", acl: open}}) // zxids are printed relative to this one
	node := func(path string) step { return step{op: opCreate, path: path, acl: open, n: 2} }
	for i := range 6 {
		outcome = append(outcome, r.send(c, []step{{op: opCreate2, path: fmt.Sprintf("/w/%c", 'a'+i), acl: open, n: 2}})...)
		outcome = append(outcome, r.send(c, []step{{op: opExists, path: "/w"}})...)
		outcome = append(outcome, r.send(c, []step{node("/w/same-")})...)
		outcome = append(outcome, r.send(c, []step{{op: opMulti, steps: []step{node("/w/m"), node("/w/m"), node("/w/m")}}})...)
		outcome = append(outcome, r.send(c, []step{{op: opExists, path: "/w"}})...)
	}
	return outcome, nil
}

// writeLog writes a transaction log with /w and /w/first, of which the latter makes counter the next number in /w.
func writeLog(dir string, counter int32) error {
	if err := os.MkdirAll(filepath.Join(dir, "version-2"), 0o700); err != nil {
		return err
	}
	var log encoder
	log.b = append(log.b, "ZKLG"...)
	log.int32(2)
	log.int64(0)
	for i, node := range []struct {
		path    string
		counter int32
	}{{"/w", 1}, {"/w/first", counter}} {
		var txn encoder
		txn.int64(0)            // session
		txn.int32(0)            // xid
		txn.int64(int64(i + 1)) // zxid
		txn.int64(1)            // time
		txn.int32(opCreate)
		txn.string(node.path)
		txn.string("")
		step{acl: open}.encodeACL(&txn)
		txn.bool(false) // ephemeral
		txn.int32(node.counter)
		log.int64(int64(adler32.Checksum(txn.b)))
		log.b = append(binary.BigEndian.AppendUint32(log.b, uint32(len(txn.b))), txn.b...)
		log.b = append(log.b, 'B')
	}
	return os.WriteFile(filepath.Join(dir, "version-2", "log.1"), log.b, 0o600)
}

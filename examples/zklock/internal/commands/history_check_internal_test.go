package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/overlap"
	"github.com/gocurator/curator/examples/zklock/txnlog/logtest"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// record has a lock held twice, one after the other, and returns the servers' directory and what was recorded.
func record(t *testing.T) (dir string, all []records.Record) {
	t.Helper()
	server := zktest.New(t)
	dir = t.TempDir()
	logtest.Keep(t, server, dir)
	var written bytes.Buffer
	r := records.NewRecorder(&written, "")
	for range 2 {
		client, err := framework.NewClient(server.Addr())
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		trace := r.Trace(locks.Trace{Released: func(locks.Released) { close(ended) }})
		mutex := locks.NewInterProcessMutex(client, "/locks/a", locks.WithTrace(trace))
		if err := locks.Do(t.Context(), mutex, func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		<-ended
		if err := client.Close(); err != nil { // it waits for the trace
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := records.Read(&written, func(rec records.Record) error { all = append(all, rec); return nil }); err != nil || len(all) != 2 {
		t.Fatalf("got %d records, %v, want 2", len(all), err)
	}
	return dir, all
}

// save writes one record into a file of its own.
func save(t *testing.T, rec records.Record, behind string) (name string) {
	t.Helper()
	text, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	name = filepath.Join(t.TempDir(), "holds.ndjson")
	if err := os.WriteFile(name, []byte(string(text)+"\n"+behind), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestHistorySaysByRecordsWhetherHoldsOverlapped(t *testing.T) {
	dir, all := record(t)
	second := save(t, all[1], "")
	elsewhere := all[0]
	elsewhere.Path = "/locks/a/b"
	outlasted := all[0]
	outlasted.End.Zxid = all[1].End.Zxid + 100 // it had seen the second's end
	for name, test := range map[string]struct {
		files  []string
		status int
		want   string
	}{
		"both":                 {[]string{save(t, all[0], ""), second}, 0, "/locks/a: nothing overlapped, by 2 recorded holds\n"},
		"a torn line":          {[]string{save(t, all[0], `{"path":`), second}, ExitIncomplete, "the last line has no end"},
		"a broken line":        {[]string{save(t, all[0], "x\n"), second}, ExitIncomplete, "1 lines are no records"},
		"a missing record":     {[]string{save(t, all[0], `{"missing":1}`+"\n"), second}, ExitIncomplete, "1 records are missing"},
		"one process's alone":  {[]string{second}, ExitIncomplete, "let in, then released, and no record of it"},
		"one that outlasts":    {[]string{save(t, outlasted, ""), second}, ExitFound, "/locks/a: 1 overlapped, by 2 recorded holds\n  overlapped:\n"},
		"a file that is not":   {[]string{"/nowhere"}, ExitNoLock, "no such file"},
		"a directory as file":  {[]string{dir}, 70, "is a directory"},
		"with lanes, refused":  {[]string{second, "-lanes"}, 64, "-check prints what it finds alone"},
		"with a time, refused": {[]string{second, "-last=1h"}, 64, "-check judges all that the logs have"},
		"outside of -most one": {[]string{save(t, all[0], ""), second, "-most", "1"}, ExitIncomplete, "the 1 oldest contenders are left out"},
		"of no lock there is":  {[]string{save(t, elsewhere, ""), second}, ExitIncomplete, "/locks/a/b: 1 records, and no lock of that path"},
	} {
		var args []string
		for _, file := range test.files {
			if !strings.HasPrefix(file, "-") && !strings.HasPrefix(file, "1") {
				file = "-check=" + file
			}
			args = append(args, file)
		}
		var out, errs bytes.Buffer
		status := readHistory(append(args, dir, "/locks/a"), &out, &errs)
		if status != test.status || !strings.Contains(out.String()+errs.String(), test.want) {
			t.Errorf("%s: got status %d, %q and %q, want %d and %q", name, status, out.String(), errs.String(), test.status, test.want)
		}
	}
	var out, errs bytes.Buffer
	status := readHistory([]string{"-json", "-check", save(t, outlasted, ""), "-check", second, dir, "/locks"}, &out, &errs)
	var got checked
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if status != ExitFound || got.Verdict != overlap.Overlapped || len(got.Locks) != 1 || len(got.Locks[0].Groups) != 1 ||
		got.Locks[0].Groups[0].Holds[0].Node != all[0].Node {
		t.Errorf("got status %d and %+v, want the overlap of the two", status, got)
	}
}

func TestCheckAsJSONMovesNoCursor(t *testing.T) {
	dir, all := record(t)
	all[0].Process, all[0].Reason = "p\u009b", "\u202ewhy"
	all[0].End.Zxid = all[1].End.Zxid + 100
	var out, errs bytes.Buffer
	status := readHistory([]string{"-json", "-check", save(t, all[0], ""), "-check", save(t, all[1], ""), dir, "/locks"}, &out, &errs)
	if text := out.String(); status != ExitFound || strings.ContainsAny(text, "\u009b\u202e") ||
		!strings.Contains(text, `p\u009b`) || !strings.Contains(text, `\u202ewhy`) {
		t.Errorf("got status %d and %q, want %d, and both escaped", status, text, ExitFound)
	}
}

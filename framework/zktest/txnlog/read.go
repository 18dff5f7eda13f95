package txnlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Read returns the transactions of all logs in a server's directory "version-2", in the order of zxids. It may run
// beside the server and then reads what the server has written so far. The last transaction of a log counts for nothing
// if the server was killed while it wrote it. At the end of the last log of an ensemble's member there may be
// transactions that were never committed.
//
// Read fails if dir has no log, and if a log is damaged; the error names the file and the offset.
func Read(dir string) ([]Transaction, error) {
	all, err := readAsLogged(dir)
	if err != nil {
		return nil, err
	}
	complete(all)
	return all, nil
}

func byZxid(a, b Transaction) int { return cmp.Compare(a.Zxid, b.Zxid) }

// readAsLogged returns the transactions with what their records say.
func readAsLogged(dir string) ([]Transaction, error) {
	files, err := filepath.Glob(filepath.Join(dir, "log.*"))
	if err != nil {
		return nil, fmt.Errorf("txnlog: find the logs in %s: %w", dir, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("txnlog: find the logs in %s: %w", dir, os.ErrNotExist)
	}
	var all []Transaction
	for _, file := range files {
		if err := readFile(file, func(t Transaction) error { all = append(all, t); return nil }); err != nil {
			return nil, fmt.Errorf("txnlog: read %s: %w", file, err)
		}
	}
	// A server that gets its leader's transactions a second time may write them a second time.
	slices.SortStableFunc(all, byZxid)
	return slices.CompactFunc(all, func(a, b Transaction) bool { return a.Zxid == b.Zxid }), nil
}

func readFile(name string, fn func(Transaction) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(scan(file, fn), file.Close())
}

// Parse calls fn for each transaction of one log, in the order of the log, as it reads it. It knows the owners only of
// nodes whose creation is in this log. An error of fn ends Parse, which returns it as it is. An error about a damaged
// log names the offset.
func Parse(r io.Reader, fn func(Transaction) error) error {
	known := owners{}
	return scan(r, func(t Transaction) error {
		known.complete(&t)
		return fn(t)
	})
}

package txnlog

import (
	"fmt"
	"io"
	"os"

	"github.com/gocurator/curator/framework/zktest"
)

// Read returns the transactions of all logs in a server's directory "version-2", in the order of zxids. It may run
// beside the server and then reads what the server has written so far. The last transaction of a log counts for nothing
// if the server was killed while it wrote it. At the end of the last log of an ensemble's member there may be
// transactions that were never committed.
//
// Read fails if dir has no log, if a log is damaged, or if a transaction stands behind later ones and nowhere else. The
// error names the file and the offset. It keeps all transactions in memory, also those that change nothing; Open does
// neither, and reads beyond what is damaged.
func Read(dir string) ([]zktest.Transaction, error) {
	servers, err := findAll([]string{dir})
	if err != nil {
		return nil, err
	}
	if len(servers[0].logs) == 0 {
		return nil, fmt.Errorf("txnlog: find the logs in %s: %w", dir, os.ErrNotExist)
	}
	return readExecuted(servers)
}

// readExecuted returns all that was executed, or an error about the first damage or difference.
func readExecuted(servers []serverFiles) (list []zktest.Transaction, err error) {
	x := newExecuted(servers, func(n Note) {
		switch {
		case err != nil:
		case n.Kind == Damaged:
			err = fmt.Errorf("txnlog: read %s: %w", n.File, n.Err)
		case n.Kind == Differs:
			err = fmt.Errorf("txnlog: read %v", n)
		}
	})
	known := owners{}
	x.each(func(c *cursor) bool {
		t, ok := c.decode(all)
		if ok {
			own(&t)
			known.complete(&t)
			list = append(list, t)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Parse calls fn for each transaction of one log, in the order of the log, as it reads it. It knows the owners only of
// nodes whose creation is in this log. An error of fn ends Parse, which returns it as it is. An error about a damaged
// log names the offset.
func Parse(r io.Reader, fn func(zktest.Transaction) error) error {
	known := owners{}
	return scan(r, func(t zktest.Transaction) error {
		known.complete(&t)
		return fn(t)
	})
}

package overlap

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gocurator/curator/examples/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
)

const (
	// mostRecords is how many records of the locks in question are taken, at about 600 bytes each: their names are
	// bounded, and few differ.
	mostRecords = 500_000
	// longestReason is to what a reason is cut.
	longestReason = 200
)

// Files are the records of some files.
type Files struct {
	Records []records.Record
	Notes   []string // what could not be read
	// Incomplete says that records are missing, or could not be read. That includes a last line without an end: of a
	// retained node the servers' logs do not say how often it was held.
	Incomplete bool
}

// Load reads files of records. It takes those at and below a path of the servers, and fails if there are more than it
// can take, or a file cannot be read.
func Load(root string, names ...string) (*Files, error) {
	var files Files
	same := map[string]string{} // strings that most records have in common are kept once
	one := func(s string) string {
		if kept, ok := same[s]; ok {
			return kept
		}
		s = strings.Clone(s) // the rest of a reason is not kept
		same[s] = s
		return s
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		report, err := records.Read(file, func(r records.Record) error {
			if !mayBelong(r.Path, root) {
				return nil
			}
			if len(files.Records) == mostRecords {
				return fmt.Errorf("more than %d records: name the path of one lock, and fewer files", mostRecords)
			}
			if len(r.Reason) > longestReason {
				r.Reason = strings.ToValidUTF8(r.Reason[:longestReason], "") + "…"
			}
			r.Path, r.Process, r.Reason = one(r.Path), one(r.Process), one(r.Reason)
			files.Records = append(files.Records, r)
			return nil
		})
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files.note(name, report)
	}
	return &files, nil
}

func (f *Files) note(name string, r records.Report) {
	if r.Broken > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s: %d lines are no records; the first: %v", name, r.Broken, r.First))
	}
	if r.Torn {
		f.Notes = append(f.Notes, name+": the last line has no end: the process was killed, or still writes")
	}
	if r.Missing > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s: %d records are missing, which the process could not write", name, r.Missing))
	}
	f.Incomplete = f.Incomplete || r.Broken > 0 || r.Missing > 0 || r.Torn
}

// mayBelong reports whether a record may be of a lock at or below root. A program that did not say its chroot or
// namespace has only the end of a lock's path.
func mayBelong(recorded, root string) bool {
	return root == "/" || strings.HasPrefix(recorded+"/", root+"/") || Belongs(recorded, root)
}

// Check judges each lock of a history by the records. windowed says that the history may lack contenders that ended
// before some time, or came after one.
func Check(h *history.History, all []records.Record, windowed, limitKnown bool) []Result {
	of := sortByLock(h.Locks, all)
	results := make([]Result, 0, len(h.Locks))
	for i, lock := range h.Locks {
		in := Input{Lock: lock, Complete: h.From.Zxid, To: h.To.Zxid, LimitKnown: limitKnown, Records: of[i]}
		if windowed || h.Omitted > 0 {
			in.Complete, in.To = window(lock)
		}
		results = append(results, Judge(in))
	}
	return results
}

// window is from which to which creation a history has the contenders of a lock; nothing if it has none.
func window(lock history.Lock) (oldest, newest int64) {
	oldest = never
	for _, c := range lock.Contenders {
		if c.Czxid > 0 {
			oldest, newest = min(oldest, c.Czxid), max(newest, c.Czxid)
		}
	}
	return oldest, newest
}

// sortByLock puts records to the locks by their nodes, and those without a node by their paths.
func sortByLock(locks []history.Lock, all []records.Record) [][]records.Record {
	of := make([][]records.Record, len(locks))
	byNode, byPath := map[string]int{}, map[string]int{}
	for i, lock := range locks {
		byPath[lock.Path] = i
		for _, c := range lock.Contenders {
			byNode[c.Node] = i
		}
	}
	for _, r := range all {
		i, ok := byNode[r.Node]
		if !ok {
			i, ok = byPath[r.Path]
		}
		if !ok {
			i = slices.IndexFunc(locks, func(l history.Lock) bool { return Belongs(r.Path, l.Path) })
			byPath[r.Path] = i // many records have that path
		}
		if i >= 0 {
			of[i] = append(of[i], r)
		}
	}
	return of
}

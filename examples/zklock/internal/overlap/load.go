package overlap

import (
	"fmt"
	"os"
	"strings"

	"github.com/gocurator/curator/examples/zklock/holds/records"
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
	Records [][]records.Record // by the locks of the history
	Notes   []string           // what could not be read, or is of no lock
	// Incomplete says that records are missing, could not be read, or are of no lock. That includes a last line without
	// an end: of a retained node the servers' logs do not say how often it was held.
	Incomplete bool
}

// Load reads files of records. It takes those of the locks of a history, and notes others at and below its path. It
// fails if there are more than it can take, or a file cannot be read.
func Load(h *history.History, names ...string) (*Files, error) {
	x := newIndex(h)
	files := Files{Records: make([][]records.Record, len(h.Locks))}
	same := map[string]string{} // strings that most records have in common are kept once
	one := func(s string) string {
		if kept, ok := same[s]; ok {
			return kept
		}
		s = strings.Clone(s) // the rest of a reason is not kept
		same[s] = s
		return s
	}
	taken := 0
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		report, err := records.Read(file, func(r records.Record) error {
			lock, ok := x.find(&r)
			if !ok {
				x.miss(r.Path)
				return nil
			}
			if taken++; taken > mostRecords {
				return fmt.Errorf("more than %d records: name the path of one lock, and fewer files", mostRecords)
			}
			if len(r.Reason) > longestReason {
				r.Reason = strings.ToValidUTF8(r.Reason[:longestReason], "") + "…"
			}
			r.Path, r.Process, r.Reason = one(r.Path), one(r.Process), one(r.Reason)
			files.Records[lock] = append(files.Records[lock], r)
			return nil
		})
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files.note(name, report)
	}
	for _, note := range x.missed() {
		files.Notes, files.Incomplete = append(files.Notes, note), true
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

// Check judges each lock of a history by the records.
func Check(h *history.History, files *Files, limitKnown bool) []Result {
	results := make([]Result, 0, len(h.Locks))
	for i, lock := range h.Locks {
		results = append(results, Judge(Input{
			Lock: lock, From: h.From.Zxid, To: h.To.Zxid, LimitKnown: limitKnown, Records: files.Records[i],
		}))
	}
	return results
}

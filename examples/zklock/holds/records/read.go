package records

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// longest is how long a line may be; a longer one counts as unreadable.
const longest = 64 << 10

// A Report says what of a file could not be read.
type Report struct {
	Records int   // that were read
	Torn    bool  // the last line has no end: its process was killed, or still writes
	Broken  int   // lines before it that are no records
	First   error // the reason of the first of them, with its line
	Missing int64 // records that their writers could not write
}

// Read calls each for every record of a file, until that fails. A line that is no record is counted, and the rest is
// read. It needs memory for one line. The error is that of r or of each.
func Read(r io.Reader, each func(Record) error) (Report, error) {
	var report Report
	in := bufio.NewReaderSize(r, longest)
	for number := 1; ; number++ {
		text, err := in.ReadSlice('\n')
		var long bool
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of the line
			long = true
			text, err = in.ReadSlice('\n')
		}
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return report, err
		}
		if ended && len(text) == 0 && !long {
			return report, nil
		}
		rec, problem := parse(text, long)
		switch {
		case problem != nil && ended:
			report.Torn = true
		case problem != nil:
			report.Broken++
			if report.First == nil {
				report.First = fmt.Errorf("line %d: %w", number, problem)
			}
		default:
			report.Missing += min(rec.Missing, math.MaxInt64-report.Missing)
			if rec.Node != "" {
				report.Records++
				if err := each(rec); err != nil {
					return report, err
				}
			}
		}
		if ended {
			return report, nil
		}
	}
}

func parse(text []byte, long bool) (rec Record, err error) {
	if long {
		return rec, fmt.Errorf("records: a line of more than %d bytes", longest)
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, fmt.Errorf("records: no record: %w", err)
	}
	err = rec.Validate()
	return rec, err
}

package journaltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Lines returns a journal that keeps no events: it writes each to w, as a line of JSON, in one call. So the journal of
// a process that is killed lacks the last line at the most.
func Lines(w io.Writer) *Journal { return &Journal{lines: json.NewEncoder(w)} }

// Err returns the first error of writing lines.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// ReadLines reads what a journal of Lines has written. A last line that is cut off does not count.
func ReadLines(r io.Reader) ([]Event, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("journaltest: read lines: %w", err)
	}
	var events []Event
	for number := 1; ; number++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return events, nil
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("journaltest: read line %d: %w", number, err)
		}
		events, text = append(events, e), rest
	}
}

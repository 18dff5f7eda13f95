package commands

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"strings"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/overlap"
	"github.com/gocurator/curator/examples/zklock/internal/run"
)

// fileNames are a flag that may be given several times.
type fileNames []string

func (f *fileNames) String() string { return strings.Join(*f, " ") }

func (f *fileNames) Set(name string) error {
	*f = append(*f, name)
	return nil
}

// mostForCheck is how many contenders -check keeps, unless -most says it.
const mostForCheck = 500_000

// keepForCheck keeps more contenders than are to be shown: each may have a record.
func (h *historian) keepForCheck() {
	said := false
	h.set.Visit(func(f *flag.Flag) { said = said || f.Name == "most" })
	if !said {
		h.o.Most = mostForCheck
	}
}

// A checked is what -check prints as JSON.
type checked struct {
	Path    string           `json:"path"`
	Verdict overlap.Verdict  `json:"verdict"`
	Locks   []overlap.Result `json:"locks"`
	Notes   []string         `json:"notes"` // what of the records could not be read
}

// checkRecords prints what the clients' records say, and returns the status of the process. With a status that is not 0
// the logs do not say all.
func (h *historian) checkRecords(out io.Writer, fail func(int, error) int, found *history.History, status int) int {
	files, err := overlap.Load(found, h.records...)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fail(ExitNoLock, err)
	case err != nil:
		return fail(run.ExitSoftware, err)
	}
	results := overlap.Check(found, files, h.o.Limit > 0)
	verdict := overlap.Worst(results, files.Incomplete || status != 0 || found.Omitted > 0)
	text := overlap.Text(results, files.Notes)
	if h.json {
		object, err := json.MarshalIndent(checked{found.Path, verdict, results, append([]string{}, files.Notes...)}, "", "  ")
		if err != nil {
			return fail(run.ExitSoftware, err)
		}
		text = escaped(string(object)) + "\n"
	}
	if _, err := io.WriteString(out, text); err != nil {
		return fail(run.ExitSoftware, err)
	}
	switch verdict {
	case overlap.Overlapped:
		return ExitFound
	case overlap.Unknown:
		return ExitIncomplete
	default:
		return 0
	}
}

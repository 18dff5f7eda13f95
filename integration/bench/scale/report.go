package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/integration/bench/plot"
)

// A report is everything that was found, and under what conditions.
type report struct {
	Conditions map[string]string `json:"conditions"`
	Tables     []*table          `json:"tables"`
}

func conditions(kind string, most int, lasts time.Duration) map[string]string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		load = []byte("unknown")
	}
	return map[string]string{
		"date":                    time.Now().UTC().Format(time.RFC3339),
		"go":                      runtime.Version(),
		"system":                  runtime.GOOS + "/" + runtime.GOARCH,
		"processors":              fmt.Sprint(runtime.GOMAXPROCS(0)),
		"load before":             strings.TrimSpace(string(load)),
		"server":                  describe(kind),
		"session timeout":         sessionTimeout.String(),
		"limit":                   fmt.Sprint(most),
		"measuring throughput by": lasts.String(),
	}
}

func (r *report) print(w io.Writer) error {
	var errs []error
	for _, t := range r.Tables {
		errs = append(errs, t.markdown(w))
	}
	return errors.Join(errs...)
}

// save writes the report and its figures to a directory, if there is one.
func (r *report) save(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	errs := []error{os.WriteFile(filepath.Join(dir, "scale.json"), append(text, '\n'), 0o644)}
	for _, f := range figures {
		if series := r.series(f); len(series) > 0 {
			var svg bytes.Buffer
			if err := plot.Lines(&svg, f.title, f.x, f.y, f.logX, f.logY, series...); err != nil {
				errs = append(errs, err)
				continue
			}
			errs = append(errs, os.WriteFile(filepath.Join(dir, f.file+".svg"), svg.Bytes(), 0o644))
		}
	}
	return errors.Join(errs...)
}

// A figure plots columns of tables over their first ones.
type figure struct {
	file, title, x, y string
	logX, logY        bool
	lines             []line
}

type line struct{ name, table, column string }

var figures = []figure{
	{
		"join", "Joining the queue of one lock", "waiters", "µs", true, true,
		[]line{
			{"all at once, of one client", "waiters", joinTime},
			{"all at once, of up to 50 clients", "spread", joinTime},
			{"one more, of one client", "waiters", lateTime},
			{"one more, of up to 50 clients", "spread", lateTime},
		},
	},
	{
		"hand-over", "Handing over a lock, from Release to the return of the next Acquire", "waiters", "µs", true, true,
		[]line{{"waiters of one client", "waiters", handOverTime}, {"of up to 50 clients", "spread", handOverTime}},
	},
	{
		"bytes", "What a client is sent", "waiters", "bytes received", true, true,
		[]line{
			{"per join at once, one client", "waiters", joinBytes},
			{"per join at once, up to 50 clients", "spread", joinBytes},
			{"per late join, one client", "waiters", lateBytes},
			{"per late join, up to 50 clients", "spread", lateBytes},
			{"per hand-over, one client", "waiters", handOverBytes},
			{"per hand-over, up to 50 clients", "spread", handOverBytes},
		},
	},
	{"heap", "Memory of a held lock", "locks held by one client", "bytes of heap per lock", true, false, []line{{"held lock", "held", heldHeap}}},
	{"cycles", "Acquire and release, all clients together", "clients", "cycles/s", true, false, []line{{"each its own lock", "clients", cyclesPerSecond}}},
	{"rivals", "Handing over a lock that all clients want", "clients", "µs", true, true, []line{{"hand-over", "clients", handOverTime}}},
	{
		"delay", "Round trips", "delay each way (ms)", "round trips", false, false,
		[]line{{"uncontended cycle", "delay", cycleTrips}, {"hand-over, 2 clients", "delay", twoTrips}, {"hand-over, 4 clients", "delay", fourTrips}},
	},
}

// series are the lines of a figure for which something was found.
func (r *report) series(f figure) []plot.Series {
	var all []plot.Series
	for _, l := range f.lines {
		for _, t := range r.Tables {
			values := t.column(l.column)
			if t.Name == l.table && slices.ContainsFunc(values, func(v float64) bool { return v > 0 }) {
				all = append(all, plot.Series{Name: l.name, X: t.column(t.Columns[0]), Y: values})
			}
		}
	}
	return all
}

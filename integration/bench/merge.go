//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gocurator/curator/integration/bench/report"
)

// reportCommand is "bench report": the tables and plots of a run once more, or one page of several pieces.
func reportCommand(args []string) error {
	flags := flag.NewFlagSet("bench report", flag.ContinueOnError)
	out := flags.String("out", "", "`directory` for the page; by default that of the results, if they are one file")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	files := flags.Args()
	if len(files) == 0 || len(files) > 1 && *out == "" {
		return errors.New("usage: report results.json, or report -out directory results.json and others")
	}
	var pieces []*report.Results
	for _, file := range files {
		if len(files) > 1 && filepath.Clean(filepath.Dir(file)) == filepath.Clean(*out) {
			return fmt.Errorf("-out %s: its results.json is one of the pieces, and would be lost", *out)
		}
		piece, err := report.Load(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		pieces = append(pieces, piece)
	}
	results, err := report.Merge(pieces)
	if err != nil {
		return err
	}
	if *out == "" {
		*out = filepath.Dir(files[0])
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	return write(results, *out)
}

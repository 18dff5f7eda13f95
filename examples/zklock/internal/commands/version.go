package commands

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

const versionHelp = `zklock version [flags]

Prints which zklock this is: its version, or the commit that it was built from,
and with which Go, for which system.

Examples:

  zklock version
  zklock version -json

Exit status: 0; 64 wrong usage; 70 another failure.
`

// A build is which zklock this is. What Go has not written into the program is left out.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`     // when the commit was made
	Modified bool   `json:"modified,omitempty"` // there were changes beside the commit
	Go       string `json:"go"`
	System   string `json:"system"`
}

// readBuild sorts what Go has written into a program.
func readBuild(info *debug.BuildInfo) build {
	b := build{Version: "unknown", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) String() string {
	text := "zklock " + b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit
		if b.Modified {
			text += " with changes"
		}
		if b.Time != "" {
			text += " of " + b.Time
		}
	}
	return text + ", " + b.Go + " for " + b.System
}

func versionFlags() (set *flag.FlagSet, asJSON *bool) {
	set = flag.NewFlagSet("zklock version", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	asJSON = set.Bool("json", false, "print JSON")
	return set, asJSON
}

// version prints which zklock this is, and returns the status of the process.
func version(args []string, out, errs io.Writer) int {
	set, asJSON := versionFlags()
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		manual.PrintAlone(out, versionHelp, set)
		return 0
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("got %q, want no argument", set.Arg(0))
	}
	if err != nil {
		_, _ = fmt.Fprintf(errs, "zklock version: %s\nzklock version -h has the manual\n", survey.Printable(err.Error()))
		return run.ExitUsage
	}
	info, _ := debug.ReadBuildInfo()
	b := readBuild(info)
	if *asJSON {
		err = json.NewEncoder(out).Encode(b)
	} else {
		_, err = fmt.Fprintln(out, b)
	}
	if err != nil {
		_, _ = fmt.Fprintf(errs, "zklock version: %s\n", survey.Printable(err.Error()))
		return run.ExitSoftware
	}
	return 0
}

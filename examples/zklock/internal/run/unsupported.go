//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

// Package run is zklock run: a command under a lock. It needs process groups and signals, and so does not work here.
//
// On Windows a job object could take the place of the group: with JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE all processes in
// it end when its last handle is closed, also if zklock is killed. There is no TERM; CTRL_BREAK_EVENT to a new process
// group comes nearest, and reaches console programs only. None of that is tested, so that nothing here promises to end
// a command in time.
package run

import (
	"fmt"
	"io"
)

// Supported is whether this system has zklock run.
const Supported = false

var revocation = map[string]int{"term": 0, "hup": 0, "int": 0, "usr1": 0, "ignore": 0}

const unsupported = "zklock run: this system has no process groups, so zklock could not end the command in time; " +
	"run it on Linux or another Unix. zklock hold holds a lock here, and zklock help lists the other commands"

// Main refuses.
func Main(_ []string, _, errs io.Writer) int {
	_, _ = fmt.Fprintln(errs, unsupported)
	return ExitConfig
}

// Keep refuses.
func Keep([]string) int { return ExitConfig }

// ignoreStops does nothing: nothing stops a process here.
func ignoreStops() {}

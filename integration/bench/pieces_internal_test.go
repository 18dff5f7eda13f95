//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
)

// pieceOf returns the contests of a piece as the command line chooses it.
func pieceOf(t *testing.T, args ...string) (options, [][]task) {
	t.Helper()
	o, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	contests, err := o.contests()
	if err != nil {
		t.Fatal(err)
	}
	return o, contests
}

func casesOf(contests [][]task) []report.Case {
	var cases []report.Case
	for _, contest := range contests {
		cases = append(cases, contest[0].Case)
	}
	return cases
}

func TestEachPieceTakesLessThanAnHour(t *testing.T) {
	for _, p := range plan.Pieces {
		o, contests := pieceOf(t, "-piece", p.ID)
		if got := o.estimate(contests); got > 55*time.Minute || got < time.Minute {
			t.Errorf("%s: got an estimate of %v, want less than an hour with some room", p.ID, got)
		}
	}
}

func TestPiecesTogetherAreEverythingOnce(t *testing.T) {
	_, whole := pieceOf(t)
	want := casesOf(whole)
	var got []report.Case
	for _, p := range plan.Pieces {
		_, contests := pieceOf(t, "-piece", p.ID)
		for _, c := range casesOf(contests) {
			if slices.Contains(got, c) {
				t.Errorf("%s: %s is in another piece, too", p.ID, c)
			}
			got = append(got, c)
		}
	}
	for _, c := range want {
		if !slices.Contains(got, c) {
			t.Errorf("no piece has %s", c)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d cases in pieces, want %d", len(got), len(want))
	}
}

// Ratios are of one piece, so each has what others are compared with.
func TestEachPieceHasJavaCuratorAndThisLibrary(t *testing.T) {
	for _, p := range plan.Pieces {
		_, contests := pieceOf(t, "-piece", p.ID)
		both := 0
		for _, contest := range contests {
			has := func(id string) bool {
				return slices.ContainsFunc(contest, func(t task) bool { return t.impl.ID == id })
			}
			if has(plan.Reference) && has(plan.Ours) {
				both++
			} else if p.ID != "retained" { // Java Curator retains none, and is only beside the workloads without pauses
				t.Errorf("%s: %s lacks Java Curator or this library", p.ID, contest[0].Case)
			}
		}
		if both == 0 {
			t.Errorf("%s: no case has Java Curator and this library", p.ID)
		}
	}
}

func TestOnlyServersThatSyncAreMeasuredOnADisk(t *testing.T) {
	_, contests := pieceOf(t, "-piece", "disk")
	for _, contest := range contests {
		for _, task := range contest {
			if !task.impl.Durable {
				t.Errorf("%s: got %s", task.Case, task.impl.ID)
			}
		}
		if !slices.ContainsFunc(contest, func(t task) bool { return t.impl.ID == "redsync-always" }) {
			t.Errorf("%s: got no redsync with a Redis that syncs", contest[0].Case)
		}
	}
}

func TestPieceIsWrittenBelowTheDirectoryOfResults(t *testing.T) {
	if o, _ := pieceOf(t, "-out", "x", "-piece", "disk"); o.out != "x/disk" {
		t.Errorf("got %s, want x/disk", o.out)
	}
	if _, err := parse([]string{"-piece", "none"}); err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("got %v, want an error that names the piece", err)
	}
}

func TestHelpListsThePieces(t *testing.T) {
	text := measureUsage()
	for _, p := range plan.Pieces {
		if !strings.Contains(text, "-piece "+p.ID) {
			t.Errorf("no %s in:\n%s", p.ID, text)
		}
	}
}

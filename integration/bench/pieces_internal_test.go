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

func TestEachPieceTakesHalfAnHourAndAllTakeTheTimeOfOneSession(t *testing.T) {
	all := time.Duration(0)
	for _, p := range plan.Pieces {
		o, contests := pieceOf(t, "-piece", p.ID)
		got := o.estimate(contests)
		if got > 35*time.Minute || got < time.Minute {
			t.Errorf("%s: got an estimate of %v, want 35 minutes at most", p.ID, got)
		}
		all += got
	}
	if all > 95*time.Minute {
		t.Errorf("got an estimate of %v for all pieces, want 95 minutes at most", all)
	}
}

// A run lasts at least as long as its parts, or the estimate would be a wish.
func TestEstimateCountsEachRoundAndAllOfARun(t *testing.T) {
	o, contests := pieceOf(t, "-impls", "java-curator", "-workloads", "mp4", "-delays", "0s", "-rounds", "3")
	// 4 JVMs start, warm up for half as long again as one, hear of the window half a second before it, and are measured
	// for its length.
	want := 3 * (100*time.Millisecond + 4*800*time.Millisecond + 6*time.Second + startTime + 3*time.Second)
	if got := o.estimate(contests); got != want {
		t.Errorf("got %v, want %v", got, want)
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

func TestOnlyServersThatSyncAndOneRedisBesideThemAreMeasuredOnADisk(t *testing.T) {
	for _, p := range plan.Pieces {
		_, contests := pieceOf(t, "-piece", p.ID)
		for _, contest := range contests {
			has := func(id string) bool {
				return slices.ContainsFunc(contest, func(t task) bool { return t.impl.ID == id })
			}
			for _, task := range contest {
				if p.Disk && !task.impl.Durable && task.impl.ID != "redsync" {
					t.Errorf("%s: got %s", task.Case, task.impl.ID)
				}
			}
			if has("redsync-always") != p.Disk || p.Disk && !has("redsync") {
				t.Errorf("%s: got a Redis that syncs %t, and one in memory %t, want both on a disk, and none that syncs in memory",
					contest[0].Case, has("redsync-always"), has("redsync"))
			}
		}
	}
}

func TestRetainedLocksAreNotAmongTheMutexesOfSeveralProcesses(t *testing.T) {
	for _, workload := range []string{"mp4", "fair16", "own16"} {
		_, contests := pieceOf(t, "-workloads", workload, "-delays", "0s", "-disk", "")
		if slices.ContainsFunc(contests[0], func(t task) bool { return t.impl.ID == plan.Retained }) {
			t.Errorf("%s: got retained locks, want them in the piece of their own", workload)
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

//go:build unix

package main

import (
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/examples/programs/behaviour"
)

func TestProgramBehavesAsTheOthers(t *testing.T) {
	behaviour.Program{Name: "demo", Binary: programs.Build(t), Sample: "go run ./demo"}.Test(t)
}

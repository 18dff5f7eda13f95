//go:build unix

package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/behaviour"
	"github.com/gocurator/curator/integration/programs"
)

func TestProgramBehavesAsTheOthers(t *testing.T) {
	behaviour.Program{Name: "demo", Binary: programs.Build(t), Sample: "go run ./demo"}.Test(t)
}

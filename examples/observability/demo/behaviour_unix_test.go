//go:build unix

package main

import (
	"testing"

	"github.com/gocurator/curator/examples/internal/behaviour"
	"github.com/gocurator/curator/examples/internal/process"
)

func TestProgramBehavesAsTheOthers(t *testing.T) {
	behaviour.Program{Name: "demo", Binary: process.Build(t), Sample: "go run ./demo"}.Test(t)
}

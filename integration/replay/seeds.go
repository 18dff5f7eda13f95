package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// searchSeeds runs the simulations natively, and makes the first failure what is to be replayed.
func (r *replayer) searchSeeds(ctx context.Context) (found bool, err error) {
	if !r.records {
		return false, fmt.Errorf("-seeds: the tests of %s are no simulations: they have no flags -history and -faults", r.pkg)
	}
	program := filepath.Join(r.dir, "native.test")
	if err := r.build(ctx, program); err != nil {
		return false, err
	}
	history := filepath.Join(r.dir, "native-history")
	args := []string{"-test.run", r.pattern, "-seeds", strconv.Itoa(r.seeds), "-history", history}
	cmd := exec.CommandContext(ctx, program, append(args, r.extra...)...)
	cmd.Dir = r.home
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err == nil:
		r.printf("the seeds 1 to %d pass natively\n", r.seeds)
		return false, nil
	case !errors.As(err, &exit):
		return false, err
	}
	text, err := os.ReadFile(history)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	s, found := failedSection(text)
	if !found {
		return false, fmt.Errorf("the tests fail natively, and no simulation says with which seed:\n%s", output)
	}
	r.printf("%s fails natively with seed %d:\n\n%s\n", s.test, s.seed, output)
	r.pattern, r.seed = s.pattern(), s.seed
	return true, nil
}

package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Merge makes one page of pieces that were measured apart. It refuses pieces of different commits, machines, versions
// or lengths, and a case or a residue that is in two of them, since ratios mean something only within one piece.
func Merge(pieces []*Results) (*Results, error) {
	if len(pieces) == 0 {
		return nil, errors.New("no results")
	}
	if len(pieces) == 1 {
		return pieces[0], nil
	}
	pieces = slices.Clone(pieces)
	slices.SortStableFunc(pieces, func(a, b *Results) int { return a.Conditions.Date.Compare(b.Conditions.Date) })
	merged := &Results{Conditions: pieces[0].Conditions}
	merged.Conditions.Versions, merged.Conditions.Missing = map[string]string{}, map[string]string{}
	cases, residues := map[Case]int{}, map[Residue]int{}
	var wrong []error
	for i, p := range pieces {
		wrong = append(wrong, merged.Conditions.add(p.Conditions))
		for _, c := range p.Cases() {
			if _, twice := cases[c]; twice {
				wrong = append(wrong, fmt.Errorf("%s is in two pieces", c))
			}
			cases[c] = i
		}
		for _, r := range p.Residue {
			key := Residue{Impl: r.Impl, Contended: r.Contended}
			if _, twice := residues[key]; twice {
				wrong = append(wrong, fmt.Errorf("the residue of %s is in two pieces", r.Impl))
			}
			residues[key] = i
		}
		merged.Runs, merged.Residue = append(merged.Runs, p.Runs...), append(merged.Residue, p.Residue...)
	}
	return merged, errors.Join(wrong...)
}

// add takes the versions of another piece, and says what else makes it another measurement.
func (c *Conditions) add(p Conditions) error {
	var wrong []error
	differ := func(what string, a, b any) {
		if a != b {
			wrong = append(wrong, fmt.Errorf("pieces differ in their %s: %v and %v", what, a, b))
		}
	}
	if p.Commit == "" || p.Changed {
		wrong = append(wrong, fmt.Errorf("a piece of %s was not measured on a commit", p.Date.Format("2006-01-02 15:04")))
	}
	differ("commits", c.Commit, p.Commit)
	differ("processors", fmt.Sprint(c.Cores, " ", c.CPU), fmt.Sprint(p.Cores, " ", p.CPU))
	differ("kernels", c.Kernel, p.Kernel)
	differ("idle times", c.Idle, p.Idle)
	if p.Rounds > 0 { // a measurement of residues has none
		if c.Rounds == 0 {
			c.Rounds, c.Window, c.Limit = p.Rounds, p.Window, p.Limit
		}
		differ("rounds", c.Rounds, p.Rounds)
		differ("windows", c.Window, p.Window)
		differ("limits of foreign processes", c.Limit, p.Limit)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Versions)) {
		differ("versions of "+name, cmp.Or(c.Versions[name], p.Versions[name]), p.Versions[name])
		c.Versions[name] = p.Versions[name]
	}
	maps.Copy(c.Missing, p.Missing)
	return errors.Join(wrong...)
}

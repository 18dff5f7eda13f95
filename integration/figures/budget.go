package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// budgetFile has the limits, relative to a checkout.
const budgetFile = "integration/budget.txt"

// A budget is the limits of the figures, with the lines of the file that has them.
type budget struct {
	lines  []string
	limits []limit
}

// A limit is the highest value that a figure may have.
type limit struct {
	name   string
	value  int
	raised string // why the limit rose; empty if it never did
	line   int    // from 1 on
}

var limitLine = regexp.MustCompile(`^(\S.*?)\s+(\d+)(?:\s+# raised: (\S.*))?$`)

// parseBudget reads a budget. It reports every malformed line.
func parseBudget(text string) (*budget, error) {
	b := &budget{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	var errs []error
	for i, line := range b.lines {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		found := limitLine.FindStringSubmatch(line)
		if found == nil {
			errs = append(errs, fmt.Errorf(`%s:%d: %q is not of the form "figure  limit", or "figure  limit  # raised: reason"`,
				budgetFile, i+1, line))
			continue
		}
		value, err := strconv.Atoi(found[2])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", budgetFile, i+1, err))
		}
		if before := b.find(found[1]); before != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %q has a limit in line %d already", budgetFile, i+1, found[1], before.line))
		}
		b.limits = append(b.limits, limit{found[1], value, found[3], i + 1})
	}
	return b, errors.Join(errs...)
}

// find returns the limit of a figure, or nil.
func (b *budget) find(name string) *limit {
	i := slices.IndexFunc(b.limits, func(l limit) bool { return l.name == name })
	if i < 0 {
		return nil
	}
	return &b.limits[i]
}

// match reports each limit without a figure, and each figure without a limit.
func (b *budget) match(figures []figure) error {
	var errs []error
	for _, l := range b.limits {
		if !slices.ContainsFunc(figures, func(f figure) bool { return f.name == l.name }) {
			errs = append(errs, fmt.Errorf("%s:%d: no figure is called %q", budgetFile, l.line, l.name))
		}
	}
	for _, f := range figures {
		if b.find(f.name) == nil {
			errs = append(errs, fmt.Errorf("%s: the figure %q has no limit; -write adds it", budgetFile, f.name))
		}
	}
	return errors.Join(errs...)
}

// lower reduces each limit to the present value of its figure, and adds figures that have no limit. It never raises a
// limit.
func (b *budget) lower(figures []figure) {
	for _, f := range figures {
		l := b.find(f.name)
		if l == nil {
			b.lines = append(b.lines, "")
			b.limits = append(b.limits, limit{name: f.name, value: f.value, line: len(b.lines)})
			continue
		}
		l.value = min(l.value, f.value)
	}
}

// String returns the budget's file, with all limits in one column.
func (b *budget) String() string {
	names, digits := 0, 0
	for _, l := range b.limits {
		names, digits = max(names, len(l.name)), max(digits, len(strconv.Itoa(l.value)))
	}
	lines := slices.Clone(b.lines)
	for _, l := range b.limits {
		lines[l.line-1] = fmt.Sprintf("%-*s  %*d", names, l.name, digits, l.value)
		if l.raised != "" {
			lines[l.line-1] += "  # raised: " + l.raised
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// table writes the figures in the order of the budget. It says which limits can be lowered by one percent or more.
func (b *budget) table(figures []figure) string {
	figures = slices.SortedFunc(slices.Values(figures), func(f, g figure) int { return b.find(f.name).line - b.find(g.name).line })
	names := len("figure")
	for _, f := range figures {
		names = max(names, len(f.name))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%-*s  %9s  %9s\n", names, "figure", "now", "limit")
	for _, f := range figures {
		limit, note := b.find(f.name).value, ""
		switch {
		case f.value > limit:
			note = "  above"
		case f.value*100 <= limit*99 && limit > 0:
			note = "  the limit can be lowered"
		}
		fmt.Fprintf(&text, "%-*s  %9d  %9d%s\n", names, f.name, f.value, limit, note)
	}
	return text.String()
}

// exceeded reports each figure that is above its limit.
func (b *budget) exceeded(figures []figure) error {
	var errs []error
	for _, f := range figures {
		if l := b.find(f.name); f.value > l.value {
			errs = append(errs, fmt.Errorf("%s:%d: %q is %d, which is %d above its limit of %d",
				budgetFile, l.line, f.name, f.value, f.value-l.value, l.value))
		}
	}
	return errors.Join(errs...)
}

// rises returns a line for each limit that is higher than in an earlier budget and says why. A limit that rose without
// a new reason is an error.
func (b *budget) rises(before *budget) (explained []string, err error) {
	var errs []error
	for _, l := range b.limits {
		earlier := before.find(l.name)
		if earlier == nil || l.value <= earlier.value {
			continue
		}
		rise := fmt.Sprintf("%s:%d: the limit of %q rose from %d to %d", budgetFile, l.line, l.name, earlier.value, l.value)
		if l.raised == "" || l.raised == earlier.raised {
			errs = append(errs, errors.New(rise+`; say why behind it, as "# raised: reason"`))
			continue
		}
		explained = append(explained, rise+": "+l.raised)
	}
	return explained, errors.Join(errs...)
}

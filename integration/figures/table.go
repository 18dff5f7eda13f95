package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A row of the summary: a figure, its goal, and how to get it.
type row struct {
	what, goal string
	value      func(*figures) string
}

// markdown writes the summary of all checkouts side by side, and the tables of the last one.
func markdown(all []*figures, s settings) string {
	var b strings.Builder
	b.WriteString("| figure | goal |")
	for _, f := range all {
		fmt.Fprintf(&b, " %s |", f.commit)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(all)) + "\n")
	for _, r := range rows(s) {
		fmt.Fprintf(&b, "| %s | %s |", r.what, r.goal)
		for _, f := range all {
			fmt.Fprintf(&b, " %s |", r.value(f))
		}
		b.WriteString("\n")
	}
	last := all[len(all)-1]
	last.perPackage(&b, s.limit)
	last.importsByFloor(&b)
	return b.String()
}

func rows(s settings) []row {
	from := strings.Join(s.roots.values, " and ")
	over := fmt.Sprintf("files over %d lines; the longest", s.limit)
	framework := func(p perPackage) bool { return below(p.path, "framework") && !s.setApart(p.path) }
	return []row{
		{"code lines reached from " + from + ", without " + s.apart.String(), "≤ 2,700", reached(func(p perPackage) bool { return !s.setApart(p.path) })},
		{"of these in recipes", "", reached(func(p perPackage) bool { return below(p.path, "recipes") })},
		{"of these in framework and below", "", reached(framework)},
		{"the same: " + s.apart.String(), "", reached(func(p perPackage) bool { return s.setApart(p.path) })},
		{"files with that code", "≤ 50", func(f *figures) string { return fmt.Sprint(f.reached) }},
		{"code lines in all of engine and session", "falls", sum(engine, func(p perPackage) int { return p.code })},
		{"uses against the order in framework, session, what it stands on, and transport", "≤ 20 %", (*figures).usesAgainstOrder},
		{"methods of " + s.methods, "≤ 90", func(f *figures) string { return f.methodsOf(s.methods) }},
		{"exported names of " + s.names + " that are no aliases", "≤ 50", func(f *figures) string { return f.ownNamesOf(s.names) }},
		{"words of the glossary", "≤ 18", func(f *figures) string { return number(f.glossary) }},
		{over, "0", func(f *figures) string { return f.longFiles(s.limit) }},
		{"mutable package-level variables", "0", func(f *figures) string { return f.mutableNames() }},
		{"imports that point up; sideways", "0; 0", (*figures).wrongImports},
		{"function length, p90 (lines)", "", func(f *figures) string { return fmt.Sprint(p90(f.allFunctions())) }},
		{"highest cyclomatic complexity", "≤ 15", (*figures).highestComplexity},
		{"words of comment per 1,000 code lines", "", func(f *figures) string { return f.comments() }},
	}
}

// below reports whether a package is another one or lies below it.
func below(path, other string) bool { return path == other || strings.HasPrefix(path, other+"/") }

func (s settings) setApart(path string) bool {
	return slices.ContainsFunc(s.apart.values, func(other string) bool { return below(path, other) })
}

// sum adds up a figure of some packages.
func sum(of func(perPackage) bool, figure func(perPackage) int) func(*figures) string {
	return func(f *figures) string {
		n := 0
		for _, p := range f.packages {
			if of(p) {
				n += figure(p)
			}
		}
		return fmt.Sprint(n)
	}
}

// reached adds up the reached lines of some packages.
func reached(of func(perPackage) bool) func(*figures) string {
	return sum(of, func(p perPackage) int { return p.reached })
}

// engine reports whether a package is the engine of the recipes, the session, or what the session stands on, apart from
// the transport and the clock.
func engine(p perPackage) bool {
	apart := strings.HasSuffix(p.path, "/transport") || strings.HasSuffix(p.path, "/clock") || strings.HasSuffix(p.path, "test")
	return p.path == "framework/session" || below(p.path, "recipes/internal/queue") || below(p.path, "framework/internal") && !apart
}

func (f *figures) ownNamesOf(path string) string {
	for _, p := range f.packages {
		if p.path == path {
			return fmt.Sprint(p.ownNames)
		}
	}
	return "no such package"
}

func (f *figures) methodsOf(name string) string {
	for _, m := range f.methods {
		if m.name == name {
			return fmt.Sprint(m.methods)
		}
	}
	return "no such type"
}

// number is empty for what could not be counted.
func number(n int) string {
	if n < 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (f *figures) longFiles(limit int) string {
	return fmt.Sprintf("%d; %s: %d", f.longerThan(limit), f.files[0].name, f.files[0].lines)
}

func (f *figures) longerThan(limit int) int {
	i := slices.IndexFunc(f.files, func(file fileLines) bool { return file.lines <= limit })
	if i < 0 {
		return len(f.files)
	}
	return i
}

func (f *figures) mutableNames() string {
	var names []string
	for _, p := range f.packages {
		for _, name := range p.mutable {
			names = append(names, p.path+"."+name)
		}
	}
	if len(names) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", "))
}

func (f *figures) wrongImports() string {
	return listed(f.floors.up) + "; " + listed(f.floors.sideways)
}

func listed(arrows []arrow) string {
	names := make([]string, len(arrows))
	for i, a := range arrows {
		names[i] = a.from + " → " + a.to
	}
	if len(names) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", "))
}

func (f *figures) allFunctions() []function {
	var all []function
	for _, p := range f.packages {
		all = append(all, p.functions...)
	}
	return all
}

func (f *figures) highestComplexity() string {
	var highest perPackage
	for _, p := range f.packages {
		if p.complexest.complexity > highest.complexest.complexity {
			highest = p
		}
	}
	return fmt.Sprintf("%d: %s in %s", highest.complexest.complexity, highest.complexest.name, highest.path)
}

func (f *figures) comments() string {
	words, code := 0, 0
	for _, p := range f.packages {
		words, code = words+p.words, code+p.code
	}
	return perThousand(words, code)
}

func perThousand(words, code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprint(words * 1000 / code)
}

// perPackage writes a line for each package, and the longest files: all that are too long, and five at least.
func (f *figures) perPackage(b *strings.Builder, limit int) {
	b.WriteString("\n| package | code lines | reached | exported names | mutable variables | words of comment per 1,000 code lines |" +
		" functions: p90 (lines) | highest complexity | uses against the order | nouns |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range f.packages {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %s | %d | %d | %s | %d |\n",
			p.path, p.code, p.reached, p.exported, len(p.mutable), perThousand(p.words, p.code), p90(p.functions), p.complexest.complexity,
			share(len(p.uses.up), p.uses.arrows), p.nouns)
	}
	b.WriteString("\n| types with most methods | methods |\n|---|---|\n")
	for _, m := range f.methods[:min(10, len(f.methods))] {
		fmt.Fprintf(b, "| %s | %d |\n", m.name, m.methods)
	}
	b.WriteString("\n| longest files, tests apart | lines |\n|---|---|\n")
	for _, file := range f.files[:min(max(5, f.longerThan(limit)), len(f.files))] {
		fmt.Fprintf(b, "| %s | %d |\n", file.name, file.lines)
	}
}

// importsByFloor writes how many imports go from one floor to another.
func (f *figures) importsByFloor(b *strings.Builder) {
	b.WriteString("\n| imports of | by packages of |\n|---|---|\n")
	for to, floor := range f.floors.floors {
		var by []string
		for from := range f.floors.floors {
			if n := f.floors.between[[2]int{from, to}]; n > 0 {
				by = append(by, fmt.Sprintf("%s: %d", f.floors.floors[from], n))
			}
		}
		if len(by) > 0 {
			fmt.Fprintf(b, "| %s | %s |\n", floor, strings.Join(by, "; "))
		}
	}
}

// list writes the functions that count, package by package, the longest first.
func (f *figures) list() string {
	sorted := slices.Clone(f.reachedList)
	slices.SortStableFunc(sorted, func(a, b functionReached) int {
		return cmp.Or(strings.Compare(a.path, b.path), b.lines-a.lines)
	})
	var b strings.Builder
	for _, function := range sorted {
		fmt.Fprintf(&b, "%4d %s/%s\n", function.lines, function.path, function.name)
	}
	return b.String()
}

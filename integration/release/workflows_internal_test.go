package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
	"golang.org/x/mod/modfile"
)

// A workflow is what these tests look at.
type workflow struct {
	Name        string
	Permissions map[string]string
	Jobs        map[string]struct {
		RunsOn   string `yaml:"runs-on"`
		Strategy struct {
			Matrix map[string][]string
		}
		Steps []struct {
			Uses, Run string
			With, Env map[string]string
		}
	}
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	all := map[string]workflow{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[filepath.Base(name)] = w
	}
	return all
}

// commands are what a workflow runs.
func commands(w workflow) (all []string) {
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			all = append(all, strings.Split(step.Run, "\n")...)
		}
	}
	return all
}

func TestWorkflowRunsWhatCIRuns(t *testing.T) {
	ci := workflows(t)["ci.yml"]
	run := commands(ci)
	for _, want := range []string{".ci/run", "integration/tool govulncheck ./..."} {
		if !slices.Contains(run, want) {
			t.Errorf("ci.yml: got %q, want %q among it", run, want)
		}
	}
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	least := strings.Join(strings.Split(file.Go.Version, ".")[:2], ".") + ".x"
	if got := ci.Jobs["everything"].Strategy.Matrix["go"]; !slices.Contains(got, least) || !slices.Contains(got, "stable") {
		t.Errorf("ci.yml: got Go %v, want %s, the least that go.mod allows, and stable", got, least)
	}
	if got := ci.Jobs["systems"].Strategy.Matrix["os"]; len(got) < 2 {
		t.Errorf("ci.yml: got the systems %v, want macOS and Windows", got)
	}
}

// What workflows run stands in the repository, and actions are pinned.
func TestWorkflowsCallWhatExists(t *testing.T) {
	for name, w := range workflows(t) {
		if len(w.Permissions) == 0 {
			t.Errorf("%s: got no permissions, which gives it all", name)
		}
		for _, line := range commands(w) {
			words := strings.Fields(line)
			if len(words) > 0 && regexp.MustCompile(`^(\.ci|integration)/`).MatchString(words[0]) {
				if info, err := os.Stat(filepath.Join("../..", words[0])); err != nil || info.Mode()&0o100 == 0 {
					t.Errorf("%s: %s: got %v, want a program", name, words[0], err)
				}
			}
			for _, dir := range regexp.MustCompile(`\./([\w/]+?)(/\.\.\.)?(\s|$)`).FindAllStringSubmatch(line, -1) {
				if _, err := os.Stat(filepath.Join("../..", dir[1])); err != nil && dir[1] != "..." {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		for job, j := range w.Jobs {
			if j.RunsOn == "" {
				t.Errorf("%s: %s runs nowhere", name, job)
			}
			for _, step := range j.Steps {
				if step.Uses != "" && !regexp.MustCompile(`^actions/[\w-]+@v\d+$`).MatchString(step.Uses) {
					t.Errorf("%s: got the action %q, want one of GitHub's own, with a version", name, step.Uses)
				}
			}
		}
	}
}

func TestActionlintFindsNothingInTheWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	// whether this machine has those two must change nothing
	args := append([]string{"actionlint", "-shellcheck=", "-pyflakes="}, files...)
	if _, err := command(t.Context(), "", nil, "../tool", args...); err != nil {
		t.Error(err)
	}
}

package main

import (
	"fmt"
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
		Uses     string
		Needs    string
		Strategy struct {
			Matrix map[string]any
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
	if !slices.Contains(run, ".ci/run") {
		t.Errorf("ci.yml: got %q, want .ci/run among it", run)
	}
	if text := strings.Join(run, "\n"); !regexp.MustCompile(`(?s)for file in \$\(git ls-files '\*go\.mod'\).*govulncheck \./\.\.\.`).MatchString(text) {
		t.Errorf("ci.yml: got\n%s\nwant govulncheck in every module, as SECURITY.md promises", text)
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
	if got, want := fmt.Sprint(ci.Jobs["everything"].Strategy.Matrix["go"]), "["+least+" stable]"; got != want {
		t.Errorf("ci.yml: got Go %v, want %v, the least that go.mod allows and the newest", got, want)
	}
	if got, want := fmt.Sprint(ci.Jobs["systems"].Strategy.Matrix["os"]), "[macos-latest windows-latest]"; got != want {
		t.Errorf("ci.yml: got the systems %v, want %v", got, want)
	}
}

func TestAReleaseIsPublishedAfterEveryPartOfTheRun(t *testing.T) {
	all := workflows(t)
	if run := commands(all["all.yml"]); !slices.Contains(run, "integration/run ${{ matrix.part }}") {
		t.Errorf("all.yml: got %q, want each part among it", run)
	}
	jobs := all["release.yml"].Jobs
	if got := jobs[jobs["notes"].Needs].Uses; got != "./.github/workflows/all.yml" {
		t.Errorf("release.yml: the notes need %q, want all.yml", got)
	}
}

// What workflows run stands in the repository, and actions are pinned.
func TestWorkflowsCallWhatExists(t *testing.T) {
	for name, w := range workflows(t) {
		if len(w.Permissions) == 0 {
			t.Errorf("%s: got no permissions, which gives it all", name)
		}
		for _, line := range commands(w) {
			root := "../.."
			if dir, rest, found := strings.Cut(line, " && "); found && strings.HasPrefix(dir, "cd ") {
				root, line = filepath.Join(root, strings.TrimPrefix(dir, "cd ")), rest
			}
			words := strings.Fields(line)
			if len(words) > 0 && regexp.MustCompile(`^(\.ci|integration)/`).MatchString(words[0]) {
				if info, err := os.Stat(filepath.Join(root, words[0])); err != nil || info.Mode()&0o100 == 0 {
					t.Errorf("%s: %s: got %v, want a program", name, words[0], err)
				}
			}
			for _, dir := range regexp.MustCompile(`\./([\w/]+?)(/\.\.\.)?(\s|$)`).FindAllStringSubmatch(line, -1) {
				if _, err := os.Stat(filepath.Join(root, dir[1])); err != nil && dir[1] != "..." {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		for job, j := range w.Jobs {
			if j.RunsOn == "" && j.Uses == "" {
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

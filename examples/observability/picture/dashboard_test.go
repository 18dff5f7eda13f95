package picture_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

var record = flag.Bool("record", false, "draw dashboard.svg")

const picture = "../dashboard.svg"

// A panel is one of dashboard.json, with the answers to its expressions.
type panel struct {
	Title       string
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ Expr, LegendFormat string }

	curves []curve
}

// A curve is a series under the name that the legend has for it.
type curve struct {
	name   string
	points []point
}

// named is the legend of a series: {{label}} is the label's value.
func named(format string, labels map[string]string) string {
	return regexp.MustCompile(`{{(\w+)}}`).ReplaceAllStringFunc(format, func(label string) string { return labels[strings.Trim(label, "{}")] })
}

func panels(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile("../dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct{ Panels []panel }
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	return dashboard.Panels
}

func TestEachExpressionOfTheDashboardShowsSomething(t *testing.T) {
	tool(t, "prometheus")
	scraped, began, faults := run(t)
	address := serve(t, scraped)
	shown := panels(t)
	for i := range shown {
		p := &shown[i]
		moves := false
		for _, target := range p.Targets {
			answer := ask(t, address, target.Expr, began)
			if len(answer) == 0 {
				t.Errorf("%s: got no data for %s", p.Title, target.Expr)
			}
			for _, s := range answer {
				c := curve{named(target.LegendFormat, s.labels), s.points}
				p.curves = append(p.curves, c)
				moves = moves || c.most() > 0
			}
		}
		if !moves {
			t.Errorf("%s: got zeros alone, want something to see", p.Title)
		}
	}
	if *record && !t.Failed() {
		if err := os.WriteFile(picture, []byte(draw(shown, faults)), 0o644); err != nil { //nolint:gosec // to be shown
			t.Fatal(err)
		}
	}
}

func TestPictureHasEachPanelOfTheDashboard(t *testing.T) {
	text, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	svg := string(text)
	for elements := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := elements.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal("got no XML: ", err)
		}
	}
	all := panels(t)
	for _, p := range all {
		if !strings.Contains(svg, ">"+html.EscapeString(p.Title)+"<") {
			t.Errorf("got no panel %q: draw it again, with -record", p.Title)
		}
	}
	if got := strings.Count(svg, `class="c"`); got != len(all) {
		t.Errorf("got %d panels, want %d: draw it again, with -record", got, len(all))
	}
	if len(svg) > 150_000 || !strings.Contains(svg, "prefers-color-scheme:dark") {
		t.Errorf("got %d bytes, want at most 150 kB, for light and dark", len(svg))
	}
}

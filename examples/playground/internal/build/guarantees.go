package build

import (
	"errors"
	"regexp"
	"strings"
)

var begins = regexp.MustCompile(`^//\s+(G\d+)\s+([^:]+): (.*)$`)

// parseGuarantees finds the paragraphs "G1  Title: text" in a package's comment.
func parseGuarantees(doc string) ([]guarantee, error) {
	var list []guarantee
	within := false
	for line := range strings.Lines(doc) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(strings.TrimPrefix(line, "//"))
		if m := begins.FindStringSubmatch(line); m != nil {
			list = append(list, guarantee{m[1], m[2], m[3]})
			within = true
			continue
		}
		if within = within && text != ""; within {
			list[len(list)-1].Text += " " + text
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the documentation of package locks has no guarantees")
	}
	return list, nil
}

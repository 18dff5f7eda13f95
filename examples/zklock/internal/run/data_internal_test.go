package run

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNodeTellsTheCommandsArgumentsOnlyIfAsked(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"by default":          {nil, `^\S+@\S+ \d+ mysqldump$`},
		"asked for":           {[]string{"-data-command"}, `^\S+@\S+ \d+ mysqldump --password secret$`},
		"a text of one's own": {[]string{"-data", "billing"}, `^billing$`},
		"a leader":            {[]string{"-leader"}, `^[^ ]+@[^ ]+$`},
	} {
		args := append(c.flags, "-zk", "zk1:2181", "/locks/nightly", "--", "/usr/bin/mysqldump", "--password", "secret")
		j, err := parse(args, func(string) string { return "" })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !regexp.MustCompile(c.want).MatchString(j.data) {
			t.Errorf("%s: got %q, want what matches %s", name, j.data, c.want)
		}
	}
}

func TestALongCommandIsCutBetweenCharacters(t *testing.T) {
	for _, shift := range []string{"", "x"} {
		j, err := parse([]string{"-data-command", "-zk", "zk1", "/l", "--", shift + strings.Repeat("é", 200)}, func(string) string { return "" })
		if err != nil || !utf8.ValidString(j.data) || !strings.HasSuffix(j.data, "é…") {
			t.Errorf("got %q, error %v, want whole characters", j.data, err)
		}
	}
}

func TestNodeHasOneText(t *testing.T) {
	for _, other := range []string{"-data=billing", "-leader"} {
		_, err := parse([]string{"-data-command", other, "-zk", "zk1", "/l", "--", "true"}, func(string) string { return "" })
		if err == nil || !strings.Contains(err.Error(), "exclude each other") {
			t.Errorf("%s: got %v, want that it excludes -data-command", other, err)
		}
	}
}

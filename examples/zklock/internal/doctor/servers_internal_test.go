package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
)

// answering is an ask for serverFindings that gives these answers, or these errors.
func answering(answers map[string]string, troubles map[string]fourletter.Trouble) func(string) (string, error) {
	return func(command string) (string, error) {
		if trouble := troubles[command]; trouble != 0 {
			return "", &fourletter.Error{Trouble: trouble, What: "because"}
		}
		return answers[command], nil
	}
}

func TestWhatAServerDoesNotTellIsUnknown(t *testing.T) {
	const (
		version    = "Zookeeper version: 3.9.5-abc, built on x\nMode: leader\n"
		settings   = "tickTime=2000\nminSessionTimeout=4000\nmaxSessionTimeout=40000\n"
		silentConf = "unknown a:1 its settings: its answer to conf lacks that"
	)
	for name, c := range map[string]struct {
		srvr, conf string
		troubles   map[string]fourletter.Trouble
		want       string
	}{
		"settings without the tick":             {version, strings.Replace(settings, "tickTime", "tick", 1), nil, silentConf},
		"settings without the shortest session": {version, strings.Replace(settings, "minSession", "session", 1), nil, silentConf},
		"settings without the longest session":  {version, strings.Replace(settings, "maxSession", "session", 1), nil, silentConf},
		"srvr alone, as by default":             {version, "", troubles("conf", fourletter.NotAllowed), "unknown a:1 its settings: because"},
		"srvr alone, and a hang-up":             {version, "", troubles("conf", fourletter.HungUp), "unknown a:1 its settings: because"},
		"conf alone":                            {"", settings, troubles("srvr", fourletter.NotAllowed), "unknown a:1 its version: because"},
		"neither": {
			"", "",
			map[string]fourletter.Trouble{"srvr": fourletter.NotAllowed, "conf": fourletter.NotAllowed},
			"unknown a:1 its version: because; unknown a:1 its settings: because",
		},
		"ClickHouse Keeper": {
			"ClickHouse Keeper version: v24.8.4.13-lts-abc\nMode: leader\n", "server_id=1\ntcp_port=9181\n", nil,
			"unknown a:1 it is ClickHouse Keeper v24.8.4.13-lts-abc: doctor knows ZooKeeper's releases and settings only",
		},
	} {
		var got []string
		found, serves := serverFindings("a:1", answering(map[string]string{"srvr": c.srvr, "conf": c.conf}, c.troubles))
		for _, f := range found {
			if f.Level != OK {
				got = append(got, f.Level+" "+f.About+" "+f.What)
			}
		}
		if got := strings.Join(got, "; "); got != c.want || !serves {
			t.Errorf("%s: got %q, serves %t, want %q, and that it serves", name, got, serves, c.want)
		}
	}
}

func troubles(command string, trouble fourletter.Trouble) map[string]fourletter.Trouble {
	return map[string]fourletter.Trouble{command: trouble}
}

func TestServerThatServesNobodyIsWrong(t *testing.T) {
	for trouble, what := range map[fourletter.Trouble]string{
		fourletter.Unreachable: "does not answer: because",
		fourletter.Silent:      "does not answer: because",
		fourletter.HungUp:      "does not answer: because",
		fourletter.Foreign:     "does not answer: because",
		fourletter.NotServing:  "because",
	} {
		found, serves := serverFindings("a:1", answering(nil, troubles("srvr", trouble)))
		if len(found) != 1 || serves {
			t.Fatalf("trouble %d: got %+v, serves %t, want one finding, and that it does not serve", trouble, found, serves)
		}
		if f := found[0]; f.Level != Wrong || f.About != "a:1" || f.What != what || f.Advice == "" || strings.Contains(f.Advice, "4lw") {
			t.Errorf("trouble %d: got %+v, want that it is wrong, %q, and advice", trouble, f, what)
		}
	}
}

func TestOnlyLocksWithoutFindingsAreCounted(t *testing.T) {
	for _, c := range []struct {
		sound, all int
		want       string
	}{
		{0, 0, "0 locks were looked at"},
		{1, 1, "1 lock was looked at"},
		{2, 2, "2 locks were looked at"},
		{2, 3, "3 locks were looked at, and nothing was found about 2 of them"},
		{0, 1, ""},
		{0, 3, ""},
	} {
		if got := soundFinding("/", c.sound, c.all); got.What != c.want || got.Level != OK && c.want != "" {
			t.Errorf("%d of %d: got %+v, want %q", c.sound, c.all, got, c.want)
		}
	}
}

func TestSummaryOfAServerHasItsReleaseAlone(t *testing.T) {
	for version, want := range map[string]string{
		"3.9.5-293c895a, built on 2026-02-11": "ZooKeeper 3.9.5, leader",
		"3.9.4, built on 2025-08-26":          "ZooKeeper 3.9.4, leader",
		"3.9.4":                               "ZooKeeper 3.9.4, leader",
		"":                                    "ZooKeeper of unknown version, leader",
	} {
		if got := summary(version, "leader", settings{}, false); got != want {
			t.Errorf("%q: got %q, want %q", version, got, want)
		}
	}
}

func TestSettingsOfServersAreJudged(t *testing.T) {
	conf := func(tick, least int) string {
		return fmt.Sprintf("clientPort=2181\ntickTime=%d\nminSessionTimeout=%d\nmaxSessionTimeout=40000\n", tick, least)
	}
	for _, c := range []struct {
		srvr, conf string
		want       string
	}{
		{"Zookeeper version: 3.9.5-abc, built on x\nMode: leader\n", conf(2000, 4000), "ok"},
		{"Zookeeper version: 3.9.5-abc\nMode: leader\n", conf(2000, 3999), "ok wrong"},
		{"Zookeeper version: 3.4.14-abc\nMode: leader\n", conf(2000, 4000), "ok look look"},
		{"Zookeeper version: 3.9.3-abc\nMode: leader\n", conf(2000, 3999), "ok wrong look"},
		{"Zookeeper version: 3.9.3-abc\nMode: leader\n", "", "ok look unknown"},
		{"", conf(2000, 4000), "ok unknown"},
		{"", "", "unknown unknown"},
	} {
		var levels []string
		found, _ := serverFindings("a:1", answering(map[string]string{"srvr": c.srvr, "conf": c.conf}, nil))
		for _, f := range found {
			levels = append(levels, f.Level)
		}
		if got := strings.Join(levels, " "); got != c.want {
			t.Errorf("%q: got %s, want %s", c.conf, got, c.want)
		}
	}
}

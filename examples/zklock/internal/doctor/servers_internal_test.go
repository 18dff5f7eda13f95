package doctor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestWhatAServerDoesNotTellIsUnknown(t *testing.T) {
	const (
		refused    = " is not executed because it is not in the whitelist."
		version    = "Zookeeper version: 3.9.5-abc, built on x\nMode: leader\n"
		settings   = "tickTime=2000\nminSessionTimeout=4000\nmaxSessionTimeout=40000\n"
		silentConf = "its settings: it does not answer the four-letter command conf"
		idle       = "This ZooKeeper instance is not currently serving requests\n"
	)
	for name, c := range map[string]struct {
		srvr, conf string
		err        error
		want       string
	}{
		"settings without the tick":             {version, strings.Replace(settings, "tickTime", "tick", 1), nil, silentConf},
		"settings without the shortest session": {version, strings.Replace(settings, "minSession", "session", 1), nil, silentConf},
		"settings without the longest session":  {version, strings.Replace(settings, "maxSession", "session", 1), nil, silentConf},
		"srvr alone, as by default":             {version, "conf" + refused, nil, silentConf},
		"conf alone":                            {"srvr" + refused, settings, nil, "its version: it does not answer the four-letter command srvr"},
		"neither":                               {"srvr" + refused, "conf" + refused, nil, "its version and its settings: it does not answer the four-letter command srvr, nor conf"},
		"a server without a leader":             {idle, idle, nil, "its version and its settings: it does not answer the four-letter command srvr, nor conf"},
		"no server":                             {"", "", errors.New("connection refused"), "its version and its settings: connection refused"},
		"ClickHouse Keeper": {
			"ClickHouse Keeper version: v24.8.4.13-lts-abc\nMode: leader\n", "server_id=1\ntcp_port=9181\n", nil,
			"it is ClickHouse Keeper v24.8.4.13-lts-abc: doctor knows ZooKeeper's releases and settings only",
		},
	} {
		var got []string
		for _, f := range serverFindings("a:1", func(command string) (string, error) {
			return map[string]string{"srvr": c.srvr, "conf": c.conf}[command], c.err
		}) {
			if f.Level != OK {
				got = append(got, f.Level+" "+f.About+" "+f.What)
			}
		}
		if got, want := strings.Join(got, "; "), "unknown a:1 "+c.want; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
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
		{"Zookeeper version: 3.9.3-abc\nMode: leader\n", "conf is not executed because it is not in the whitelist.", "ok look unknown"},
		{"srvr is not executed because it is not in the whitelist.", conf(2000, 4000), "ok unknown"},
		{"", "conf is not executed because it is not in the whitelist.", "unknown"},
		{"", "", "unknown"},
	} {
		var levels []string
		for _, f := range serverFindings("a:1", func(command string) (string, error) {
			return map[string]string{"srvr": c.srvr, "conf": c.conf}[command], nil
		}) {
			levels = append(levels, f.Level)
		}
		if got := strings.Join(levels, " "); got != c.want {
			t.Errorf("%q: got %s, want %s", c.conf, got, c.want)
		}
	}
}

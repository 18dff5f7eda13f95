package doctor

import (
	"fmt"
	"strings"
	"testing"
)

func TestVersionOfAServerIsParsed(t *testing.T) {
	for text, want := range map[string]string{
		"3.9.5-293c895a8d966a3ecb92872be4a1daf87d725da2, built on 2026-02-11 20:18 UTC": "[3 9 5] false true",
		"3.9.3-${mvngit.commit.id}, built on 2024-10-24 22:41 UTC":                      "[3 9 3] false true",
		"3.4.6-1569965, built on 02/20/2014 09:09 GMT":                                  "[3 4 6] false true",
		"3.8.0--1, built on 06/01/2022":                                                 "[3 8 0] false true",
		"3.4.5-cdh5.16.1--1, built on 11/22/2018":                                       "[3 4 5] false true",
		"3.5.5.7.1.7.0-551-8a2c, built on 08/03/2021":                                   "[3 5 5] false true",
		"3.9.4":                            "[3 9 4] false true",
		"3.10.0-SNAPSHOT-53a78e36f, built": "[3 10 0] true true",
		"3.5.3-beta-8ce24f9e, built":       "[3 5 3] true true",
		"3.9.4-snapshot":                   "[3 9 4] true true",
		"3.5.0-alpha-1692700":              "[3 5 0] true true",
		"3.9.4-rc1, built":                 "[3 9 4] true true",
		"3.9.4-rc":                         "[3 9 4] true true",
		"3.9.4-1rc":                        "[3 9 4] false true",
		"3.9":                              "[0 0 0] false false",
		"v24.8.4.13-lts":                   "[0 0 0] false false",
		"3.9.99999999999999999999-x":       "[0 0 0] false false",
		" 3.9.4":                           "[0 0 0] false false",
		"":                                 "[0 0 0] false false",
	} {
		r, preview, ok := parseVersion(text)
		if got := fmt.Sprint([3]int(r), preview, ok); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestReleasesThatLoseAnsweredWritesAreFound(t *testing.T) {
	const (
		beforeDiffSync = "look 4785 4712 4394"
		beforeShutdown = "look 4712 4394"
		endedLine      = beforeDiffSync + " ended"
	)
	for version, want := range map[string]string{
		"3.4.14-4c25d480e": endedLine, "3.5.10-x": endedLine, "3.6.4-x": endedLine, "3.7.2-x": endedLine,
		"3.5.3-beta-8ce24f9e": endedLine, "3.5.5.7.1.7.0-551": endedLine,
		"3.8.0--1": beforeDiffSync, "3.8.4-x": beforeDiffSync, "3.8.5-x": beforeShutdown, "3.8.6-x": beforeShutdown,
		"3.8.7-x": "unknown 4712 4394", "3.8.7-SNAPSHOT-x": "unknown 4712 4394",
		"3.9.0-x": beforeDiffSync, "3.9.1-x": beforeDiffSync, "3.9.2-x": beforeShutdown, "3.9.3-x": "look 4925",
		"3.9.3-SNAPSHOT-x": "look 4925", "3.9.4-SNAPSHOT-x": "unknown", "3.10.0-SNAPSHOT-x": "unknown",
		"3.9.4-x": "", "3.9.5-x": "", "3.9.10-x": "", "3.10.0-x": "", "4.0.0-x": "",
		"three": "unknown", "3.9": "unknown",
	} {
		f := versionFinding("zk1:2181", version)
		got := []string{f.Level}
		for _, fault := range []string{"4785", "4712", "4394", "4925"} {
			if strings.Contains(f.What, "ZOOKEEPER-"+fault) {
				got = append(got, fault)
			}
		}
		if strings.Contains(f.What, "a line that has ended") {
			got = append(got, "ended")
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %q, want %q: %+v", version, got, want, f)
		}
		if f.Level != "" && (f.About != "zk1:2181" || !strings.Contains(f.Advice, "3.9.4 or later")) {
			t.Errorf("%s: got %+v, want the server's address and advice to take 3.9.4 or later", version, f)
		}
	}
}

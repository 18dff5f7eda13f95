package commands

import (
	"bytes"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionNamesTheReleaseOrTheCommit(t *testing.T) {
	system := runtime.GOOS + "/" + runtime.GOARCH
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}}
	for want, info := range map[string]*debug.BuildInfo{
		"zklock unknown": nil,
		"zklock v0.1.0":  {Main: debug.Module{Version: "v0.1.0"}},
		"zklock (devel), commit abc of 2026-01-02T03:04:05Z": {Main: debug.Module{Version: "(devel)"}, Settings: commit},
		"zklock (devel), commit abc with changes of 2026-01-02T03:04:05Z": {
			Main: debug.Module{Version: "(devel)"}, Settings: append(commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
		},
	} {
		if got := readBuild(info).String(); got != want+", "+runtime.Version()+" for "+system {
			t.Errorf("got %q, want %q and the system", got, want)
		}
	}
}

func TestVersionPrintsTextOrJSON(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{{nil, 0, "zklock "}, {[]string{"-json"}, 0, `{"version":`}, {[]string{"now"}, 64, ""}, {[]string{"-no-such-flag"}, 64, ""}} {
		var out, errs bytes.Buffer
		if got := version(c.args, &out, &errs); got != c.status {
			t.Errorf("%v: got status %d, want %d", c.args, got, c.status)
		}
		if !strings.HasPrefix(out.String(), c.want) || (c.status != 0) != strings.Contains(errs.String(), "has the manual") {
			t.Errorf("%v: got %q and %q, want %q first", c.args, out.String(), errs.String(), c.want)
		}
		if c.want == `{"version":` && !json.Valid(out.Bytes()) {
			t.Errorf("got %q, want JSON", out.String())
		}
	}
}

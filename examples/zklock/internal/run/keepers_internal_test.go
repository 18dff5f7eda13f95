package run

import (
	"slices"
	"strings"
	"testing"
)

func TestPathsOfAnEnvironmentHaveTheirKeepers(t *testing.T) {
	const inner = "30.3-40.4@zk1%3A2181/x"
	for name, c := range map[string]struct {
		environ []string
		want    []kept
	}{
		"nothing": {nil, nil},
		"two paths": {
			[]string{"PATH=/bin", "ZKLOCK_HELD=/a:/b%3Ac", "ZKLOCK_KEEPERS=1.1-2.2@zk2:" + inner},
			[]kept{{"zk2", "/a", identity{1, 1}, identity{2, 2}}, {"zk1:2181/x", "/b:c", identity{30, 3}, identity{40, 4}}},
		},
		"an outer zklock that names no keepers": {
			[]string{"ZKLOCK_HELD=/a:/b", "ZKLOCK_KEEPERS=:" + inner}, []kept{{"zk1:2181/x", "/b", identity{30, 3}, identity{40, 4}}},
		},
		"a variable twice":        {[]string{"ZKLOCK_HELD=/a", "ZKLOCK_KEEPERS=1.1-2.2@zk2", "ZKLOCK_HELD=/b"}, []kept{{"zk2", "/a", identity{1, 1}, identity{2, 2}}}},
		"no keepers":              {[]string{"ZKLOCK_HELD=/a"}, nil},
		"more keepers than paths": {[]string{"ZKLOCK_HELD=/a", "ZKLOCK_KEEPERS=1.1-2.2@zk2:1.1-2.2@zk2"}, nil},
		"no front":                {[]string{"ZKLOCK_HELD=/a", "ZKLOCK_KEEPERS=-2.2"}, nil},
		"no servers":              {[]string{"ZKLOCK_HELD=/a", "ZKLOCK_KEEPERS=1.1-2.2"}, nil},
		"no number":               {[]string{"ZKLOCK_HELD=/a", "ZKLOCK_KEEPERS=x.1-2.2"}, nil},
		"a group":                 {[]string{"ZKLOCK_HELD=/a", "ZKLOCK_KEEPERS=-1.1-2.2@zk2"}, nil},
		"too large a number":      {[]string{"ZKLOCK_HELD=/a", "ZKLOCK_KEEPERS=1.99999999999999999999-2.2"}, nil},
	} {
		if got := keptBy([]byte(strings.Join(c.environ, "\x00") + "\x00")); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAProcessIsAnOrphanOnlyIfItsFrontAndItsKeeperAreGone(t *testing.T) {
	front, keeper := identity{1, 1}, identity{2, 2}
	all := []kept{{"zk1", "/other", identity{8, 8}, identity{9, 9}}, {"zk1", "/a", front, keeper}}
	for name, c := range map[string]struct {
		paths  []string
		living []identity
		want   bool
	}{
		"both are gone":               {[]string{"/b", "/a"}, nil, true},
		"the front lives":             {[]string{"/a"}, []identity{front}, false},
		"the keeper lives":            {[]string{"/a"}, []identity{keeper}, false},
		"their numbers were reused":   {[]string{"/a"}, []identity{{1, 7}, {2, 7}}, true},
		"the path is another":         {[]string{"/b"}, nil, false},
		"one of another path is gone": {[]string{"/a"}, []identity{front, keeper}, false},
	} {
		got := orphaned(all, "zk1", c.paths, func(i identity) bool { return slices.Contains(c.living, i) })
		if got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestTheSameLockIsKnownByAServerInCommonAndItsWholePath(t *testing.T) {
	for _, c := range []struct {
		servers, path   string
		servers2, path2 string
		want            bool
	}{
		{"zk1:2181", "/a", "zk1:2181", "/a", true},
		{"zk1:2181,zk2:2181", "/a", "zk3,zk2", "/a", true},
		{"zk1:2181/x", "/a", "zk1", "/x/a", true},
		{"zk1:2181/x/", "/a", "zk1/x", "/a", true},
		{"[::1]:2181", "/a", "[::1]", "/a", true},
		{"dns-srv://_c._tcp.zk/x", "/a", "dns-srv://_c._tcp.zk", "/x/a", true},
		{"dns-srv://_c._tcp.zk", "/a", "dns-srv://_c._tcp.other", "/a", false},
		{"dns-srv://_c._tcp.zk", "/a", "zk", "/a", false},
		{"zk1:2182", "/a", "zk1", "/a", false},
		{"zk1", "/a", "zk2", "/a", false},
		{"zk1/x", "/a", "zk1/y", "/a", false},
		{"zk1", "/a", "zk1", "/b", false},
		{"", "", "/", "/", false},
	} {
		if got := (kept{servers: c.servers, path: c.path}).is(c.servers2, c.path2); got != c.want {
			t.Errorf("%s%s and %s%s: got %v, want %v", c.servers, c.path, c.servers2, c.path2, got, c.want)
		}
	}
}

func TestKeepersOfANestedRunFollowThoseAroundIt(t *testing.T) {
	front, keeper := identity{1, 10}, identity{2, 20}
	for _, c := range []struct {
		around      string
		outer, ours int
		want        string
	}{
		{"", 0, 1, "1.10-2.20@zk1%3A1"},
		{"", 0, 2, "1.10-2.20@zk1%3A1:1.10-2.20@zk1%3A1"},
		{"5.5-6.6", 1, 1, "5.5-6.6:1.10-2.20@zk1%3A1"},
		{"", 1, 1, ":1.10-2.20@zk1%3A1"},         // an older one
		{"5.5-6.6", 2, 1, "::1.10-2.20@zk1%3A1"}, // not its own
	} {
		if got := keepersOf(c.around, c.outer, c.ours, kept{servers: "zk1:1", front: front, keeper: keeper}); got != "ZKLOCK_KEEPERS="+c.want {
			t.Errorf("%q around %d paths: got %s, want %s", c.around, c.outer, got, c.want)
		}
	}
}

// What the command of a lock gets says who keeps it, whatever its path; what others write does no harm.
func FuzzKeepers(f *testing.F) {
	f.Add("/a:b%", "zk1:2181,zk2/x", "ZKLOCK_HELD=/a\x00ZKLOCK_KEEPERS=1.1-2.2@zk1", 1, uint64(2))
	f.Add("/", "@:-", "ZKLOCK_KEEPERS=:::\x00ZKLOCK_HELD=::%3A\x00=\x00ZKLOCK_HELD", 1, uint64(2))
	f.Fuzz(func(t *testing.T, path, servers, hostile string, pid int, start uint64) {
		for _, k := range keptBy([]byte(hostile)) {
			if k.front.pid <= 0 || k.keeper.pid <= 0 {
				t.Errorf("got process %+v", k)
			}
			k.is(servers, path)
		}
		if path == "" || strings.Contains(path+servers, "\x00") || pid <= 0 {
			return
		}
		one := identity{pid, start}
		own := kept{servers, path, one, one}
		environ := "A=1\x00ZKLOCK_HELD=" + escape.Replace(path) + "\x00" + keepersOf("", 0, 1, own) + "\x00" + hostile
		if got, want := keptBy([]byte(environ)), []kept{own}; !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

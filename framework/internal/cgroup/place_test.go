package cgroup_test

import (
	"testing"

	"github.com/gocurator/curator/framework/internal/cgroup"
)

const mounts = `22 28 0:20 / /proc rw - proc proc rw
30 28 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate
`

func TestPlaceFindsTheDirectoryOfVersion2(t *testing.T) {
	for name, test := range map[string]struct{ cgroup, mounts, want string }{
		"a service":                       {"0::/system.slice/app.service\n", mounts, "/sys/fs/cgroup/system.slice/app.service"},
		"a container's root":              {"0::/\n", mounts, "/sys/fs/cgroup"},
		"beside version 1":                {"3:cpu:/a\n0::/b\n", mounts, "/sys/fs/cgroup/b"},
		"version 1 alone":                 {"3:cpu:/a\n", mounts, ""},
		"no mount":                        {"0::/a\n", "22 28 0:20 / /proc rw - proc proc rw\n", ""},
		"a mount of a part":               {"0::/pods/a/b\n", "30 28 0:26 /pods/a /sys/fs/cgroup rw - cgroup2 c rw\n", "/sys/fs/cgroup/b"},
		"a mount of a part, of its own":   {"0::/pods/a\n", "30 28 0:26 /pods/a /sys/fs/cgroup rw - cgroup2 c rw\n", "/sys/fs/cgroup"},
		"a mount of another part":         {"0::/pods/ab\n", "30 28 0:26 /pods/a /sys/fs/cgroup rw - cgroup2 c rw\n", ""},
		"outside of its namespace":        {"0::/../b\n", mounts, ""},
		"a mount point with blanks":       {"0::/a\n", `30 28 0:26 / /sys\040fs rw - cgroup2 c rw` + "\n", "/sys fs/a"},
		"nothing":                         {"", "", ""},
		"a line that is cut off":          {"0::", "30 28 0:26 / - cgroup2 ", ""},
		"a path that is none":             {"0::a\n", mounts, ""},
		"optional fields before the dash": {"0::/a\n", "30 28 0:26 / /c rw shared:9 - cgroup2 c rw\n", "/c/a"},
	} {
		if got := cgroup.Place(test.cgroup, test.mounts); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func FuzzPlace(f *testing.F) {
	f.Add("0::/a\n", mounts)
	f.Fuzz(func(t *testing.T, text, mounts string) {
		if got := cgroup.Place(text, mounts); len(got) > len(text)+len(mounts)+1 {
			t.Errorf("got %q, want a part of what was given", got)
		}
	})
}

package cgroup_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/cgroup"
)

const (
	stat     = "usage_usec 10\nuser_usec 5\nnr_throttled 3\nthrottled_usec "
	pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total="
)

// write makes a cgroup's files.
func write(t *testing.T, dir, throttled, waited string) {
	t.Helper()
	for name, text := range map[string]string{
		"cpu.stat": stat + throttled + "\n", "cpu.pressure": pressure + waited + "\nfull avg10=0.00 total=99\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAMeterSaysWhatHappenedBetweenTwoTimes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "1000000", "500000")
	m := cgroup.New(os.DirFS(dir))
	if m == nil {
		t.Fatal("got no meter, want one")
	}
	m.Take(5 * time.Second)
	if _, known := m.Between(6*time.Second, 10*time.Second); known {
		t.Error("got a use without a sample after it, want none")
	}
	write(t, dir, "11900000", "1500000")
	m.Take(17 * time.Second)
	write(t, dir, "99000000", "99000000")
	m.Take(30 * time.Second)
	got, known := m.Between(6*time.Second, 16*time.Second)
	if want := (cgroup.Use{Span: 12 * time.Second, Throttled: 10900 * time.Millisecond, Waited: time.Second}); !known || got != want {
		t.Errorf("got %+v, %t, want %+v", got, known, want)
	}
	if _, known := m.Between(-time.Second, 16*time.Second); known {
		t.Error("got a use without a sample before it, want none")
	}
}

func TestASampleIsDueEveryFiveSeconds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "0", "0")
	m := cgroup.New(os.DirFS(dir))
	var got []int
	for second := range 13 {
		if m.Due(time.Duration(second) * time.Second) {
			got = append(got, second)
		}
	}
	if len(got) != 3 || got[0] != 0 || got[1] != 5 || got[2] != 10 {
		t.Errorf("got %v, want 0, 5 and 10", got)
	}
}

func TestThereIsNoMeterWithoutACountOfThrottling(t *testing.T) {
	for name, text := range map[string]string{
		"no file": "", "the root's": "usage_usec 10\n", "no number": stat + "x\n", "a negative number": stat + "-1\n", "too large": stat + "9223372036854775807\n",
	} {
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, "cpu.stat"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if m := cgroup.New(os.DirFS(dir)); m != nil {
			t.Errorf("%s: got a meter, want none", name)
		}
	}
	var none *cgroup.Meter
	if _, known := none.Between(0, 1); known || none.Due(0) || none.Take(0) {
		t.Error("got a use of no meter, want none")
	}
}

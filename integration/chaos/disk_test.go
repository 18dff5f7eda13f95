//go:build linux

package chaos_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gocurator/curator/integration/zookeeper"
)

// diskServer is the number of the server that has a disk of its own.
const diskServer = 3

// A disk is a file system in memory that has a server's data.
type disk struct{ dir string }

// newDisk moves the data of a server to a disk of its own, where that is allowed.
func newDisk(m *zookeeper.Member) (*disk, error) {
	dir := m.DataDir()
	m.Kill()
	defer m.Start()
	aside := dir + ".old"
	if err := os.Rename(dir, aside); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	mountErr := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1g")
	if err := os.CopyFS(dir, os.DirFS(aside)); err != nil {
		if mountErr == nil {
			err = errors.Join(err, syscall.Unmount(dir, syscall.MNT_DETACH))
		}
		return nil, err
	}
	if mountErr != nil {
		return nil, fmt.Errorf("mount a disk for a server: %w", mountErr)
	}
	return &disk{dir}, nil
}

// fill leaves no room: the disk becomes as small as what it has.
func (d *disk) fill(t testing.TB) {
	t.Helper()
	var has int64
	err := filepath.WalkDir(d.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var stat syscall.Stat_t
		if err := syscall.Lstat(path, &stat); err != nil {
			return err
		}
		has += stat.Blocks * 512
		return nil
	})
	if err != nil {
		t.Errorf("fill %s: %v", d.dir, err)
	}
	d.resize(t, fmt.Sprintf("size=%d", max(has, 4096)))
}

func (d *disk) empty(t testing.TB) {
	t.Helper()
	d.resize(t, "size=1g")
}

func (d *disk) resize(t testing.TB, size string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", syscall.MS_REMOUNT, size); err != nil {
		t.Errorf("resize %s: %v", d.dir, err)
	}
}

// close takes the disk away. What it had stays beside its place.
func (d *disk) close(t testing.TB) {
	t.Helper()
	if err := os.CopyFS(d.dir+".disk", os.DirFS(d.dir)); err != nil {
		t.Errorf("keep %s: %v", d.dir, err)
	}
	if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
		t.Errorf("unmount %s: %v", d.dir, err)
	}
}

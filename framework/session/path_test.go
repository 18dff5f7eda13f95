package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/session"
)

func TestPathsAreValidatedAsZooKeeperDoes(t *testing.T) {
	for _, path := range []string{
		"/", "/a", "/a/b", "/a.b/c..d", "/...", "/.a", "/ ", "/a b", "/é", "/日本", "/\u00a0", "/\ud7ff", "/\uf900", "/\uffef", "/_c_x-lock-1",
	} {
		if err := session.ValidatePath(path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, path := range []string{
		"", "a", "a/b", "/a/", "//", "//a", "/a//b", "/.", "/..", "/a/.", "/a/..", "/a/./b", "/a/../b", "/a\x00b", "/\x01", "/a\x1f", "/\x7f",
		"/\u0080", "/\u009f", "/\xed\xa0\x80", "/\ue000", "/\uf8ff", "/\ufff0", "/\uffff", "/😀", "/\xff", "/a\xc3",
	} {
		if err := session.ValidatePath(path); !errors.Is(err, session.ErrInvalidPath) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func FuzzValidPathsAreTakenByTheServer(f *testing.F) {
	for _, seed := range []string{"/", "/a/b", "/a/../b", "/\x7f", "/😀"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		err := session.ValidatePath(path)
		if err == nil && (path[0] != '/' || strings.Contains(path, "//") || strings.ContainsRune(path, 0)) {
			t.Errorf("%q passes", path)
		}
		if err != nil && !errors.Is(err, session.ErrInvalidPath) {
			t.Errorf("%q: %v", path, err)
		}
	})
}

package server

import "testing"

func TestPostgresVersionsAreNumbers(t *testing.T) {
	for path, want := range map[string]int{
		"/usr/lib/postgresql/9/bin/initdb":   9,
		"/usr/lib/postgresql/15/bin/initdb":  15,
		"/usr/lib/postgresql/9.6/bin/initdb": 0, // older than all that have one number
	} {
		if got := postgresVersion(path); got != want {
			t.Errorf("%s: got %d, want %d", path, got, want)
		}
	}
}

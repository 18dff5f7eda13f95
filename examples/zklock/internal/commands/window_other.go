//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package commands

import "os"

// windowRows does not know a terminal here, so that watch prints lines.
func windowRows(*os.File) (rows int, ok bool) { return 0, false }

//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package commands

import "os"

// windowRows does not know a terminal here, so that watch prints lines.
func windowRows(*os.File) (rows int, ok bool) { return 0, false }

// windowColumns does not know a terminal here, so that tables are as wide as what they have to say.
func windowColumns(*os.File) int { return 0 }

// onKey does not know keys here.
func onKey(byte, func()) (release func()) { return func() {} }

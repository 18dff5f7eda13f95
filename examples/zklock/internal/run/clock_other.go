//go:build !linux

package run

import "time"

// now is the time of a clock that all processes of this machine share, and that goes on while it is suspended. Setting
// the machine's clock moves it: the standard library knows no better one here.
func now() time.Duration { return time.Duration(time.Now().UnixNano()) }

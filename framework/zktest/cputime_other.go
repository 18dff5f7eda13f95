//go:build !unix && !windows

package zktest

import "time"

// cpuTime cannot be known here.
func cpuTime() time.Duration { return 0 }

//go:build !race

package zktest

// raceDetector reports whether this binary runs under the race detector.
const raceDetector = false

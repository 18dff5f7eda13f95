//go:build race

package programs

// raceDetector reports whether this binary runs under the race detector.
const raceDetector = true

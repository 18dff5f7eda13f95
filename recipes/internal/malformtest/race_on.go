//go:build race

package malformtest

// oneOf is how many malformations there are for each that is played. The race detector makes a run four times as long.
const oneOf = 4

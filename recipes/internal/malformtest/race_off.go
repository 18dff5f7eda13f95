//go:build !race

package malformtest

// oneOf is how many malformations there are for each that is played.
const oneOf = 1

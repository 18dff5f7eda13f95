// Package soak loads the whole library for an hour on a real ensemble, and checks that nothing grows.
package soak

// Package porting has Java code that uses Curator, in the folder java, and the same in Go beside it: Mutex.java and
// mutex.go, and so on. README.md has every method in one table.
package porting

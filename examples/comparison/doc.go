// Package comparison has three programs on go-zookeeper, moved to this library: what Burrow, topicctl and mysync do
// with locks, in the fewest lines that behave as they do, and the same with recipes. Its tests show the fault of each,
// and that what has moved is without it. README.md has them in a table, and compares the library with others.
package comparison

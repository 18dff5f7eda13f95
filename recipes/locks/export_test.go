package locks

// LocalLines is how many local lines there are in this process.
func LocalLines() int {
	localLines.mu.Lock()
	defer localLines.mu.Unlock()
	return len(localLines.byKey)
}

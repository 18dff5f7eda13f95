package goframeregistry

// ReportReads has a watcher report before each read of the services whether its cache is synced.
func ReportReads[S any](watcher any, report func(synced bool)) {
	w := watcher.(*watch[S])
	read := w.services
	w.services = func() ([]S, []version) {
		report(w.cache.Synced())
		return read()
	}
}

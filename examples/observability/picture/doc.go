// Package picture is a test of the dashboard: three processes share a lock, an election, a cache and a service for half
// an hour, with faults, and each expression of dashboard.json must show something of it.
//
//	cd examples/observability
//	go test ./picture              # needs promtool and prometheus, which integration/run fetches
//	go test ./picture -record      # also draws dashboard.svg from the answers
//
// The processes are this library and package observability, on a server in memory, in a bubble whose time is virtual.
// What they export is scraped every 15 seconds of that time, and imported by Prometheus itself, which answers the
// dashboard's expressions. The drawing is this package's own, and not Grafana's.
package picture

module github.com/gocurator/curator/examples/adapters/tusd

go 1.25.0

replace github.com/gocurator/curator => ../../..

require (
	github.com/gocurator/curator v0.0.0-00010101000000-000000000000
	github.com/tus/tusd/v2 v2.8.0
	golang.org/x/exp v0.0.0-20250106191152-7588d65b2ba8
)

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	github.com/go-zookeeper/zk v1.0.4 // indirect
	golang.org/x/sync v0.22.0 // indirect
)

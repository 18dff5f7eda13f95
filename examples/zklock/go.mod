module github.com/gocurator/curator/examples/zklock

go 1.25.0

replace (
	github.com/gocurator/curator => ../..
	github.com/gocurator/curator/examples => ..
)

require (
	github.com/go-zookeeper/zk v1.0.4
	github.com/gocurator/curator v0.0.0-00010101000000-000000000000
	github.com/gocurator/curator/examples v0.0.0-00010101000000-000000000000
	golang.org/x/sync v0.22.0
)

require github.com/cenkalti/backoff/v4 v4.3.0 // indirect

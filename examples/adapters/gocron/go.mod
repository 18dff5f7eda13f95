module github.com/gocurator/curator/examples/adapters/gocron

go 1.25.0

replace github.com/gocurator/curator => ../../..

require (
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/gocurator/curator v0.0.0-00010101000000-000000000000
	github.com/google/uuid v1.6.0
)

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	github.com/go-zookeeper/zk v1.0.4 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	golang.org/x/sync v0.22.0 // indirect
)

module github.com/gocurator/curator/integration/kerberos

go 1.25.0

replace (
	github.com/gocurator/curator => ../..
	github.com/gocurator/curator/examples => ../../examples
	github.com/gocurator/curator/examples/kerberos => ../../examples/kerberos
	github.com/gocurator/curator/examples/zklock => ../../examples/zklock
	github.com/gocurator/curator/integration => ..
)

require (
	github.com/go-zookeeper/zk v1.0.4
	github.com/gocurator/curator v0.0.0-00010101000000-000000000000
	github.com/gocurator/curator/examples/kerberos v0.0.0-00010101000000-000000000000
	github.com/gocurator/curator/integration v0.0.0-00010101000000-000000000000
	github.com/jcmturner/gokrb5/v8 v8.4.4
)

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	github.com/gocurator/curator/examples v0.0.0-00010101000000-000000000000 // indirect
	github.com/gocurator/curator/examples/zklock v0.0.0-00010101000000-000000000000 // indirect
	github.com/hashicorp/go-uuid v1.0.3 // indirect
	github.com/jcmturner/aescts/v2 v2.0.0 // indirect
	github.com/jcmturner/dnsutils/v2 v2.0.0 // indirect
	github.com/jcmturner/gofork v1.7.6 // indirect
	github.com/jcmturner/goidentity/v6 v6.0.1 // indirect
	github.com/jcmturner/rpc/v2 v2.0.3 // indirect
	golang.org/x/crypto v0.6.0 // indirect
	golang.org/x/net v0.7.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
)

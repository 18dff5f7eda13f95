// Package zookeeper starts real Apache ZooKeeper servers for tests.
//
// [Start] runs one standalone server as a child process, on loopback, for the time of one test:
//
//	server := zookeeper.Start(t, zookeeper.Config{})
//	client, err := framework.NewClient(server.Addr())
//
// It can be killed, started again on the same data and the same address, and frozen, while clients are connected.
//
// [StartEnsemble] runs several that elect a leader. Every link between two of them, and every client's, goes through a
// proxy that can be cut silently, held back, delayed, reset or made one-way:
//
//	ensemble := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{})
//	leader, followers := ensemble.Settled()
//	ensemble.Between(leader, followers[0]).Cut()
//
// A server needs java and the jars that integration/run collects. Because most people who run go test have neither in
// mind, the environment variable CURATOR_INTEGRATION decides: without it the test is skipped; with it the test runs,
// and is skipped if something is missing; where it is "required", as in CI, something missing is a failure.
//
// The jars are looked for in $CURATOR_ZOOKEEPER_DIR or else in integration/.cache/zookeeper-<version>, where the
// version is $ZOOKEEPER_VERSION or else the one in pom.xml.
package zookeeper

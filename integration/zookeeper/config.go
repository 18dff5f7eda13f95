//go:build unix

package zookeeper

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Config says what a server is like. The zero value is a server that is quick about everything.
type Config struct {
	// TickTime is the granularity of session expiry; 100 ms if zero.
	TickTime time.Duration
	// MinSessionTimeout is the shortest session that a client may have; two ticks if zero, ZooKeeper's own default.
	MinSessionTimeout time.Duration
	// MaxSessionTimeout is the longest session that a client may have. If zero it is a minute: with a tick this short,
	// ZooKeeper's default of 20 ticks would silently cut every timeout in use to 2 s.
	MaxSessionTimeout time.Duration
	// ContainerCheckInterval is how often empty containers are looked for; one second if zero, where ZooKeeper waits a
	// minute.
	ContainerCheckInterval time.Duration
	// SuperPassword, if not empty, lets a client pass all ACLs by the digest credentials "super:<SuperPassword>".
	SuperPassword string
	// Secure has the server listen on a second port, for TLS: see [Server.SecureAddr]. Properties say with which
	// certificates. An ensemble has no such port.
	Secure bool
	// Admin has the server take commands over HTTP as well: see [Server.Snapshot] and [Server.Restore]. Servers take
	// them since 3.9. An ensemble has no such port.
	Admin bool
	// StalledCreates has threads of the server stand still with a create that they have read, while its connection
	// breaks: in the directories that java/StalledCreates.java names. An ensemble has no such threads.
	StalledCreates bool
	// Properties are further lines of the server's zoo.cfg; they win over those above.
	Properties map[string]string
	// JavaOptions are further arguments for java, such as -D settings.
	JavaOptions []string
}

func (c Config) withDefaults() Config {
	setDefault(&c.TickTime, 100*time.Millisecond)
	setDefault(&c.MinSessionTimeout, 2*c.TickTime)
	setDefault(&c.MaxSessionTimeout, time.Minute)
	setDefault(&c.ContainerCheckInterval, time.Second)
	return c
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// writeFile writes zoo.cfg.
func (c Config) writeFile(file, dataDir string, port int) error {
	properties := map[string]string{
		"dataDir":                dataDir,
		"clientPort":             fmt.Sprint(port),
		"clientPortAddress":      "127.0.0.1", // by default it listens on every interface
		"tickTime":               fmt.Sprint(c.TickTime.Milliseconds()),
		"minSessionTimeout":      fmt.Sprint(c.MinSessionTimeout.Milliseconds()),
		"maxSessionTimeout":      fmt.Sprint(c.MaxSessionTimeout.Milliseconds()),
		"maxClientCnxns":         "0", // by default 60 connections from one host
		"admin.enableServer":     "false",
		"4lw.commands.whitelist": "*",
		// a killed process loses nothing that it has written; only a crash of the machine would
		"forceSync":    "no",
		"preAllocSize": "1024",
	}
	return writeProperties(file, properties, c.Properties)
}

// withSecurePort is c with a port for TLS.
func (c Config) withSecurePort(port int) Config {
	properties := map[string]string{"secureClientPort": fmt.Sprint(port), "secureClientPortAddress": "127.0.0.1"}
	maps.Copy(properties, c.Properties)
	c.Properties = properties
	return c
}

// withAdminPort is c with a port for commands over HTTP. A snapshot for a restore has to say up to which transaction it
// goes. By default a server takes one such command in five minutes.
func (c Config) withAdminPort(port int) Config {
	properties := map[string]string{
		"admin.enableServer": "true", "admin.serverAddress": "127.0.0.1", "admin.serverPort": fmt.Sprint(port),
		"admin.snapshot.enabled": "true", "admin.restore.enabled": "true", "admin.rateLimiterIntervalInMS": "0",
		"serializeLastProcessedZxid.enabled": "true",
	}
	maps.Copy(properties, c.Properties)
	c.Properties = properties
	return c
}

// writeProperties writes a file of properties; later ones win.
func writeProperties(file string, properties map[string]string, more ...map[string]string) error {
	properties = maps.Clone(properties)
	for _, m := range more {
		maps.Copy(properties, m)
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		fmt.Fprintf(&text, "%s=%s\n", name, properties[name])
	}
	return os.WriteFile(file, []byte(text.String()), 0o600)
}

// javaArgs is the command line behind java. A class path has directories as well.
func (c Config) javaArgs(classPath, file string) []string {
	args := []string{
		"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", // small and soon up, rather than fast
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-Dzookeeper.jmx.log4j.disable=true",
		fmt.Sprintf("-Dznode.container.checkIntervalMs=%d", c.ContainerCheckInterval.Milliseconds()),
	}
	if c.SuperPassword != "" {
		sum := sha1.Sum([]byte("super:" + c.SuperPassword)) // the algorithm is ZooKeeper's choice
		args = append(args, "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:"+base64.StdEncoding.EncodeToString(sum[:]))
	}
	if c.StalledCreates { // each thread that stands still is one that serves no other connection
		args = append(args, "-Dzookeeper.serverCnxnFactory=StalledCreates", "-Dzookeeper.nio.numWorkerThreads=64")
	}
	args = append(args, c.JavaOptions...)
	return append(args, "-cp", classPath, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
}

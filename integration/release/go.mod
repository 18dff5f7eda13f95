module github.com/gocurator/curator/integration/release

go 1.25.0

require (
	go.yaml.in/yaml/v2 v2.4.2
	golang.org/x/mod v0.35.0
)

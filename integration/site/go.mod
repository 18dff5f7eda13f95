module github.com/gocurator/curator/integration/site

go 1.25.0

require (
	github.com/yuin/goldmark v1.8.7
	golang.org/x/net v0.50.0
)

// Package web has the files of the playground's page that are written by hand, and a recorded run.
package web

import "embed"

// Files are those of the page.
//
//go:embed *.html *.css *.js recording.json
var Files embed.FS

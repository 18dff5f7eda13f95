//go:build playground

package main

import (
	"embed"
	"io/fs"
)

// Releases build the program with these files, which go run -C examples ./playground -build testserver/playground
// makes.
//
//go:embed playground
var embedded embed.FS

func init() {
	files, err := fs.Sub(embedded, "playground")
	if err != nil { // the directory is there
		panic(err)
	}
	playground = files
}

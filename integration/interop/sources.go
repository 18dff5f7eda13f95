package interop

import "embed"

// Sources are those of the drivers in other languages.
//
//go:embed java/pom.xml java/*.java kazoo/driver.py
var Sources embed.FS

// Package kubernetes has the files of this directory's page, and tests of what has to fit together in them.
package kubernetes

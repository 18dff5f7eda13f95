// Package drivers starts the drivers of package interop as processes of a test, gives them orders, and collects the
// journals of their clients.
package drivers

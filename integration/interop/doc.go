// Package interop proves on the real things that this library, Java Curator and kazoo share locks.
package interop

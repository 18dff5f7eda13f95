// Package live runs a session: see package framework/session, which has what recipes call.
package live

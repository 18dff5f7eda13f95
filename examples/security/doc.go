// Package security has the code of this directory's page, and tests of what the page says of permissions.
package security

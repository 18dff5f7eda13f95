package zktest

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

const (
	permRead   = 1
	permWrite  = 2
	permCreate = 4
	permDelete = 8
	permAdmin  = 16
	permAll    = 31
)

type identity struct{ scheme, id string }

type aclEntry struct {
	perms int32
	id    identity
}

var (
	anyone  = identity{"world", "anyone"}
	openACL = []aclEntry{{permAll, anyone}}
	readACL = []aclEntry{{permRead, anyone}}
)

// allowed reports whether one of who may do one of perms. No order, no deny:
// any entry that matches is enough, and the super user needs none.
func allowed(acl []aclEntry, perms int32, who []identity) bool {
	if len(acl) == 0 {
		return true
	}
	for _, a := range acl {
		if a.perms&perms != 0 && a.id == anyone {
			return true
		}
	}
	for _, w := range who {
		if w.scheme == "super" {
			return true
		}
		for _, a := range acl {
			if a.perms&perms != 0 && a.id.scheme == w.scheme && matches(a.id, w.id) {
				return true
			}
		}
	}
	return false
}

func matches(rule identity, id string) bool {
	switch rule.scheme {
	case "digest":
		return rule.id == id
	case "ip":
		prefix, ok := parsePrefix(rule.id)
		addr, err := netip.ParseAddr(id)
		return ok && err == nil && prefix.Contains(addr.Unmap())
	case "sasl":
		return id == "super" || rule.id == id
	}
	return false
}

// parsePrefix reads "address" or "address/bits".
func parsePrefix(s string) (netip.Prefix, bool) {
	text, bitsText, found := strings.Cut(s, "/")
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	addr = addr.Unmap()
	bits := addr.BitLen()
	if found {
		if bits, err = strconv.Atoi(bitsText); err != nil {
			return netip.Prefix{}, false
		}
	}
	prefix := netip.PrefixFrom(addr, bits)
	return prefix, prefix.IsValid()
}

// fixACL makes a client's list the one that is stored: duplicates go, "auth"
// becomes the identities that the connection has proved.
func fixACL(list []aclEntry, who []identity, sasl bool) ([]aclEntry, code) {
	if len(list) == 0 {
		return nil, codeInvalidACL
	}
	var fixed []aclEntry
	for i, a := range list {
		if slices.Contains(list[:i], a) {
			continue
		}
		switch {
		case a.id == anyone:
			fixed = append(fixed, a)
		case a.id.scheme == "auth":
			before := len(fixed)
			for _, w := range who {
				if w.scheme == "digest" || w.scheme == "sasl" {
					fixed = append(fixed, aclEntry{a.perms, w})
				}
			}
			if len(fixed) == before {
				return nil, codeInvalidACL
			}
		case validID(a.id), sasl && a.id.scheme == "sasl" && a.id.id != "":
			fixed = append(fixed, a)
		default:
			return nil, codeInvalidACL
		}
	}
	if len(fixed) == 1 && fixed[0] == openACL[0] {
		return openACL, 0 // the usual one; a million nodes share it
	}
	return fixed, 0
}

func validID(id identity) bool {
	switch id.scheme {
	case "digest":
		// Two parts exactly; Java's split drops empty ones at the end.
		user, digest, ok := strings.Cut(id.id, ":")
		return ok && digest != "" && !strings.Contains(digest, ":") && user+digest != ""
	case "ip":
		_, ok := parsePrefix(id.id)
		return ok
	}
	return false
}

// maskACL hides passwords' digests from those who may not change the list.
func maskACL(list []aclEntry) []aclEntry {
	masked := slices.Clone(list)
	for i, a := range masked {
		if a.id.scheme == "digest" {
			user, _, _ := strings.Cut(a.id.id, ":")
			masked[i].id.id = user + ":x"
		}
	}
	return masked
}

// digestOf turns "user:password" into "user:base64(sha1(user:password))".
func digestOf(auth []byte) string {
	user, _, _ := bytes.Cut(auth, []byte(":"))
	sum := sha1.Sum(auth)
	return string(user) + ":" + base64.StdEncoding.EncodeToString(sum[:])
}

// authenticate returns the identities that a setAuth request proves.
func (s *Server) authenticate(scheme string, auth []byte, addr string) ([]identity, bool) {
	switch scheme {
	case "digest":
		digest := digestOf(auth)
		ids := []identity{{"digest", digest}}
		if s.cfg.superDigest != "" && digest == s.cfg.superDigest {
			ids = append(ids, identity{"super", ""})
		}
		return ids, true
	case "ip":
		return []identity{{"ip", addr}}, true
	}
	return nil, false
}

package discovery

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// A URISpec says how a URI of an instance is built: of texts, and of variables that stand for what the instance has.
//
// Curator: UriSpec.
type URISpec struct {
	Parts []URIPart `json:"parts"`
}

// A URIPart is a text, or the name of a variable.
//
// Curator: UriSpec.Part.
type URIPart struct {
	Value    string `json:"value"`
	Variable bool   `json:"variable"`
}

// ParseURISpec takes a text with variables in braces, as "{scheme}://{address}:{port}". [URISpec.Build] says which
// there are; {[} and {]} stand for braces. Blanks around a name do not count.
//
// Errors: a brace without its counterpart.
//
// Curator: new UriSpec(String).
func ParseURISpec(text string) (*URISpec, error) {
	u := &URISpec{}
	add := func(value string, variable bool) {
		if value != "" {
			u.Parts = append(u.Parts, URIPart{value, variable})
		}
	}
	for piece := range strings.SplitSeq("}"+text, "{") {
		name, rest, closed := strings.Cut(piece, "}")
		if !closed || strings.Contains(rest, "}") {
			return nil, fmt.Errorf("discovery: URI spec %q: a brace has no counterpart", text)
		}
		add(strings.TrimSpace(name), true)
		add(rest, false)
	}
	return u, nil
}

// Build is the URI of an instance. The variables are scheme ("https" if the instance has an SSL port, otherwise
// "http"), name, id, address, port, ssl-port, registration-time-utc (milliseconds), service-type (in small letters),
// and others, which take precedence. A variable that is unknown or not set is empty. So is the URI of a nil spec.
//
// Curator: UriSpec.build(), ServiceInstance.buildUriSpec().
func (u *URISpec) Build(i ServiceInstance, others map[string]string) string {
	if u == nil {
		return ""
	}
	values := map[string]string{
		"[": "{", "]": "}", "scheme": "http", "name": i.Name, "id": i.ID, "address": i.Address,
		"registration-time-utc": "0", "service-type": strings.ToLower(string(cmp.Or(i.Type, Dynamic))),
	}
	if !i.Registered.IsZero() {
		values["registration-time-utc"] = strconv.FormatInt(i.Registered.UnixMilli(), 10)
	}
	if i.Port != nil {
		values["port"] = strconv.Itoa(*i.Port)
	}
	if i.SSLPort != nil {
		values["scheme"], values["ssl-port"] = "https", strconv.Itoa(*i.SSLPort)
	}
	maps.Copy(values, others)
	var uri strings.Builder
	for _, part := range u.Parts {
		if part.Variable {
			part.Value = values[part.Value]
		}
		uri.WriteString(part.Value)
	}
	return uri.String()
}

package discovery

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/setup"
)

// A ServiceInstance is one process, or one address, of a service. All readers of a [ServiceCache] share its instances:
// what they point to must not be changed.
//
// Curator: ServiceInstance, its builder, OldServiceInstance.
type ServiceInstance struct {
	Name       string // the service's
	ID         string // differs from those of the other instances of the service
	Address    string // null in the node if it is empty
	Port       *int   // nil if there is none; of an instance of Java any 32-bit number
	SSLPort    *int
	Payload    json.RawMessage // what [Payload] decodes; null in the node if it is empty
	Registered time.Time       // in milliseconds, in the node
	Type       ServiceType
	URISpec    *URISpec                   // how a URI of the instance is built; nil if nothing says that
	Enabled    *bool                      // not in the node if it is nil, see IsEnabled
	Extra      map[string]json.RawMessage // other fields of the node
}

// A ServiceType says what becomes of an instance when its process ends. It is [Dynamic] if it is empty.
//
// Curator: ServiceType.
type ServiceType string

// The types of instances.
const (
	Dynamic           ServiceType = "DYNAMIC"            // it goes with the session of its process
	DynamicSequential ServiceType = "DYNAMIC_SEQUENTIAL" // the same, in a node whose name ends with a number
	Static            ServiceType = "STATIC"             // it stays
	Permanent         ServiceType = "PERMANENT"          // it stays: Curator treats both alike
)

// IsEnabled reports whether the instance is to be used: it is, unless Enabled says that it is not. Java writes that
// field only if it is asked to.
//
// Curator: ServiceInstance.isEnabled().
func (i ServiceInstance) IsEnabled() bool { return i.Enabled == nil || *i.Enabled }

// The fields of a node, in the order in which Java writes them.
type fields struct {
	Name       string          `json:"name"`
	ID         string          `json:"id"`
	Address    *string         `json:"address"`
	Port       *int            `json:"port"`
	SSLPort    *int            `json:"sslPort"`
	Payload    json.RawMessage `json:"payload"`
	Registered int64           `json:"registrationTimeUTC"`
	Type       ServiceType     `json:"serviceType"`
	URISpec    *URISpec        `json:"uriSpec"`
	Enabled    *bool           `json:"enabled,omitempty"`
}

var fieldNames = [...]string{
	"name", "id", "address", "port", "sslPort", "payload", "registrationTimeUTC", "serviceType", "uriSpec", "enabled",
}

// MarshalJSON is what Java's JsonInstanceSerializer writes, byte for byte, except that Java escapes emoji, U+2028,
// U+2029 and some control characters differently. What is not set is null, but Enabled is left out; then come the
// fields of Extra, by name. A zero Registered is 0.
//
// Errors: all that is wrong with the instance, at once.
//
// Curator: JsonInstanceSerializer.serialize().
func (i ServiceInstance) MarshalJSON() ([]byte, error) {
	if err := session.JoinErrors(i.problems()...); err != nil {
		return nil, err
	}
	f := fields{Name: i.Name, ID: i.ID, Port: i.Port, SSLPort: i.SSLPort, Type: cmp.Or(i.Type, Dynamic), Enabled: i.Enabled}
	if i.Address != "" {
		f.Address = &i.Address
	}
	if len(i.Payload) > 0 {
		f.Payload = i.Payload
	}
	if !i.Registered.IsZero() {
		f.Registered = i.Registered.UnixMilli()
	}
	if i.URISpec != nil { // Java cannot take null in place of the list
		f.URISpec = &URISpec{Parts: append([]URIPart{}, i.URISpec.Parts...)}
	}
	known, err := marshal(f)
	if err != nil || len(i.Extra) == 0 {
		return known, err
	}
	extra, err := marshal(i.Extra)
	return slices.Concat(known[:len(known)-1], []byte(","), extra[1:]), err
}

// marshal writes the characters of HTML as they are, as Java does.
func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// UnmarshalJSON takes what Java's JsonInstanceSerializer writes, its fields in any order. One that is missing or null
// is not set. Unknown fields are Extra.
//
// Errors: that this is no JSON object in UTF-8; otherwise all that is wrong with its fields, at once.
//
// Curator: JsonInstanceSerializer.deserialize().
func (i *ServiceInstance) UnmarshalJSON(data []byte) error {
	if !utf8.Valid(data) { // package json would replace what is wrong
		return errors.New("not UTF-8")
	}
	var raw map[string]json.RawMessage // package json takes the names of a struct in any case, unlike Java
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	d, millis := ServiceInstance{Type: Dynamic}, int64(0)
	var errs []error
	into := []any{&d.Name, &d.ID, &d.Address, &d.Port, &d.SSLPort, &d.Payload, &millis, &d.Type, &d.URISpec, &d.Enabled}
	for at, name := range fieldNames {
		if value, there := raw[name]; there && string(value) != "null" {
			if err := json.Unmarshal(value, into[at]); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
		delete(raw, name)
	}
	if millis != 0 {
		d.Registered = time.UnixMilli(millis).UTC()
	}
	if len(raw) > 0 {
		d.Extra = raw
	}
	if err := session.JoinErrors(append(errs, d.problems()...)...); err != nil {
		return err
	}
	*i = d
	return nil
}

// problems is all that is wrong with an instance. Its name and ID need not be parts of paths: Java has services whose
// names have slashes, and the base path here may have the rest of such a name.
func (i ServiceInstance) problems() []error {
	all := setup.Problems{
		portProblem("port", i.Port, math.MinInt32, math.MaxInt32), portProblem("sslPort", i.SSLPort, math.MinInt32, math.MaxInt32),
	}
	for at, text := range []string{i.Name, i.ID, i.Address} {
		all.Refuse(!utf8.ValidString(text) || text == "" && at < 2, "%s %q: empty, or not UTF-8", fieldNames[at], text)
	}
	all.Refuse(len(i.Payload) > 0 && !isField(i.Payload), "payload: not JSON, in UTF-8, of less than 10000 levels")
	all.Refuse(!slices.Contains([]ServiceType{"", Dynamic, DynamicSequential, Static, Permanent}, i.Type), "serviceType: unknown %q", i.Type)
	for _, name := range slices.Sorted(maps.Keys(i.Extra)) {
		all.Refuse(slices.Contains(fieldNames[:], name), "Extra: %q has a field of its own", name)
		all.Refuse(!utf8.ValidString(name) || !isField(i.Extra[name]), "Extra: %q is not JSON, in UTF-8, of less than 10000 levels", name)
	}
	if i.URISpec != nil {
		for _, part := range i.URISpec.Parts {
			all.Refuse(!utf8.ValidString(part.Value), "uriSpec: %q is not UTF-8", part.Value)
		}
	}
	return all
}

// isField reports whether JSON can be that of a field. Package json takes any bytes in a string, where Java's reader
// fails for the whole service; and it reads no more than 10,000 levels, of which the instance is one.
func isField(raw json.RawMessage) bool {
	return utf8.Valid(raw) && json.Valid(raw) && json.Valid(slices.Concat([]byte("["), raw, []byte("]")))
}

// partProblem is what is wrong with a name that is to be a part of a path.
func partProblem(what, name string) error {
	if err := session.ValidatePath("/" + name); err != nil || name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("%s %q: is empty, or has a slash or what else ZooKeeper does not allow", what, name)
	}
	return nil
}

// portProblem is what is wrong with a port that is to lie between two numbers.
func portProblem(what string, port *int, least, most int) error {
	if port == nil || *port >= least && *port <= most {
		return nil
	}
	return fmt.Errorf("%s: %d is not between %d and %d", what, *port, least, most)
}

// Payload decodes the payload of an instance. Without one, it is the zero value.
//
// Java adds the class of a payload: to an object as its field "@class", which a T without that field passes over, and
// to anything but strings, truth values and plain numbers by a pair, as ["java.lang.Long",5], of which T gets the
// second. So a program that writes for Java gives an object the class in a field "@class". A program in Java can read
// neither a class that it does not have, nor an array that is no such pair, and then reads no instance of the service
// at all.
//
// Errors: those of package json.
//
// Curator: ServiceInstance.getPayload().
func Payload[T any](i ServiceInstance) (T, error) {
	var value, none T
	if len(i.Payload) == 0 {
		return none, nil
	}
	var pair []json.RawMessage
	if json.Unmarshal(i.Payload, &pair) == nil && len(pair) == 2 && pair[0][0] == '"' && json.Unmarshal(pair[1], &value) == nil {
		return value, nil
	}
	if err := json.Unmarshal(i.Payload, &value); err != nil {
		return none, fmt.Errorf("discovery: payload of %q of service %q as %T: %w", i.ID, i.Name, none, err)
	}
	return value, nil
}

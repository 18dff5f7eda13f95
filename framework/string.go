package framework

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/gocurator/curator/framework/session"
)

// String names the servers, chroot and namespace, the state, and the server and session of the connection, without
// credentials.
func (c *Client) String() string {
	if c.core == nil {
		return "client that NewClient did not make"
	}
	text := fmt.Sprintf("client of %s%s (%s", strings.Join(c.core.servers.known(), ","), c.prefix, c.State())
	c.core.mu.Lock()
	s := c.core.session.Session()
	c.core.mu.Unlock()
	if server := s.Server(); server != "" {
		text += ", server " + server
	}
	if s.ID() != 0 {
		text += fmt.Sprintf(", %v", s)
	}
	return text + ")"
}

// Format is String by every verb, also of a copy.
func (c Client) Format(f fmt.State, verb rune) { session.Format(f, verb, &c) }

// LogValue is String.
func (c *Client) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// Package kerberos authenticates to ZooKeeper by Kerberos: a SASL mechanism GSSAPI on gokrb5, which is pure Go.
//
//	krb, err := config.Load("/etc/krb5.conf")
//	keys, err := keytab.Load("/etc/billing.keytab")
//	login := client.NewWithKeytab("billing", "EXAMPLE.COM", keys, krb, client.DisablePAFXFAST(true))
//	defer login.Destroy()
//	zk, err := framework.NewClient("zk1.example.com:2181", framework.WithSASL(kerberos.New(login, "zookeeper")))
//
// A program copies this file: it is a module of its own so that no other program depends on gokrb5.
//
// The service principal is zookeeper/<host>, with the host as in the connect string: nothing is looked up backwards, as
// Java clients do by default. gokrb5 keeps the tickets and renews them. While the KDC is away, connections that there
// are go on, and a reconnection works as long as the ticket for the server is valid.
//
// Curator: the section Client of the JAAS file, with Krb5LoginModule.
package kerberos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/gocurator/curator/framework/sasl"
)

// New returns the mechanism GSSAPI for a user who has logged in, or can: login gets a ticket for each server when it is
// needed. service is the first part of the servers' principals, "zookeeper" by default. It stays the caller's to
// destroy login.
func New(login *client.Client, service string) sasl.Mechanism { return mechanism{login, service} }

type mechanism struct {
	login   *client.Client
	service string
}

func (mechanism) Name() string { return "GSSAPI" }

// Start asks for a ticket, which may take as long as the KDC does: gokrb5 knows no contexts, and the client does not
// wait for it.
func (m mechanism) Start(_ context.Context, server sasl.Server) (sasl.Exchange, error) {
	principal := m.service + "/" + server.Host
	ticket, key, err := m.login.GetServiceTicket(principal)
	if err != nil {
		return nil, fmt.Errorf("ticket for %s: %w", principal, err)
	}
	request, err := spnego.NewKRB5TokenAPREQ(m.login, ticket, key, []int{gssapi.ContextFlagInteg}, nil)
	if err != nil {
		return nil, err
	}
	token, err := request.Marshal()
	if err != nil {
		return nil, err
	}
	return &exchange{request: token, key: key}, nil
}

// An exchange has three steps (RFC 4752): the ticket; the choice of a security layer, of which ZooKeeper has none; the
// end.
type exchange struct {
	request []byte
	key     types.EncryptionKey
	steps   int
}

// Format shows no key, whatever the verb.
func (*exchange) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "GSSAPI exchange") }

// noLayer is the bit of servers that take connections without encryption by SASL, and the choice of it.
const noLayer = 1

// Step implements [sasl.Exchange].
func (x *exchange) Step(challenge []byte) (response []byte, done bool, err error) {
	x.steps++
	switch x.steps {
	case 1:
		return x.request, false, nil
	case 2:
		response, err = x.choose(challenge)
		return response, false, err
	case 3:
		if challenge != nil {
			return nil, false, errors.New("the server goes on behind the end of the exchange")
		}
		return nil, true, nil
	default:
		return nil, false, errors.New("the exchange is over")
	}
}

// choose answers which layers the server offers. The checksum of the offer proves that the server could read the
// ticket.
func (x *exchange) choose(challenge []byte) ([]byte, error) {
	if challenge == nil {
		return nil, errors.New("the server has no SASL configured: its JAAS file has no section Server")
	}
	var offer gssapi.WrapToken
	if err := offer.Unmarshal(challenge, true); err != nil {
		return nil, fmt.Errorf("the server's offer: %w", err)
	}
	if ok, err := offer.Verify(x.key, keyusage.GSSAPI_ACCEPTOR_SEAL); !ok {
		return nil, fmt.Errorf("the server's offer has a wrong checksum: %w", err)
	}
	if len(offer.Payload) != 4 || offer.Payload[0]&noLayer == 0 {
		return nil, errors.New("the server insists on a security layer, which ZooKeeper has none of")
	}
	choice, err := gssapi.NewInitiatorWrapToken(binary.BigEndian.AppendUint32(nil, noLayer<<24), x.key)
	if err != nil {
		return nil, err
	}
	return choice.Marshal()
}

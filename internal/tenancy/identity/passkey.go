package identity

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/naming"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
)

// Passkey is a key of a device by which a person signs in. The device keeps the private part and asks for a fingerprint, a face or a PIN
// before it uses it.
type Passkey struct {
	ID        string
	UserID    string
	Name      string
	CreatedAt time.Time
	UsedAt    *time.Time

	credentialID string // in base64url
	sealed       string // the public key and what else is known of the device; nobody who can write to the database can exchange it
}

const (
	passkeyNameMax = 100
	passkeysMax    = 20

	passkeyFor = "passkey"
)

// relyingParty returns what devices tie a passkey to: the name of the host and the origin of the public address, and nothing that a request
// says. The error is Unavailable where browsers offer no passkeys: without a name, or without HTTPS except on the machine itself.
func (s *Service) relyingParty() (*webauthn.WebAuthn, error) {
	at, err := url.Parse(s.config.PublicURL)
	if err != nil || s.config.Secrets == nil || at.Hostname() == "" || net.ParseIP(at.Hostname()) != nil ||
		at.Scheme != "https" && at.Hostname() != "localhost" {
		return nil, fault.Conflictf("passkeys need a public address with https and the name of a host: ask the operator of the service")
	}
	required := protocol.ResidentKeyRequired()
	return webauthn.New(&webauthn.Config{RPID: at.Hostname(), RPDisplayName: Issuer, RPOrigins: []string{at.Scheme + "://" + at.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		// Browsers and managers of passwords add results of extensions that nobody asked for, such as credProps. Nothing depends on them.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: required, UserVerification: protocol.VerificationRequired}})
}

// OffersPasskeys reports whether browsers can use passkeys at the public address.
func (s *Service) OffersPasskeys() bool {
	_, err := s.relyingParty()
	return err == nil
}

// holder is a person as the library for passkeys sees them.
type holder struct {
	Person
	credentials []webauthn.Credential
}

func (h holder) WebAuthnID() []byte                         { return []byte(h.UserID) }
func (h holder) WebAuthnName() string                       { return h.Email }
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }
func (h holder) WebAuthnDisplayName() string {
	if h.Name != "" {
		return h.Name
	}
	return h.Email
}

// requireRoom returns a Conflict fault if the person has as many passkeys as one may have.
func (h holder) requireRoom() error {
	if len(h.credentials) < passkeysMax {
		return nil
	}
	return fault.Conflictf("you have %d passkeys, and there can be no more: remove one first", len(h.credentials))
}

// Ceremony is a question for a device. The browser passes the options on to it, and returns the answer with the ticket.
type Ceremony struct {
	Options []byte // JSON
	Ticket  secret.Text
}

// ceremonyMax is how long a person has to answer.
const ceremonyMax = 5 * time.Minute

// act is what a ceremony is for. The answer to one is of no use for another.
type act string

const (
	adding     act = "add a passkey"
	signingIn  act = "sign in with a passkey"
	confirming act = "confirm with a passkey"
)

// ceremony is what a ticket contains.
type ceremony struct {
	SessionID string               `json:"session_id"` // of the person who adds or confirms
	Data      webauthn.SessionData `json:"data"`
	ExpiresAt time.Time            `json:"expires_at"`
}

// ceremony returns the ceremony of an act.
func (s *Service) ceremony(what act, sessionID string, options any, data *webauthn.SessionData) (Ceremony, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return Ceremony{}, err
	}
	content, err := json.Marshal(ceremony{sessionID, *data, s.now().Add(ceremonyMax)})
	if err != nil {
		return Ceremony{}, err
	}
	sealed, err := s.config.Secrets.Seal(secret.New(string(content)), passkeyFor, string(what))
	return Ceremony{text, secret.New(sealed)}, err
}

// errCeremony is the error for an answer that comes too late, or to something else.
var errCeremony = fault.Unauthorizedf("the passkey was used too late, or twice: try again")

func (s *Service) openCeremony(what act, sessionID string, ticket secret.Text) (c ceremony, err error) {
	content, err := s.config.Secrets.Open(ticket.Reveal(), passkeyFor, string(what))
	if err != nil || json.Unmarshal([]byte(content.Reveal()), &c) != nil || c.SessionID != sessionID || !s.now().Before(c.ExpiresAt) {
		return c, errCeremony
	}
	return c, nil
}

// Passkeys returns the passkeys of a person, the oldest first.
func (s *Service) Passkeys(ctx context.Context, userID string) (out []Passkey, err error) {
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		out, err = selectPasskeys(ctx, tx, userID)
		return err
	})
	return out, err
}

// holder returns a person with their passkeys.
func (s *Service) holder(ctx context.Context, tx *db.Tx, userID string) (h holder, err error) {
	if h.Person, err = selectPerson(ctx, tx, userID); err != nil {
		return h, err
	}
	keys, err := selectPasskeys(ctx, tx, userID)
	if err != nil {
		return h, err
	}
	for _, k := range keys {
		one, err := s.openCredential(k)
		if err != nil {
			return h, err
		}
		h.credentials = append(h.credentials, one)
	}
	return h, nil
}

func (s *Service) sealCredential(k *Passkey, c webauthn.Credential) error {
	content, err := json.Marshal(c)
	if err != nil {
		return err
	}
	k.sealed, err = s.config.Secrets.Seal(secret.New(string(content)), passkeyFor, k.UserID, k.credentialID)
	return err
}

func (s *Service) openCredential(k Passkey) (c webauthn.Credential, err error) {
	content, err := s.config.Secrets.Open(k.sealed, passkeyFor, k.UserID, k.credentialID)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal([]byte(content.Reveal()), &c)
}

// passkeyName checks the name of a passkey.
func passkeyName(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fault.Invalidf("name", "must have 1 to %d characters", passkeyNameMax)
	}
	if problem := naming.Problem(text, passkeyNameMax); problem != "" {
		return "", fault.Invalidf("name", "%s", problem)
	}
	return text, nil
}

// BeginPasskey begins to add a passkey to the person of a session.
func (s *Service) BeginPasskey(ctx context.Context, one Session) (c Ceremony, err error) {
	party, err := s.relyingParty()
	if err != nil {
		return c, err
	}
	var h holder
	if err := s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		h, err = s.holder(ctx, tx, one.UserID)
		return err
	}); err != nil {
		return c, err
	}
	if err := h.requireRoom(); err != nil {
		return c, err
	}
	known := make([]protocol.CredentialDescriptor, len(h.credentials))
	for i := range h.credentials {
		known[i] = h.credentials[i].Descriptor()
	}
	options, data, err := party.BeginRegistration(h, webauthn.WithExclusions(known))
	if err != nil {
		return c, err
	}
	return s.ceremony(adding, one.ID, options, data)
}

// AddPasskeyParams are the answer of a device to BeginPasskey.
type AddPasskeyParams struct {
	Ticket secret.Text
	Name   string
	Answer []byte // JSON
	Origin Origin
}

// AddPasskey stores a passkey of the person of a session.
func (s *Service) AddPasskey(ctx context.Context, one Session, p AddPasskeyParams) (k Passkey, err error) {
	party, err := s.relyingParty()
	if err != nil {
		return k, err
	}
	name, err := passkeyName(p.Name)
	if err != nil {
		return k, err
	}
	c, err := s.openCeremony(adding, one.ID, p.Ticket)
	if err != nil {
		return k, err
	}
	answer, err := protocol.ParseCredentialCreationResponseBytes(p.Answer)
	if err != nil {
		return k, fault.Invalidf("answer", "is not what a device answers: try again")
	}
	var h holder
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if err := useOnce(ctx, tx, c.Data.Challenge, c.ExpiresAt, errCeremony); err != nil {
			return err
		}
		if _, err := lockPerson(ctx, tx, one.UserID); err != nil { // so that passkeys that are added at the same time are counted
			return err
		}
		if h, err = s.holder(ctx, tx, one.UserID); err != nil {
			return err
		}
		if err := h.requireRoom(); err != nil {
			return err
		}
		made, err := party.CreateCredential(h, c.Data, answer)
		if err != nil {
			return fault.Invalidf("answer", "was not accepted: use a device that asks for a fingerprint, a face or a PIN")
		}
		k = Passkey{ID: tx.NewID(id.Passkey), UserID: one.UserID, Name: name, CreatedAt: tx.Now(),
			credentialID: base64.RawURLEncoding.EncodeToString(made.ID)}
		if _, err := selectPasskeyByCredential(ctx, tx, k.credentialID); fault.KindOf(err) != fault.NotFound {
			if err != nil {
				return err
			}
			return fault.Conflictf("this passkey is there already")
		}
		if err := s.sealCredential(&k, *made); err != nil {
			return err
		}
		if err := insertPasskey(ctx, tx, k); err != nil {
			return err
		}
		added := event{"user.passkey_added", map[string]any{"passkey_id": k.ID, "name": k.Name}}
		if err := s.note(ctx, tx, h.Person, p.Origin, added); err != nil {
			return err
		}
		return s.notify(ctx, tx, notice{to: h.Email, subject: "A passkey was added", origin: p.Origin,
			what: fmt.Sprintf("The passkey \"%s\" was added to your account. Whoever has it can sign in.", name)})
	})
	if err != nil {
		return Passkey{}, err
	}
	return k, nil
}

// RenamePasskey gives a passkey of a person another name.
func (s *Service) RenamePasskey(ctx context.Context, userID, passkeyID, name string) error {
	name, err := passkeyName(name)
	if err != nil {
		return err
	}
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if _, err := selectPasskey(ctx, tx, userID, passkeyID); err != nil {
			return err
		}
		return updatePasskeyName(ctx, tx, passkeyID, name)
	})
}

// RemovePasskey removes a passkey of a person.
func (s *Service) RemovePasskey(ctx context.Context, p Person, passkeyID string, o Origin) error {
	var k Passkey
	err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) (err error) {
		if k, err = selectPasskey(ctx, tx, p.UserID, passkeyID); err != nil {
			return err
		}
		if err := deletePasskey(ctx, tx, passkeyID); err != nil {
			return err
		}
		if err := s.note(ctx, tx, p, o, event{"user.passkey_removed", map[string]any{"passkey_id": k.ID, "name": k.Name}}); err != nil {
			return err
		}
		return s.notify(ctx, tx, notice{to: p.Email, subject: "A passkey was removed", origin: o,
			what: fmt.Sprintf("The passkey \"%s\" was removed from your account. It does not let anybody in any more.", k.Name)})
	})
	return err
}

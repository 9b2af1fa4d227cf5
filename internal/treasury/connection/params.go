package connection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// credentialMax is the maximum length of an API key or a secret in characters.
const credentialMax = 500

// Providers lists the providers that connections are planned for. Those without a connector are not available yet.
var Providers = []string{
	"binance", "bitget", "bitstamp", "coinbase", "gemini", "kraken", "kucoin", "okx", "plaid", "ramp", "brex", "stripe", "quickbooks", "xero",
	"netsuite", "rillet", "campfire", "bitcoin", "ethereum", "solana", "file",
}

// CreateParams describe a new connection.
type CreateParams struct {
	Provider       string
	Name           string
	LegalEntityIDs []string
	SourceID       string // empty: that of an earlier connection to the same account, or a new one
	Credentials    Credentials
}

// UpdateParams are the requested changes; nil leaves a field as it is, and an empty webhook secret removes it.
type UpdateParams struct {
	Name          *string
	APIKey        *secret.Text
	WebhookSecret *secret.Text
}

// validateName collects the faults of a name, and returns it as it is stored.
func validateName(faults *fault.List, name string) string {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > nameMax {
		faults.Addf("name", "must have 1 to %d characters, not counting leading and trailing spaces", nameMax)
	}
	return name
}

// validateCredential collects the faults of an API key or a secret. Messages never repeat it.
func validateCredential(faults *fault.List, field string, c secret.Text) {
	text := c.Reveal()
	switch {
	case strings.TrimSpace(text) == "":
		faults.Addf(field, "must not be empty")
	case utf8.RuneCountInString(text) > credentialMax:
		faults.Addf(field, "must have at most %d characters", credentialMax)
	case strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || unicode.IsSpace(r) || unicode.IsControl(r) }):
		faults.Addf(field, "must consist of printable ASCII characters without spaces")
	}
}

// connector returns the connector of a provider, and collects a fault if there is none.
func (s *Service) connector(faults *fault.List, provider string) Connector {
	found, ok := s.connectors[provider]
	switch {
	case ok:
	case slices.Contains(Providers, provider):
		faults.Addf("provider", "%s is not available yet, available: %s", provider, strings.Join(s.available(), ", "))
	default:
		faults.Addf("provider", "must be one of the providers of the documentation, available: %s", strings.Join(s.available(), ", "))
	}
	return found
}

// check returns an error with every fault of a new connection that can be found without its provider.
func (s *Service) check(ctx context.Context, tx *db.Tx, p *CreateParams) error {
	var faults fault.List
	s.connector(&faults, p.Provider)
	p.Name = validateName(&faults, p.Name)
	validateCredential(&faults, "api_key", p.Credentials.APIKey)
	if !p.Credentials.WebhookSecret.IsZero() {
		validateCredential(&faults, "webhook_secret", p.Credentials.WebhookSecret)
	}
	if len(p.LegalEntityIDs) != 1 {
		faults.Addf("legal_entity_ids", "must have exactly one item")
		return faults.Err()
	}
	_, unknown := entity.Get(ctx, tx, p.LegalEntityIDs[0])
	if err := faults.MergeMissing(unknown, "legal_entity_ids[0]"); err != nil {
		return err
	}
	if p.SourceID != "" {
		found, err := source.Find(ctx, tx, p.SourceID)
		if err := faults.MergeMissing(err, "source_id"); err != nil {
			return err
		}
		if err == nil {
			p.SourceID = found.ID
			if found.Type != source.Other {
				faults.Addf("source_id", "must be a source of type other, which stands for a payment processor: %s is of type %s", found.Name,
					found.Type)
			}
		}
		if err == nil && unknown == nil && found.LegalEntityID != p.LegalEntityIDs[0] {
			faults.Addf("source_id", "must be a source of the legal entity of the connection")
		}
	}
	return faults.Err()
}

// sealedCredentials is the form in which credentials are encrypted.
type sealedCredentials struct {
	APIKey        string `json:"api_key"`
	WebhookSecret string `json:"webhook_secret,omitempty"`
}

// seal encrypts credentials for a connection.
func (s *Service) seal(organizationID, connectionID string, c Credentials) (string, error) {
	content, err := json.Marshal(sealedCredentials{c.APIKey.Reveal(), c.WebhookSecret.Reveal()})
	if err != nil {
		return "", err
	}
	sealed, err := s.key.Seal(secret.New(string(content)), organizationID, connectionID)
	if err != nil {
		return "", fault.UnavailableBecause(err, "the service cannot encrypt credentials: its operator has to check its key for secrets")
	}
	return sealed, nil
}

// open decrypts the credentials of a connection.
func (s *Service) open(organizationID string, c Connection) (Credentials, error) {
	if c.credentials == "" {
		return Credentials{}, fmt.Errorf("connection: %s has no credentials", c.ID)
	}
	content, err := s.key.Open(c.credentials, organizationID, c.ID)
	if err != nil {
		return Credentials{}, fmt.Errorf("%w: %w", ErrSealed, err)
	}
	var plain sealedCredentials
	if err := json.Unmarshal([]byte(content.Reveal()), &plain); err != nil {
		return Credentials{}, ErrSealed // the text of the error would repeat a part of the credentials
	}
	return Credentials{secret.New(plain.APIKey), secret.New(plain.WebhookSecret)}, nil
}

// ErrSealed means that credentials cannot be decrypted with the key of this node.
var ErrSealed = errors.New("the credentials cannot be decrypted with the key for secrets of this node: give all nodes the same key, " +
	"or send a new api_key")

// Opened is a connection with its credentials.
type Opened struct {
	Connection
	Credentials
}

// Open returns the connections to a provider that can be used for a legal entity of the actor's organization, the oldest first.
func (s *Service) Open(ctx context.Context, provider, legalEntityID string) (out []Opened, err error) {
	organizationID := actor.From(ctx).OrganizationID
	var found []Connection
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		found, err = selectAll(ctx, tx)
		return err
	})
	for _, c := range found {
		if c.Provider != provider || c.LegalEntityID != legalEntityID || c.Status == Disconnected || c.Status == Unauthorized {
			continue
		}
		if credentials, failed := s.open(organizationID, c); failed == nil {
			out = append(out, Opened{c, credentials})
		}
	}
	return out, err
}

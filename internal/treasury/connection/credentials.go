package connection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// encode returns credentials in the form in which they are encrypted.
func (c Credentials) encode() (secret.Text, error) {
	plain := make(map[string]string, len(c))
	for name, text := range c {
		if !text.IsZero() {
			plain[name] = text.Reveal()
		}
	}
	content, err := json.Marshal(plain)
	return secret.New(string(content)), err
}

// decodeCredentials returns what encode has encoded.
func decodeCredentials(content secret.Text) (Credentials, error) {
	var plain map[string]string
	if err := json.Unmarshal([]byte(content.Reveal()), &plain); err != nil {
		return nil, ErrSealed // the text of the error would repeat a part of the credentials
	}
	out := make(Credentials, len(plain))
	for name, text := range plain {
		out[name] = secret.New(text)
	}
	return out, nil
}

// seal encrypts credentials for a connection, or for an attempt to authorize one.
func (s *Service) seal(organizationID, id string, c Credentials) (string, error) {
	content, err := c.encode()
	if err != nil {
		return "", err
	}
	sealed, err := s.key.Seal(content, organizationID, id)
	if err != nil {
		return "", fault.UnavailableBecause(err, "the service cannot encrypt credentials: its operator has to check its key for secrets")
	}
	return sealed, nil
}

// unseal decrypts what seal has encrypted.
func (s *Service) unseal(organizationID, id, sealed string) (Credentials, error) {
	content, err := s.key.Open(sealed, organizationID, id)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSealed, err)
	}
	return decodeCredentials(content)
}

// open decrypts the credentials of a connection, and adds its settings.
func (s *Service) open(organizationID string, c Connection) (Credentials, error) {
	out := Credentials{}
	if c.credentials != "" {
		opened, err := s.unseal(organizationID, c.ID, c.credentials)
		if err != nil {
			return nil, err
		}
		out = opened
	} else if c.AuthMethod != byAddress {
		return nil, fmt.Errorf("connection: %s has no credentials", c.ID)
	}
	maps.Copy(out, c.settings())
	return out, nil
}

// settings returns the settings of a connection as a provider takes them.
func (c Connection) settings() Credentials {
	out := Credentials{}
	for name, text := range c.Settings {
		out[name] = secret.New(text)
	}
	return out
}

// ErrSealed means that credentials cannot be decrypted with the key of this node.
var ErrSealed = errors.New("the credentials cannot be decrypted with the key for secrets of this node: give all nodes the same key, " +
	"or send a new api_key")

// split separates what was entered, and what a connector keeps, into settings that are shown and credentials that are encrypted.
func (p Provider) split(c Credentials) (settings map[string]string, hidden Credentials) {
	settings, hidden = map[string]string{}, Credentials{}
	for name, text := range c {
		if f, ok := p.field(name); ok && f.Open {
			if !text.IsZero() {
				settings[name] = text.Reveal()
			}
			continue
		}
		if !text.IsZero() {
			hidden[name] = text
		}
	}
	return settings, hidden
}

// same reports whether two sets of credentials are equal.
func (c Credentials) same(other Credentials) bool {
	return maps.EqualFunc(c, other, secret.Text.Equal)
}

// Opened is a connection with its credentials.
type Opened struct {
	Connection
	Credentials
	Keeper Keeper
}

// Open returns the connections to a provider that can be used for a legal entity of the actor's organization, the oldest first.
func (s *Service) Open(ctx context.Context, provider, legalEntityID string) (out []Opened, err error) {
	organizationID := actor.From(ctx).OrganizationID
	var found []Connection
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		found, err = selectOfProvider(ctx, tx, provider)
		return err
	})
	for _, c := range found {
		if c.LegalEntityID != legalEntityID && c.LegalEntityID != "" || c.Status != Active && c.Status != Failed {
			continue
		}
		if credentials, failed := s.open(organizationID, c); failed == nil {
			out = append(out, Opened{c, credentials, s.keeper(organizationID, c.ID)})
		}
	}
	return out, err
}

// keeper keeps the credentials of a connection in the database.
type keeper struct {
	s              *Service
	organizationID string
	connectionID   string
}

func (s *Service) keeper(organizationID, connectionID string) Keeper {
	return keeper{s, organizationID, connectionID}
}

const (
	// renewedWithin is how long a node whose token was refused waits for another one to store the token that replaces it.
	renewedWithin = 3 * time.Second
	// renewedEvery is how often it looks.
	renewedEvery = 100 * time.Millisecond
)

// Renew renews the credentials, one caller of this node at a time. If two nodes do so at once, the provider refuses the second, because the
// first has used the token; the second then waits until the first has stored what replaces it, and uses that. A refusal also counts for
// those who have waited for their turn with the same credentials.
func (k keeper) Renew(ctx context.Context, stale Credentials, renew func(context.Context, Credentials) (Credentials, error)) (Credentials,
	error) {
	turn, unlock := k.s.renewing.lock(k.connectionID)
	defer unlock()
	stored, _, err := k.load(ctx)
	if err != nil || !stored.same(stale) {
		return stored, err
	}
	if turn.refused != nil && turn.refused.stale.same(stale) {
		return nil, turn.refused.err
	}
	renewed, err := renew(ctx, stored.clone())
	if err != nil {
		unauthorized := fault.KindOf(err) == fault.Unauthorized
		if other := k.await(ctx, stale, unauthorized); other != nil {
			return other, nil
		}
		if unauthorized {
			turn.refused = &refusal{stale, err}
		}
		return nil, err
	}
	// The former token may have ended, so that what was renewed must be stored even if the caller has gone.
	return k.store(context.WithoutCancel(ctx), stale, renewed)
}

// await returns credentials that somebody else has stored instead of others, nil if nobody has. If asked to, it waits for them.
func (k keeper) await(ctx context.Context, stale Credentials, wait bool) Credentials {
	waiting, stop := context.WithTimeout(ctx, renewedWithin)
	defer stop()
	for {
		if again, _, err := k.load(ctx); err == nil && !again.same(stale) {
			return again
		}
		if !wait {
			return nil
		}
		select {
		case <-waiting.Done():
			return nil
		case <-time.After(renewedEvery):
		}
	}
}

// load returns the credentials that are stored, with the connection.
func (k keeper) load(ctx context.Context) (out Credentials, c Connection, err error) {
	err = k.s.db.Read(ctx, k.organizationID, func(ctx context.Context, tx *db.Tx) error {
		out, c, err = k.find(ctx, tx, "")
		return err
	})
	return out, c, err
}

func (k keeper) find(ctx context.Context, tx *db.Tx, lock string) (out Credentials, c Connection, err error) {
	if c, err = selectOne(ctx, tx, k.connectionID, lock); err == nil {
		err = c.requireConnected()
	}
	if err == nil {
		out, err = k.s.open(k.organizationID, c)
	}
	return out, c, err
}

// store stores credentials that were renewed, and returns them. If others were stored meanwhile, such as those that a person has just
// entered, it stores nothing and returns these.
func (k keeper) store(ctx context.Context, stale, renewed Credentials) (out Credentials, err error) {
	err = k.s.db.Write(ctx, k.organizationID, func(ctx context.Context, tx *db.Tx) error {
		stored, c, err := k.find(ctx, tx, "{for_update}")
		if err != nil {
			return err
		}
		p := k.s.providers[c.Provider]
		_, hidden := p.split(renewed)
		_, now := p.split(stored)
		if _, before := p.split(stale); !now.same(before) {
			out = stored
			return nil
		}
		out = renewed
		sealed, err := k.s.seal(k.organizationID, c.ID, hidden)
		if err != nil {
			return err
		}
		return replaceCredentials(ctx, tx, c.ID, sealed)
	})
	return out, err
}

// memoryKeeper keeps credentials that belong to no connection yet.
type memoryKeeper struct{ now Credentials }

// Renew renews the credentials.
func (k *memoryKeeper) Renew(ctx context.Context, stale Credentials, renew func(context.Context, Credentials) (Credentials, error)) (
	Credentials, error) {
	renewed, err := renew(ctx, stale)
	if err == nil {
		k.now = renewed
	}
	return renewed, err
}

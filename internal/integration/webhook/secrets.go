package webhook

import (
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/webhooksign"
)

const (
	// secretPrefix begins secrets, as the Standard Webhooks specification says.
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// newSecret returns a new secret, in plain text and encrypted for an endpoint.
func (s *Service) newSecret(organizationID, endpointID string) (plain secret.Text, sealed string, err error) {
	b := make([]byte, secretBytes)
	if _, err := io.ReadFull(s.db.Random(), b); err != nil {
		return plain, "", fmt.Errorf("webhook: no randomness: %w", err)
	}
	plain = secret.New(secretPrefix + base64.StdEncoding.EncodeToString(b))
	if sealed, err = s.key.Seal(plain, organizationID, endpointID); err != nil {
		return plain, "", fault.UnavailableBecause(err, "the service cannot encrypt secrets: its operator has to check its key for secrets")
	}
	return plain, sealed, nil
}

// secrets decrypts the secrets of an endpoint that are valid at a time, the latest first. A former one that cannot be decrypted is left
// out: it was made with a key for secrets that is lost, and the endpoint was given a new secret since.
func (s *Service) secrets(organizationID string, e Endpoint, at time.Time) ([]secret.Text, error) {
	latest, err := s.key.Open(e.secret, organizationID, e.ID)
	if err != nil {
		return nil, fmt.Errorf("the secret of the webhook endpoint %s cannot be decrypted with the key for secrets of this node: give all "+
			"nodes the same key: %w", e.ID, err)
	}
	out := []secret.Text{latest}
	if e.hasFormerSecret(at) {
		if former, err := s.key.Open(e.previousSecret, organizationID, e.ID); err == nil {
			out = append(out, former)
		}
	}
	return out, nil
}

// hasFormerSecret reports whether a former secret signs too at a time.
func (e Endpoint) hasFormerSecret(at time.Time) bool {
	return e.previousSecret != "" && e.PreviousSecretExpiresAt != nil && at.Before(*e.PreviousSecretExpiresAt)
}

// sign returns the signatures of a message with each secret, with spaces between them.
func sign(secrets []secret.Text, messageID string, at time.Time, body []byte) (string, error) {
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		key, err := webhooksign.ParseKey(s.Reveal())
		if err != nil {
			return "", fmt.Errorf("webhook: a secret is not valid")
		}
		signatures[i] = key.Sign(messageID, at, body)
	}
	return strings.Join(signatures, " "), nil
}

func seconds(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

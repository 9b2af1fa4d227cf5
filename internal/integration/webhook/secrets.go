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

// secrets decrypts the secrets of an endpoint that are valid at a time, the latest first.
func (s *Service) secrets(organizationID string, e Endpoint, at time.Time) ([]secret.Text, error) {
	sealed := []string{e.secret}
	if e.previousSecret != "" && e.PreviousSecretExpiresAt != nil && at.Before(*e.PreviousSecretExpiresAt) {
		sealed = append(sealed, e.previousSecret)
	}
	out := make([]secret.Text, len(sealed))
	for i, text := range sealed {
		var err error
		if out[i], err = s.key.Open(text, organizationID, e.ID); err != nil {
			return nil, fmt.Errorf("the secret of the webhook endpoint %s cannot be decrypted with the key for secrets of this node: give all "+
				"nodes the same key: %w", e.ID, err)
		}
	}
	return out, nil
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

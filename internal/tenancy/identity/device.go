package identity

import (
	"encoding/json"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
)

// device is a browser in which a person has signed in. It keeps this, encrypted, after they have signed out. It lets nobody in. It only
// tells attempts of the person from those of strangers.
type device struct {
	ID        string    `json:"id"`
	Account   string    `json:"account"` // hash of the email address
	ExpiresAt time.Time `json:"expires_at"`
}

// DeviceMax is how long a device is remembered after the person has signed in there last.
const DeviceMax = 365 * 24 * time.Hour

// deviceFor is what devices are sealed for.
const deviceFor = "device"

// newDevice returns what a browser keeps in which a person has signed in.
func (s *Service) newDevice(email string) (secret.Text, error) {
	random, err := token.New(s.random(), "")
	if err != nil {
		return secret.Text{}, err
	}
	content, err := json.Marshal(device{ID: random.Reveal(), Account: token.Hash(email), ExpiresAt: s.now().Add(DeviceMax)})
	if err != nil {
		return secret.Text{}, err
	}
	sealed, err := s.config.Secrets.Seal(secret.New(string(content)), deviceFor)
	return secret.New(sealed), err
}

// deviceOf returns the device of a request if the person with an email address has signed in there, or nothing.
func (s *Service) deviceOf(email string, o Origin) string {
	if o.Device.IsZero() {
		return ""
	}
	var d device
	content, err := s.config.Secrets.Open(o.Device.Reveal(), deviceFor)
	if err != nil || json.Unmarshal([]byte(content.Reveal()), &d) != nil || d.Account != token.Hash(email) || !s.now().Before(d.ExpiresAt) {
		return ""
	}
	return d.ID
}

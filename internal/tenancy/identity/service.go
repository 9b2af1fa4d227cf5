package identity

import (
	"context"
	"io"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/password"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
)

// Config says how people sign in.
type Config struct {
	Secrets   *seal.Key          // encrypts the secrets of authenticator apps
	Breached  *password.Breached // passwords that nobody may choose; nil means none
	PublicURL string             // the address of the service as people see it, without a slash at the end: links in mail begin with it
	OpenID    OpenID             // a provider at which people may sign in instead
}

// Service implements the use cases of people who sign in.
type Service struct {
	db     *db.DB
	config Config
	hasher *password.Hasher // for people who have a session or a link, or have signed in on the device before
	others *password.Hasher // for everybody else: a flood of wrong passwords keeps nobody waiting whom we know
	known  token.Cache[cachedSession]

	provider *openIDProvider
	refused  *refusals
	attempts *prometheus.CounterVec

	// Send queues a message in a database transaction. Without it, no mail is sent.
	Send func(ctx context.Context, tx *db.Tx, m mail.Message) error

	// QueueReset queues the job that mails a link to set a new password. Without it, no mail is sent.
	QueueReset func(ctx context.Context, tx *db.Tx, r ResetRequest) error
	// Queue queues the job that records an event. Without it, events are recorded right after the database transaction.
	Queue func(ctx context.Context, tx *db.Tx, h Happened) error
}

// NewService returns a Service on a database. Passwords of strangers take half of the processors at most, so that requests find one free.
func NewService(d *db.DB, c Config) *Service {
	half := max(1, runtime.GOMAXPROCS(0)/2)
	return &Service{db: d, config: c, hasher: password.NewHasher(half), others: password.NewHasher(half),
		provider: newOpenIDProvider(c.OpenID), refused: newRefusals(), attempts: newAttempts()}
}

func (s *Service) random() io.Reader { return s.db.Random() }

func (s *Service) now() time.Time { return s.db.Clock().Now() }

// PublicURL returns the address of the service as people see it.
func (s *Service) PublicURL() string { return s.config.PublicURL }

// shared is why what belongs to a person is read and written without an organization.
const shared = "a person may be a member of several organizations"

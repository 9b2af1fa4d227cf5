package provider

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
)

// Hosted is a connector whose accounts are connected on a page of the system, where a person signs in and consents.
type Hosted interface {
	Connector

	// Begin starts a setup, and returns the page for the person. The session has the fields that were entered.
	Begin(ctx context.Context, s *Session, r SetupRequest) (Setup, error)

	// Finish returns the credentials of the account after the page has sent the browser back, with the query of its address. The session has
	// the fields that were entered and what Begin keeps. It may be called again after an error of kind Unavailable. Without a query it asks
	// the system whether the person has finished, and returns ErrUnfinished if not, or if the system can only tell through the browser.
	Finish(ctx context.Context, s *Session, r SetupRequest, query url.Values) (Credentials, error)
}

// Revoker is a connector that can end the access of credentials at the system.
type Revoker interface {
	// Revoke ends the access. Access that has ended before is no error.
	Revoke(ctx context.Context, s *Session) error
}

// Exchanger is a connector to a system at which people enter something that can be used only once, or for a short time only.
type Exchanger interface {
	// Exchange returns the credentials that last, for those that were entered. It is called once, before Check, and what it returns is stored
	// instead. An error of kind Invalid names the field that the system does not accept.
	Exchange(ctx context.Context, s *Session) (Credentials, error)
}

// SetupRequest says how a page of a system leads back to the service.
type SetupRequest struct {
	State    string // comes back in the query, unless the system has no such parameter
	ReturnTo string // the address of the service that the browser is sent back to
	Renews   bool   // the connection exists already, and its credentials in the session are to be renewed
}

// Setup is a page that a person has to open to connect an account.
type Setup struct {
	URL       string      // empty if nobody has to consent: Finish can be called at once, without a query
	Keep      Credentials // what Finish needs, such as a code verifier
	ExpiresAt time.Time   // until when the page can be used; the zero time if the system does not say
}

// ErrUnfinished means that a person has not finished the setup of a connection yet.
var ErrUnfinished = errors.New("the setup is not finished")

// ErrExpired means that a system refuses a token because it has expired, so that it has to be renewed.
var ErrExpired = errors.New("the token has expired")

// Client is the registration of the service at a system.
type Client struct {
	ID     string
	Secret secret.Text
}

// Keeper keeps the credentials of an account that a system replaces from time to time, such as tokens that expire.
type Keeper interface {
	// Renew returns the credentials of an account that follow others. If somebody has renewed them already, it returns what is stored.
	// Otherwise it calls a function that renews what is stored, and stores the result. One caller at a time renews those of an account.
	Renew(ctx context.Context, stale Credentials, renew func(ctx context.Context, stored Credentials) (Credentials, error)) (Credentials,
		error)
}

// Renew replaces the credentials of a session by those that follow them. The function gets a session with those that are stored.
func (s *Session) Renew(ctx context.Context, renew func(ctx context.Context, s *Session) (Credentials, error)) (err error) {
	with := func(ctx context.Context, stored Credentials) (Credentials, error) {
		fresh := *s
		fresh.Credentials = stored
		return renew(ctx, &fresh)
	}
	if s.Keeper == nil {
		s.Credentials, err = kept(s.Credentials)(with(ctx, s.Credentials))
		return err
	}
	s.Credentials, err = kept(s.Credentials)(s.Keeper.Renew(ctx, s.Credentials, with))
	return err
}

// kept returns a function that returns new credentials, or the former ones after an error.
func kept(former Credentials) func(Credentials, error) (Credentials, error) {
	return func(c Credentials, err error) (Credentials, error) {
		if err != nil {
			return former, err
		}
		return c, nil
	}
}

package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// ofReset is how fast requests for a new password may follow each other from an address, whether or not there are such people.
var ofReset = pace{free: 10, first: time.Minute, max: 15 * time.Minute}

// RequestReset asks for a link to set a new password, which a job mails if there is a person with that email address. It takes the same
// time and has the same result for everybody. The error is Invalid for what is no address, and RateLimited if too many were asked for.
func (s *Service) RequestReset(ctx context.Context, address string, o Origin) error {
	email, err := access.NormalEmail(address)
	if err != nil {
		return err
	}
	counted := []subject{{hash: token.Hash("reset\n" + o.Network), pace: ofReset}}
	if err := s.attempt(ctx, counted); err != nil { // not a failure, but counted in the same way
		return err
	}
	if s.QueueReset == nil {
		return nil
	}
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error { return s.QueueReset(ctx, tx, ResetRequest{email}) })
}

package connection

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// Imported is what has become of the connections of an organization that was imported from another database.
type Imported struct {
	Asked int // that need new credentials
	Ended int // whose setup nobody had finished
}

// RequireCredentials has every connection with credentials wait for new ones, because the organization was imported from another database
// whose credentials cannot be decrypted here. Those that need none, such as an address of a blockchain, go on. Setups that nobody had
// finished end. It is a building block.
func (s *Service) RequireCredentials(ctx context.Context, tx *db.Tx) (out Imported, err error) {
	rows, err := db.All[row](ctx, tx, selectRows+" ORDER BY connection_id")
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		switch before := r.connection(); before.Status {
		case PendingSetup:
			if _, err := s.endSetup(ctx, tx, before.ID); err != nil {
				return out, err
			}
			out.Ended++
		case Active, Failed:
			if before.AuthMethod == byAddress {
				continue
			}
			if err := askAgain(ctx, tx, before); err != nil {
				return out, err
			}
			out.Asked++
		}
	}
	return out, nil
}

// askAgain has a connection ask for new credentials, and stops what was being read.
func askAgain(ctx context.Context, tx *db.Tx, before Connection) error {
	after := before
	after.Status = Unauthorized
	after.ErrorMessage = "the organization was moved here without the credentials of its connections: " + before.remedy()
	if err := stopSync(ctx, tx, before.ID, "the organization was moved"); err != nil {
		return err
	}
	_, err := save(ctx, tx, eventOf(Unauthorized), before, after)
	return err
}

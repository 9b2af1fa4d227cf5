package oauth

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// EndAll ends everything that people have allowed apps in the organization, because it was imported without the tokens of the
// apps. It tells nobody, and returns how many it ended. It is a building block.
func (s *Service) EndAll(ctx context.Context, tx *db.Tx) (int, error) {
	all, err := queryAuthorizations(ctx, tx, "ended_at IS NULL ORDER BY oauth_authorization_id")
	if err != nil {
		return 0, err
	}
	for _, a := range all {
		if _, err := s.endSilently(ctx, tx, a, Disconnected); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

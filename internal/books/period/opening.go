package period

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// The opening period holds the opening balances of an organization. It stands before every month, whatever month is the
// first, so that opening balances are part of the opening balance of the first month even if older history arrives later. It
// is not a month of its own: nobody lists, closes or measures it, and a change of the time zone does not move it. For a legal
// entity it is closed as soon as the first month is.

// OpeningDate is the accounting date of opening balances. It is in January 1900 in every time zone.
var OpeningDate = time.Date(1900, time.January, 1, 12, 0, 0, 0, time.UTC)

// OpeningKey is the key of the opening period, which sorts before those of all months.
const OpeningKey = "1900-01"

var openingMonth = calendar.Month{Year: 1900, Month: time.January}

// IsOpening reports whether an accounting date is that of opening balances.
func IsOpening(at time.Time) bool { return at.Equal(OpeningDate) }

// Opening returns the opening period of an organization, which need not be stored yet. There is one for each organization, so
// its id follows from that of the organization.
func Opening(organizationID string) Period {
	_, suffix, _ := strings.Cut(organizationID, "_")
	start, end := openingMonth.Bounds(time.UTC)
	return Period{ID: string(id.Period) + "_" + suffix, Key: OpeningKey, Start: start, End: end}
}

func newOpening(tx *db.Tx) Period {
	p := Opening(tx.Organization())
	p.CreatedAt = tx.Now()
	return p
}

// FindOpening returns the opening period, or nil if there are no opening balances yet. It runs in the caller's transaction.
func FindOpening(ctx context.Context, tx *db.Tx) (*Period, error) {
	found, err := selectOpening(ctx, tx)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

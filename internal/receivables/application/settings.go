package application

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Settings are what an organization has set for cash application.
type Settings struct {
	// WriteOffLimit is by how much a deposit may fall short of what it is applied to, in its currency: the difference is written off. A
	// deposit matches an invoice that differs by no more.
	WriteOffLimit money.Decimal
}

// limitMax is what the limit must be below.
var limitMax = money.FromInt(1_000_000)

func (s Settings) facts() map[string]any {
	return map[string]any{"write_off_limit": s.WriteOffLimit.String()}
}

// Settings returns the settings.
func (s *Service) Settings(ctx context.Context) (out Settings, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out.WriteOffLimit, err = selectLimit(ctx, tx)
		return err
	})
	return out, err
}

// Set changes the settings. It writes nothing if nothing changes.
func (s *Service) Set(ctx context.Context, writeOffLimit *string) (after Settings, err error) {
	organizationID := actor.From(ctx).OrganizationID
	err = s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		limit, err := selectLimit(ctx, tx)
		if err != nil {
			return err
		}
		before := Settings{limit}
		if after = before; writeOffLimit != nil {
			switch after.WriteOffLimit, err = money.Parse(*writeOffLimit); {
			case err != nil:
				return fault.Invalidf("write_off_limit", "%v", err)
			case after.WriteOffLimit.Sign() < 0:
				return fault.Invalidf("write_off_limit", "must not be negative")
			case after.WriteOffLimit.Cmp(limitMax) >= 0:
				return fault.Invalidf("write_off_limit", "must be less than %s", limitMax)
			}
		}
		if after.WriteOffLimit.Equal(before.WriteOffLimit) {
			return nil
		}
		if err := upsertLimit(ctx, tx, after.WriteOffLimit); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "settings.updated", ResourceType: "settings", ResourceID: organizationID,
			Before: before.facts(), After: after.facts()})
		return nil
	})
	return after, err
}

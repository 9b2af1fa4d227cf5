package period

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// Package is what was stored when a period was closed, by legal entity.
type Package struct {
	Period   Period
	Entities []EntityPackage
	Anchor   *audit.Anchor // of the last close; nil if there is none, or the actor does not see the whole organization
}

// EntityPackage is the part of one legal entity: the active closing, if there is one, and those that were reopened.
type EntityPackage struct {
	Entity    entity.LegalEntity
	Closing   *Closing
	Positions []NamedPosition
	History   []Closing // oldest first
}

// NamedPosition is a stored position with the account as it is named now.
type NamedPosition struct {
	Position
	Account account.Account
}

// Package returns what was stored at the close for one legal entity or, if none is named, for all that the actor sees.
func (s *Service) Package(ctx context.Context, periodID, legalEntityID string) (out Package, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if out.Period, err = selectOne(ctx, tx, periodID); err != nil {
			return err
		}
		o, err := loadCloseStatus(ctx, tx, legalEntityID)
		if err != nil {
			return err
		}
		if out.Entities, err = packages(ctx, tx, out.Period, o.entities); err != nil || len(actor.From(ctx).LegalEntityIDs) > 0 {
			return err
		}
		out.Anchor, err = lastAnchor(ctx, tx, out.Period)
		return err
	})
	return out, err
}

func packages(ctx context.Context, tx *db.Tx, p Period, entities []entity.LegalEntity) ([]EntityPackage, error) {
	out, at := make([]EntityPackage, len(entities)), map[string]*EntityPackage{}
	for i, e := range entities {
		out[i].Entity, at[e.ID] = e, &out[i]
	}
	closings, err := selectClosings(ctx, tx, []string{p.ID}, entityIDs(entities), false)
	if err != nil {
		return nil, err
	}
	var standing []string
	for _, c := range closings {
		if c.ReopenedAt != nil {
			at[c.LegalEntityID].History = append(at[c.LegalEntityID].History, c)
			continue
		}
		at[c.LegalEntityID].Closing = &c
		standing = append(standing, c.ID)
	}
	frozen, err := selectFrozen(ctx, tx, standing)
	if err != nil {
		return nil, err
	}
	accounts, err := account.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for i := range out { // in the order of the chart
		if out[i].Closing == nil {
			continue
		}
		byAccount := map[string]Position{}
		for _, position := range frozen[out[i].Closing.ID] {
			byAccount[position.LedgerAccountID] = position
		}
		for _, a := range accounts {
			if position, there := byAccount[a.ID]; there {
				out[i].Positions = append(out[i].Positions, NamedPosition{position, a})
			}
		}
	}
	return out, nil
}

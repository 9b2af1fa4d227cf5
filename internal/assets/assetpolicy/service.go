package assetpolicy

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Service holds the use cases of asset policies.
type Service struct{ db *db.DB }

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// List returns a page of the stored policies, by symbol.
func (s *Service) List(ctx context.Context, p page.Request) (page.Page[Policy], error) {
	return page.List("asset-policies", nil, p, func(p Policy) []string {
		return []string{p.AssetType}
	}, func(after []string, limit int) (rows []Policy, err error) {
		above := ""
		if after != nil {
			above = after[0]
		}
		err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectPage(ctx, tx, above, limit)
			return err
		})
		return rows, err
	})
}

// Get returns the policy of an asset: the stored one, or the default.
func (s *Service) Get(ctx context.Context, assetType string) (p Policy, err error) {
	if err := (Policy{AssetType: assetType}).validate(); err != nil {
		return p, err
	}
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		p, err = forAsset(ctx, tx, assetType)
		return err
	})
	return p, err
}

func forAsset(ctx context.Context, tx *db.Tx, assetType string) (Policy, error) {
	all, err := ForAssets(ctx, tx, []string{assetType})
	return all[assetType], err
}

// PutParams are the policy of an asset; nil means the default.
type PutParams struct {
	AssetType         string
	InScope, OwnToken *bool
}

// Put creates or replaces the policy of an asset. If nothing changes, nothing is written.
func (s *Service) Put(ctx context.Context, p PutParams) (after Policy, err error) {
	wanted := defaultPolicy(p.AssetType)
	wanted.IsDefault = false
	if p.InScope != nil {
		wanted.InScope = *p.InScope
	}
	if p.OwnToken != nil {
		wanted.OwnToken = *p.OwnToken
	}
	if err := wanted.validate(); err != nil {
		return after, err
	}
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Touch(ctx, tx); err != nil {
			return err
		}
		before, err := forAsset(ctx, tx, p.AssetType)
		if err != nil {
			return err
		}
		after = wanted
		return after.save(ctx, tx, before)
	})
	return after, err
}

// save stores a policy in place of another one, which may be the default.
func (p *Policy) save(ctx context.Context, tx *db.Tx, before Policy) error {
	now := tx.Now()
	change := audit.Change{Action: "asset_policy.updated", ResourceType: "asset_policy", ResourceID: p.AssetType, After: p.facts()}
	switch {
	case before.IsDefault:
		p.CreatedAt = now
		change.Action = "asset_policy.created"
		if err := insert(ctx, tx, *p); err != nil {
			return err
		}
	case before.InScope == p.InScope && before.OwnToken == p.OwnToken:
		*p = before
		return nil
	default:
		p.CreatedAt, p.UpdatedAt = before.CreatedAt, &now
		change.Before = before.facts()
		if err := update(ctx, tx, *p); err != nil {
			return err
		}
	}
	audit.Record(ctx, tx, change)
	return nil
}

// Delete deletes the stored policy of an asset, so that the default applies again.
func (s *Service) Delete(ctx context.Context, assetType string) error {
	if err := (Policy{AssetType: assetType}).validate(); err != nil {
		return err
	}
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Touch(ctx, tx); err != nil {
			return err
		}
		p, err := forAsset(ctx, tx, assetType)
		if err != nil {
			return err
		}
		if p.IsDefault {
			return fault.Missing(noun)
		}
		if err := deleteRow(ctx, tx, assetType); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "asset_policy.deleted", ResourceType: "asset_policy", ResourceID: assetType,
			Before: p.facts()})
		return nil
	})
}

// Verify returns a text for every invalid policy. It is a building block.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	all, err := selectAll(ctx, tx)
	for _, p := range all {
		if err := p.validate(); err != nil {
			out = append(out, fmt.Sprintf("asset policy %q: %v", p.AssetType, err))
		}
	}
	return out, err
}

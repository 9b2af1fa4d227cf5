package revaluation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// RunParams select what to measure. Without legal entities, a run measures all for which the period is open; without kinds, all
// kinds.
type RunParams struct {
	PeriodID       string
	LegalEntityIDs []string
	Kinds          []Kind
	Dry            bool // compute the run and write nothing
}

// Run measures the holdings at the end of a period and books the adjustments.
func (s *Service) Run(ctx context.Context, p RunParams) (r Run, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		month, entities, err := p.resolve(ctx, tx, b)
		if err != nil {
			return err
		}
		plan := newPlanner(tx, b, month, p.Kinds)
		plan.withLots = true
		if err := plan.measure(ctx, entities...); err != nil {
			return err
		}
		if err := plan.err(); err != nil {
			return err
		}
		if !p.Dry {
			if err := plan.createAccounts(ctx); err != nil {
				return err
			}
		}
		plan.sort()
		r = plan.run(tx, actor.From(ctx).UserID)
		if p.Dry {
			return nil
		}
		return s.save(ctx, tx, plan, &r)
	})
	return r, err
}

// resolve returns the period and the legal entities. It returns an error if the period is closed for one of them.
func (p RunParams) resolve(ctx context.Context, tx *db.Tx, b *snapshot.Books) (month period.Period, out []entity.LegalEntity, err error) {
	var faults fault.List
	for i, k := range p.Kinds {
		switch {
		case !slices.Contains(kinds, k):
			faults.Addf(fmt.Sprintf("kinds[%d]", i), "must be one of adoption, fair_value, revaluation, impairment, unit_balance, fx")
		case slices.Contains(p.Kinds[:i], k):
			faults.Addf(fmt.Sprintf("kinds[%d]", i), "is given twice")
		}
	}
	for i, entityID := range p.LegalEntityIDs {
		if slices.Contains(p.LegalEntityIDs[:i], entityID) {
			faults.Addf(fmt.Sprintf("legal_entity_ids[%d]", i), "is given twice")
		}
	}
	month, there := b.PeriodByID(p.PeriodID)
	if !there {
		faults.AddMissing("accounting period", "accounting_period_id")
	}
	out = p.entities(ctx, b, month, &faults)
	if err := faults.Err(); err != nil {
		return month, nil, err
	}
	if len(out) == 0 {
		return month, nil, fault.Conflictf("the period %s is closed: reopen it first", month.Key)
	}
	if tx.Now().Before(month.End) {
		return month, nil, fault.Conflictf("the period %s is not over: run the revaluation after its end", month.Key)
	}
	return month, out, nil
}

// entities returns the legal entities to revalue. It adds those that do not exist, and those for which the period is closed, to faults.
func (p RunParams) entities(ctx context.Context, b *snapshot.Books, month period.Period, faults *fault.List) (out []entity.LegalEntity) {
	who := actor.From(ctx)
	for i, entityID := range p.LegalEntityIDs {
		field := fmt.Sprintf("legal_entity_ids[%d]", i)
		e, there := b.Entities[entityID]
		switch {
		case !there || !who.Sees(entityID):
			faults.AddMissing("legal entity", field)
		case month.ID != "" && month.Key <= b.ClosedThrough(entityID):
			faults.AddConflictf(field, "the period %s is closed for it: reopen it first", month.Key)
		default:
			out = append(out, e)
		}
	}
	if len(p.LegalEntityIDs) == 0 {
		for _, e := range b.Entities {
			if who.Sees(e.ID) && month.Key > b.ClosedThrough(e.ID) {
				out = append(out, e)
			}
		}
		slices.SortFunc(out, func(a, b entity.LegalEntity) int { return strings.Compare(a.ID, b.ID) })
	}
	return out
}

// run returns the plan as a run that is not stored yet.
func (p *planner) run(tx *db.Tx, userID string) Run {
	items := make(map[[3]string]Item, len(p.items))
	for _, i := range p.items {
		items[[3]string{i.LegalEntityID, string(i.Kind), i.Unit}] = i
	}
	shown := slices.Clone(p.rows[:min(len(p.rows), rowsMax)])
	for n, row := range shown {
		if row.Price == nil {
			shown[n].Price = items[[3]string{row.LegalEntityID, string(row.Kind), row.Unit}].Price
		}
	}
	return Run{
		PeriodID: p.period.ID, PeriodKey: p.period.Key, AsOf: p.asOf, begins: p.period.Start, CreatedBy: userID,
		CreatedAt: tx.Now(), Parts: p.parts, Items: p.items, Rows: shown, RowCount: int64(len(p.rows)),
	}
}

// save books and stores a run, and marks the earlier runs that it replaces.
func (s *Service) save(ctx context.Context, tx *db.Tx, plan *planner, r *Run) error {
	r.ID = tx.NewID(id.Revaluation)
	if err := s.book(ctx, tx, r); err != nil {
		return err
	}
	for _, p := range r.Parts {
		if err := setStatus(ctx, tx, p.LegalEntityID, r.PeriodID, p.Kind, Replaced); err != nil {
			return err
		}
	}
	if err := insertRun(ctx, tx, *r, plan.rows, plan.releases); err != nil {
		return err
	}
	audit.Record(ctx, tx, audit.Change{Action: "revaluation.posted", ResourceType: noun, ResourceID: r.ID, After: r.facts()})
	return nil
}

// createAccounts creates the accounts that lines are the first to use, and names them in the rows that are such an account.
func (p *planner) createAccounts(ctx context.Context) error {
	for n, i := range p.items {
		for m, l := range i.Lines {
			if l.AccountID != "" {
				continue
			}
			if p.roles[l.Role] == "" {
				a, err := createAccount(ctx, p.tx, l.Role, i.Unit)
				if err != nil {
					return err
				}
				p.roles[l.Role] = a.ID
			}
			p.items[n].Lines[m].AccountID = p.roles[l.Role]
		}
	}
	for n, r := range p.rows {
		if r.SubjectID == "" {
			p.rows[n].SubjectID = p.roles[r.Kind.adjustmentRole(r.Unit)]
		}
	}
	return nil
}

// createAccount creates the adjustment account of an asset. A fair value adjustment is shown as an asset, positive for a gain;
// accumulated impairment is a contra account.
func createAccount(ctx context.Context, tx *db.Tx, role, asset string) (account.Account, error) {
	group, err := account.ByRole(ctx, tx, account.GroupFairValueAdjustment)
	if err != nil {
		return account.Account{}, err
	}
	p := account.CreateParams{Name: "Fair value adjustment " + asset, Type: group.Type, NormalBalance: group.Type.NormalBalance(),
		ParentID: group.ID, Role: role}
	switch role {
	case account.RoleAccumulatedImpairment(asset):
		p.Name, p.NormalBalance = "Accumulated impairment "+asset, group.Type.NormalBalance().Contra()
	case account.RoleTakenOverAdjustment(asset):
		p.Name += ", taken over"
	}
	return account.Create(ctx, tx, p)
}

package entity_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// holding is an organization one of whose entities has lots.
type holding struct {
	*testing.T
	ctx      context.Context
	db       *db.DB
	entities *entity.Service
	id       string
}

func hold(t *testing.T, d *db.DB, zone string) holding {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: zone})
	if err != nil {
		t.Fatal(err)
	}
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner,
		Scopes: actor.Scopes})
	made, err := entity.NewService(d).Create(ctx, entity.CreateParams{Name: "Holder", BaseCurrency: "USD"})
	if err != nil {
		t.Fatal(err)
	}
	return holding{T: t, ctx: ctx, db: d, entities: entity.NewService(d).WithDisposals(lots.LastDisposal), id: made.ID}
}

func (h holding) exec(statement string, args ...any) {
	h.Helper()
	in(h.T, h.db, h.ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
}

func (h holding) pool(name string) {
	h.Helper()
	h.exec("INSERT INTO lot_pools (organization_id, pool, legal_entity_id, asset_type, currency, quantity, basis, seq, last_order_key) "+
		"VALUES (@org, ?, ?, 'ETH', 'USD', '0', '0', 0, '')", name, h.id)
}

func (h holding) lot(pool string) {
	h.Helper()
	h.exec("INSERT INTO lots (organization_id, asset_id, pool, order_key, seq, legal_entity_id, ledger_account_id, asset_type, "+
		"acquired_at, quantity, remaining_quantity, cost_basis, remaining_basis, "+
		"currency, unit_key, is_open, origin, journal_entry_id, basis_pending, provisional, created_at) "+
		"VALUES (@org, 'ast_1', ?, '', 1, ?, '', 'ETH', ?, '1', '1', '1', '1', 'USD', '', ?, 'manual', '', ?, ?, ?)", pool, h.id,
		time.Now(), true, false, false, time.Now())
}

func (h holding) take(pool, kind, at string) {
	h.Helper()
	instant, err := time.Parse(time.RFC3339, at)
	if err != nil {
		h.Fatal(err)
	}
	h.exec("INSERT INTO lot_consumptions (organization_id, pool, order_key, journal_entry_id, position, ledger_account_id, consumed_at, "+
		"block_number, number, kind, quantity, fee_quantity, proceeds, fee_proceeds, costs, net_fees) "+
		"VALUES (@org, ?, ?, '', 0, '', ?, 0, 0, ?, '1', '0', '1', '0', '0', ?)", pool, at, instant, kind, false)
}

// use is of what was not there, so that there is no lot of it.
func (h holding) use(pool string) {
	h.Helper()
	err := h.db.WriteAcross(h.ctx, "a test takes what is not there", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO lot_uses (organization_id, use_id, pool, order_key, position, asset_id, kind, is_correction, "+
			"journal_entry_id, transaction_type, legal_entity_id, "+
			"ledger_account_id, asset_type, accounting_date, accounting_period_id, quantity, basis, proceeds, fee, gain, currency, "+
			"acquired_at, disposed_at, days_held, term, method, lot_count) "+
			"VALUES (?, 'u', ?, '', 0, '', 'dispose', ?, '', '', ?, '', 'ETH', ?, '', '1', '0', '1', '0', '1', 'USD', ?, ?, 0, 'short', 'fifo', 0)",
			actor.From(h.ctx).OrganizationID, pool, false, h.id, time.Now(), time.Now(), time.Now())
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
}

// refused expects a conflict about some fields, whose message says something.
func (h holding) refused(err error, says string, fields ...string) {
	h.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Conflict || !strings.Contains(e.Message, says) || len(e.Fields) != len(fields) {
		h.Errorf("%v, want a conflict that says %q", err, says)
		return
	}
	for i, field := range fields {
		if e.Fields[i].Name != field {
			h.Errorf("%v blames %s, want %s", err, e.Fields[i].Name, field)
		}
	}
}

func TestCurrencyAndScopeAreFixedOnceThereAreLots(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := hold(t, d, "UTC")
		h.pool("a") // empty, as one that was undone
		if _, err := h.entities.Update(h.ctx, h.id, entity.UpdateParams{CostBasisScope: new(entity.ScopeLegalEntity),
			BaseCurrency: new("EUR")}); err != nil {
			t.Fatal(err)
		}
		h.lot("a")
		_, err := h.entities.Update(h.ctx, h.id, entity.UpdateParams{CostBasisScope: new(entity.ScopeSource), BaseCurrency: new("USD"),
			Name: new("x")})
		h.refused(err, "the legal entity has 1 asset, for example ast_1", "base_currency", "cost_basis_scope")
		kept, err := h.entities.Update(h.ctx, h.id, entity.UpdateParams{CostBasisScope: new(entity.ScopeLegalEntity),
			CostBasisMethod: new(entity.MethodLIFO)})
		if err != nil || kept.Name != "Holder" || kept.BaseCurrency != "EUR" || kept.CostBasisScope != entity.ScopeLegalEntity ||
			kept.CostBasisMethod != entity.MethodLIFO {
			t.Errorf("%+v %v", kept, err)
		}
	})
}

func TestAnElectionHoldsForTheFuture(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := hold(t, d, "Pacific/Auckland")
		for _, pool := range []string{"a", "b", "c"} {
			h.pool(pool)
		}
		elect := func(method, from string) error {
			_, err := h.entities.Update(h.ctx, h.id, entity.UpdateParams{CostBasisMethod: &method, CostBasisFrom: &from})
			return err
		}
		if err := elect(entity.MethodLIFO, "2020-01-01"); err != nil {
			t.Errorf("nothing was disposed of yet: %v", err)
		}
		h.take("a", "dispose", "2025-01-10T00:00:00Z")
		h.take("b", "move", "2025-03-01T20:00:00Z") // on the 2nd of March where the organization is
		h.take("b", "dispose", "2025-02-01T00:00:00Z")
		for _, from := range []string{"", "2024-01-01", "2025-01-11", "2025-03-01", "2025-03-02"} {
			h.refused(elect(entity.MethodHIFO, from), "2025-03-02", "cost_basis_from")
		}
		if err := elect(entity.MethodLIFO, "2020-01-01"); err != nil {
			t.Errorf("what elects nothing: %v", err)
		}
		if err := elect(entity.MethodHIFO, "2025-03-03"); err != nil {
			t.Error(err)
		}
		// Another entity is none of its business.
		other, err := h.entities.Create(h.ctx, entity.CreateParams{Name: "Other", BaseCurrency: "USD"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.entities.Update(h.ctx, other.ID, entity.UpdateParams{CostBasisMethod: new(entity.MethodLOFO)}); err != nil {
			t.Error(err)
		}
	})
}

func TestAnEntityWithLotsStays(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := hold(t, d, "UTC")
		h.pool("a")
		h.lot("a")
		h.refused(h.entities.Delete(h.ctx, h.id), "1 asset, for example ast_1")
		h.exec("DELETE FROM lots WHERE organization_id = @org")
		h.use("a")
		h.refused(h.entities.Delete(h.ctx, h.id), "1 use of assets, for example u")
		_, err := h.entities.Update(h.ctx, h.id, entity.UpdateParams{CostBasisScope: new(entity.ScopeLegalEntity)})
		h.refused(err, "1 use of assets, for example u", "cost_basis_scope")
		h.exec("DELETE FROM lot_uses WHERE organization_id = @org")
		if err := h.entities.Delete(h.ctx, h.id); err != nil {
			t.Errorf("an empty pool: %v", err)
		}
		in(t, d, h.ctx, func(ctx context.Context, tx *db.Tx) error {
			left, err := entity.Verify(ctx, tx)
			if len(left) > 0 {
				t.Error(left)
			}
			return err
		})
	})
}

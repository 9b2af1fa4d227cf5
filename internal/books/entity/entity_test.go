package entity_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// found makes an organization, and a context in which its owner acts.
func found(t *testing.T, d *db.DB) (context.Context, organization.Created) {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner,
		Scopes: actor.Scopes}), f
}

func in(t *testing.T, d *db.DB, ctx context.Context, do db.Func) {
	t.Helper()
	if err := d.Write(ctx, actor.From(ctx).OrganizationID, do); err != nil {
		t.Fatal(err)
	}
}

func TestLegalEntitiesAreFoundByIDAndListedInOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, f := found(t, d)
		in(t, d, ctx, func(ctx context.Context, tx *db.Tx) error {
			made, err := entity.Create(ctx, tx, "Second", "EUR")
			if err != nil {
				return err
			}
			all, err := entity.All(ctx, tx)
			if err != nil || len(all) != 2 || all[0].ID != f.LegalEntity.ID || all[1].ID != made.ID || all[1].BaseCurrency != "EUR" ||
				all[1].Framework != entity.FrameworkIFRS || all[0].Framework != entity.FrameworkUSGAAP || all[1].OwnershipPercent != nil {
				t.Errorf("%+v %v", all, err)
			}
			got, err := entity.Get(ctx, tx, made.ID)
			if err != nil || got.Name != "Second" || got.CostBasisMethod != entity.MethodFIFO || got.FiscalYearStartMonth != 1 {
				t.Errorf("%+v %v", got, err)
			}
			limited := actor.With(ctx, actor.Actor{LegalEntityIDs: []string{f.LegalEntity.ID}})
			if _, err := entity.Get(limited, tx, made.ID); fault.KindOf(err) != fault.NotFound {
				t.Errorf("a key that is not for it: %v", err)
			}
			if _, err := entity.Create(ctx, tx, "x", "BTC"); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%v", err)
			}
			return nil
		})
	})
}

func TestEveryChangeOfAnEntityRaisesTheVersionOfTheBooks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, _ := found(t, d)
		s := entity.NewService(d)
		version := func() (v int64) {
			in(t, d, ctx, func(ctx context.Context, tx *db.Tx) error {
				state, err := orgstate.Read(ctx, tx)
				v = state.BooksVersion
				return err
			})
			return v
		}
		before := version()
		raised := func(what string, err error) {
			t.Helper()
			if after := version(); err != nil || after <= before {
				t.Errorf("%s: %d became %d, %v", what, before, after, err)
			}
			before = version()
		}
		made, err := s.Create(ctx, entity.CreateParams{Name: "x", BaseCurrency: "USD"})
		raised("create", err)
		_, err = s.Update(ctx, made.ID, entity.UpdateParams{Name: new("y")})
		raised("update", err)
		raised("delete", s.Delete(ctx, made.ID))
	})
}

func TestVerifyReportsEveryKindOfDamage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for statement, says := range map[string]string{
			"UPDATE legal_entities SET base_currency = 'BTC' WHERE organization_id = @org AND legal_entity_id = ?":                    "base_currency",
			"UPDATE legal_entities SET name = ' ' WHERE organization_id = @org AND legal_entity_id = ?":                               "name",
			"UPDATE legal_entities SET country = 'Switzerland' WHERE organization_id = @org AND legal_entity_id = ?":                  "country",
			"UPDATE legal_entities SET ownership_percent = '101' WHERE organization_id = @org AND legal_entity_id = ?":                "ownership_percent",
			"UPDATE legal_entities SET measurement = 'hope' WHERE organization_id = @org AND legal_entity_id = ?":                     "measurement",
			"UPDATE legal_entities SET framework = 'hope' WHERE organization_id = @org AND legal_entity_id = ?":                       "framework",
			"UPDATE legal_entities SET fee_treatment = 'hope' WHERE organization_id = @org AND legal_entity_id = ?":                   "fee_treatment",
			"UPDATE legal_entities SET short_disposal = 'hope' WHERE organization_id = @org AND legal_entity_id = ?":                  "short_disposal",
			"UPDATE legal_entities SET intercompany_basis = 'hope' WHERE organization_id = @org AND legal_entity_id = ?":              "intercompany_basis",
			"UPDATE legal_entities SET loans_out = 'hope' WHERE organization_id = @org AND legal_entity_id = ?":                       "loans_out",
			"UPDATE legal_entities SET fiscal_year_start_month = 13 WHERE organization_id = @org AND legal_entity_id = ?":             "fiscal_year_start_month",
			"UPDATE legal_entities SET parent_legal_entity_id = 'le_gone' WHERE organization_id = @org AND legal_entity_id = ?":       "le_gone above it does not exist",
			"UPDATE legal_entities SET parent_legal_entity_id = legal_entity_id WHERE organization_id = @org AND legal_entity_id = ?": "circle",
			"UPDATE legal_entities SET cost_basis_method = 'lifo' WHERE organization_id = @org AND legal_entity_id = ?":               "latest election",
			"UPDATE legal_entities SET cost_basis_from = '2025-01-01' WHERE organization_id = @org AND legal_entity_id = ?":           "latest election",
			"DELETE FROM cost_basis_elections WHERE organization_id = @org AND legal_entity_id = ?":                                   "latest election",
			"DELETE FROM legal_entities WHERE organization_id = @org AND legal_entity_id = ?":                                         "has none",
			"UPDATE legal_entities SET measurement = 'impairment' WHERE organization_id = @org AND legal_entity_id = ?":               "its measurement differs from its latest election",
			"UPDATE legal_entities SET measurement_from = '2025-01-02' WHERE organization_id = @org AND legal_entity_id = ?":          "measurement_from must be the first day",
			"DELETE FROM measurement_elections WHERE organization_id = @org AND legal_entity_id = ?":                                  "its measurement differs from its latest election",
			"UPDATE cost_basis_elections SET legal_entity_id = 'le_gone' WHERE organization_id = @org AND legal_entity_id = ?":        "cost_basis_elections: the legal entity le_gone does not exist",
			"INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id, debits, " +
				"credits) SELECT @org, '', 'le_gone', legal_entity_id, '', '0', '0' FROM legal_entities e WHERE e.organization_id = @org AND " +
				"e.legal_entity_id = ?": "account_balances: the legal entity le_gone",
		} {
			ctx, f := found(t, d)
			err := d.Write(ctx, f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				found := dbtest.Damage(ctx, t, tx, entity.Verify, statement, f.LegalEntity.ID)
				if !slices.ContainsFunc(found, func(text string) bool { return strings.Contains(text, says) }) {
					t.Errorf("%s: %q does not say %q", statement, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Error("the damage was kept")
			}
		}
	})
}

// A key for an entity and the deletion of that entity exclude each other, whichever comes first.
func TestNoKeyIsMadeForAnEntityThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, _ := found(t, d)
		s, keys := entity.NewService(d), access.NewService(d)
		for range 20 {
			made, err := s.Create(ctx, entity.CreateParams{Name: "x", BaseCurrency: "USD"})
			if err != nil {
				t.Fatal(err)
			}
			gone, keyed := make(chan error, 1), make(chan error, 1)
			go func() { gone <- s.Delete(ctx, made.ID) }()
			go func() {
				_, _, err := keys.CreateKey(ctx, access.CreateKeyParams{Name: "k", Scopes: []actor.Scope{actor.ScopeRead},
					LegalEntityIDs: []string{made.ID}})
				keyed <- err
			}()
			a, b := <-gone, <-keyed
			if (a == nil) == (b == nil) || a != nil && fault.KindOf(a) != fault.Conflict || b != nil && fault.KindOf(b) != fault.NotFound {
				t.Errorf("deleted: %v, key made: %v", a, b)
			}
		}
	})
}

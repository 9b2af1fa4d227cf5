package opening_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// fixture is a company with one wallet, whose lots are entered as opening balances and consumed by replays, without booking.
type fixture struct {
	*opening.Service
	lots     *lots.Service
	ctx      context.Context
	db       *db.DB
	entries  *journal.Service
	entity   string
	wallet   source.Source
	expense  string
	effects  map[string]replay.Effect
	rebooked []replay.Change
}

func newFixture(t *testing.T, d *db.DB) *fixture {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{db: d, lots: lots.NewService(d), entries: journal.NewService(d), entity: f.LegalEntity.ID,
		effects: map[string]replay.Effect{}}
	h.ctx = actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
	load := func(context.Context, *db.Tx, []string) (map[string]replay.Effect, error) { return h.effects, nil }
	rebook := func(ctx context.Context, tx *db.Tx, _ *snapshot.Books, changes []replay.Change) (map[string]lots.EntryRef, error) {
		refs := map[string]lots.EntryRef{}
		for _, c := range changes {
			refs[c.EntryID] = h.ref(ctx, t, tx, c.EntryID)
		}
		h.rebooked = append(h.rebooked, changes...)
		return refs, nil
	}
	h.Service = opening.NewService(d, h.entries, load, rebook)
	made, err := source.NewService(d, nil, nil).Create(h.ctx, source.CreateParams{Type: source.Wallet, Name: "Vault",
		LegalEntityID: h.entity, Chain: "ethereum"})
	if err != nil {
		t.Fatal(err)
	}
	h.wallet = made.Source
	h.write(t, func(ctx context.Context, tx *db.Tx) error {
		a, err := account.ByCode(ctx, tx, "6030")
		h.expense = a.ID
		return err
	})
	return h
}

func (h *fixture) write(t *testing.T, do func(context.Context, *db.Tx) error) {
	t.Helper()
	if err := h.db.Write(h.ctx, actor.From(h.ctx).OrganizationID, do); err != nil {
		t.Fatal(err)
	}
}

// ref returns a reference to an entry whose uses count in this month.
func (h *fixture) ref(ctx context.Context, t *testing.T, tx *db.Tx, entryID string) lots.EntryRef {
	t.Helper()
	all, err := period.Ensure(ctx, tx, calendar.MonthOf(tx.Now(), time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return lots.EntryRef{EntryID: entryID, AccountingDate: tx.Now(), PeriodID: all[len(all)-1].ID}
}

// enter enters an opening balance of ETH.
func (h *fixture) enter(t *testing.T, date, quantity, cost string) lots.Held {
	t.Helper()
	made, err := h.Create(h.ctx, opening.CreateParams{
		AssetType: "ETH", Quantity: money.MustParse(quantity), CostBasis: money.MustParse(cost), LegalEntityID: h.entity,
		LedgerAccountID: h.wallet.LedgerAccountID, SourceID: h.wallet.ID, DateReceived: date,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// spend consumes ETH from the wallet, as booking would.
func (h *fixture) spend(t *testing.T, name, date, quantity, worth string) {
	t.Helper()
	h.book(t, name, posting.Input{Type: posting.Expense, Out: h.leg(t, date, quantity, worth)})
}

// earn adds ETH to the wallet, as booking would.
func (h *fixture) earn(t *testing.T, name, date, quantity, worth string) {
	t.Helper()
	h.book(t, name, posting.Input{Type: posting.Income, In: h.leg(t, date, quantity, worth)})
}

func (h *fixture) leg(t *testing.T, date, quantity, worth string) *posting.Leg {
	t.Helper()
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return &posting.Leg{
		Place: posting.Place{Source: h.wallet.ID, Account: h.wallet.LedgerAccountID,
			Entity: h.entity}, Asset: posting.Asset{Symbol: "ETH", Chain: "ethereum", Lots: true},
		Quantity: money.MustParse(quantity), Value: &posting.Value{Gross: money.MustParse(worth), Currency: "USD"}, At: at,
	}
}

func (h *fixture) book(t *testing.T, name string, in posting.Input) {
	t.Helper()
	h.write(t, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		b, err := snapshot.Load(ctx, tx)
		if err != nil {
			return err
		}
		roles := map[string]string{}
		for _, a := range b.Accounts {
			if a.Role != "" {
				roles[a.Role] = a.ID
			}
		}
		in.Target, in.Books = posting.Target{Account: h.expense}, posting.Books{Accounts: roles, Currencies: map[string]string{h.entity: "USD"}}
		plan, err := posting.Prepare(in)
		if err != nil {
			return err
		}
		w := replay.Effect{EntryID: name, TransactionID: "txn_" + name, Type: string(in.Type), Label: name, Number: int64(len(h.effects) + 1),
			Input: in, Plan: plan}
		r := replay.New(tx, b, nil, replay.Options{})
		r.Add(name, w)
		outcome, err := r.Run(ctx)
		if err != nil {
			return err
		}
		h.effects[name] = w
		return outcome.Write(ctx, map[string]lots.EntryRef{name: h.ref(ctx, t, tx, name)})
	})
}

// shown returns the lots, oldest first, in the form "2 of 3 for 40.00 of 60.00".
func (h *fixture) shown(t *testing.T, f lots.Filter) string {
	t.Helper()
	all, err := h.lots.List(h.ctx, f, page.Request{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range all.Items {
		out = append(out, fmt.Sprintf("%s of %s for %s of %s", x.RemainingQuantity, x.Quantity, x.RemainingBasis.Fixed("USD"),
			x.CostBasis.Fixed("USD")))
	}
	slices.Reverse(out)
	return strings.Join(out, "; ")
}

// expectHeld compares the balance of the account of the wallet, its lots and its positions with the expected amounts.
func (h *fixture) expectHeld(t *testing.T, quantity, basis string) {
	t.Helper()
	h.write(t, func(ctx context.Context, tx *db.Tx) error {
		type sum struct {
			Quantity money.Decimal `db:"quantity"`
			Basis    money.Decimal `db:"basis"`
		}
		for _, q := range []string{
			"SELECT {dec_sum}(quantity) AS quantity, {dec_sum}(basis) AS basis FROM lot_positions WHERE organization_id = @org",
			"SELECT {dec_sum}(quantity) AS quantity, {dec_sum}(basis) AS basis FROM lot_pools WHERE organization_id = @org",
			"SELECT {dec_sum}(remaining_quantity) AS quantity, {dec_sum}(remaining_basis) AS basis FROM lots WHERE organization_id = @org",
		} {
			got, err := db.One[sum](ctx, tx, "sum", q)
			if err != nil || got.Quantity.String() != quantity || got.Basis.String() != basis {
				t.Errorf("%s: %s at %s, want %s at %s: %v", q, got.Quantity, got.Basis, quantity, basis, err)
			}
		}
		return nil
	})
}

func refused(t *testing.T, what string, err error, kind fault.Kind, says string) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v, want a refusal that says %q", what, err, says)
	}
}

func TestAConsumedOpeningAssetCannotBeMovedOrDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		first, second := h.enter(t, "2024-01-01", "2", "2000"), h.enter(t, "2024-06-01", "3", "6000")
		h.expectHeld(t, "5", "8000")
		h.spend(t, "a", "2025-01-10", "0.5", "900")
		if got, want := h.shown(t, lots.Filter{}), "1.5 of 2 for 1500.00 of 2000.00; 3 of 3 for 6000.00 of 6000.00"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		update := func(id string, p opening.UpdateParams) error {
			_, err := h.Update(h.ctx, id, p)
			return err
		}
		var other entity.LegalEntity
		var elsewhere account.Account
		h.write(t, func(ctx context.Context, tx *db.Tx) (err error) {
			if other, err = entity.Create(ctx, tx, "Other", "USD"); err != nil {
				return err
			}
			elsewhere, err = account.Create(ctx, tx, account.CreateParams{Name: "Elsewhere", Type: account.Asset})
			return err
		})
		refused(t, "less", update(first.ID, opening.UpdateParams{Quantity: new(money.MustParse("0.4"))}), fault.Conflict,
			"0.5 of the asset are consumed already")
		refused(t, "another account", update(first.ID, opening.UpdateParams{LedgerAccountID: &elsewhere.ID}), fault.Conflict, "consumed already")
		refused(t, "another entity", update(first.ID, opening.UpdateParams{LegalEntityID: &other.ID}), fault.Conflict, "INTERCOMPANY TRANSFER")
		refused(t, "none at all", h.Delete(h.ctx, first.ID), fault.Conflict, "0.5 ETH of the asset are consumed already")
		h.expectHeld(t, "4.5", "7500")
		if err := update(second.ID, opening.UpdateParams{LedgerAccountID: &elsewhere.ID}); err != nil {
			t.Errorf("of which nothing was taken: %v", err)
		}
		h.expectHeld(t, "4.5", "7500")
		if err := h.Delete(h.ctx, second.ID); err != nil {
			t.Error(err)
		}
		h.expectHeld(t, "1.5", "1500")
		if len(h.rebooked) > 0 {
			t.Errorf("%+v was rebooked", h.rebooked)
		}
	})
}

func TestAnotherCostChangesWhatWasConsumed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		first := h.enter(t, "2024-01-01", "2", "2000")
		h.enter(t, "2024-06-01", "3", "6000")
		h.spend(t, "a", "2025-01-10", "1", "2500")
		if _, err := h.Update(h.ctx, first.ID, opening.UpdateParams{CostBasis: new(money.MustParse("1000"))}); err != nil {
			t.Fatal(err)
		}
		if len(h.rebooked) != 1 || h.rebooked[0].EntryID != "a" || h.rebooked[0].Basis.String() != "-500" ||
			h.rebooked[0].Gain.String() != "500" {
			t.Errorf("%+v", h.rebooked)
		}
		h.expectHeld(t, "4", "6500")
		// More of it leaves less to what came later, and an earlier one takes its place.
		if _, err := h.Update(h.ctx, first.ID, opening.UpdateParams{Quantity: new(money.MustParse("4"))}); err != nil {
			t.Fatal(err)
		}
		h.expectHeld(t, "6", "6750")
		h.enter(t, "2023-01-01", "1", "10")
		if got, want := h.shown(t,
			lots.Filter{}), "4 of 4 for 1000.00 of 1000.00; 3 of 3 for 6000.00 of 6000.00; 0 of 1 for 0.00 of 10.00"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		h.expectHeld(t, "7", "7000")
		if got := h.shown(t, lots.Filter{Open: new(false)}); got != "0 of 1 for 0.00 of 10.00" {
			t.Errorf("used up: %s", got)
		}
	})
}

func TestALotWhoseAssetBecameAnOwnTokenIsNotPendingOnceItsCostIsStated(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		l := h.enter(t, "2024-01-01", "2", "0")
		state := func(what string, p opening.UpdateParams, want, changed bool) {
			t.Helper()
			before, err := h.lots.Get(h.ctx, l.ID)
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.Update(h.ctx, l.ID, p)
			if err != nil || got.BasisPending != want || (got.UpdatedAt != before.UpdatedAt && got.UpdatedAt != nil &&
				(before.UpdatedAt == nil || !got.UpdatedAt.Equal(*before.UpdatedAt))) != changed {
				t.Errorf("%s: pending %t, updated at %v after %v, %v", what, got.BasisPending, got.UpdatedAt, before.UpdatedAt, err)
			}
		}
		free := opening.UpdateParams{CostBasis: new(money.MustParse("0.00"))}
		state("a coin", free, true, false)
		if _, err := assetpolicy.NewService(d).Put(h.ctx, assetpolicy.PutParams{AssetType: l.AssetType, OwnToken: new(true)}); err != nil {
			t.Fatal(err)
		}
		state("an own token", free, false, true)
		state("again", free, false, false)
	})
}

func TestALotOfAWeightedAverageShowsItsShare(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		if _, err := entity.NewService(d).Update(h.ctx, h.entity,
			entity.UpdateParams{CostBasisMethod: new(entity.MethodWeightedAverage)}); err != nil {
			t.Fatal(err)
		}
		h.enter(t, "2024-01-01", "1", "1000")
		h.enter(t, "2024-06-01", "2", "5000")
		h.spend(t, "a", "2025-01-10", "0.5", "900")
		if got, want := h.shown(t, lots.Filter{}), "0.5 of 1 for 1000.00 of 1000.00; 2 of 2 for 4000.00 of 5000.00"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestDispositionsAreReadBackFromTheLatest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		lot := h.enter(t, "2024-01-01", "10", "1000")
		for i := range 7 {
			h.spend(t, fmt.Sprint("e", i), fmt.Sprintf("2025-0%d-10", i+1), "1", "150")
		}
		var got []string
		for cursor := ""; ; {
			p, err := h.lots.Dispositions(h.ctx, lot.ID, page.Request{Limit: 2, Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range p.Items {
				got = append(got, fmt.Sprintf("%s %s %s %s %s %d", u.JournalEntryID, u.Kind, u.Basis, u.Gain, u.Term, u.Days))
				if u.LotID != lot.ID || u.Account != h.wallet.AccountID || u.TransactionType != "EXPENSE" || u.Method != "fifo" {
					t.Errorf("%+v", u)
				}
			}
			if cursor = p.NextCursor; !p.HasMore {
				break
			}
		}
		if len(got) != 7 || got[0] != "e6 dispose 100 50 long 556" || got[6] != "e0 dispose 100 50 long 375" {
			t.Errorf("%q", got)
		}
		_, err := h.lots.Dispositions(h.ctx, "ast_none", page.Request{Limit: 2})
		refused(t, "of what is not there", err, fault.NotFound, "asset")
	})
}

func TestALotOfATransactionCannotBeEdited(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.enter(t, "2024-01-01", "1", "1000")
		h.earn(t, "a", "2025-01-10", "2", "5000")
		brought, err := h.lots.List(h.ctx, lots.Filter{Manual: new(false)}, page.Request{Limit: 10})
		if err != nil || len(brought.Items) != 1 || brought.Items[0].Quantity.String() != "2" || brought.Items[0].Origin != lots.Acquired {
			t.Fatalf("%+v %v", brought, err)
		}
		_, err = h.Update(h.ctx, brought.Items[0].ID, opening.UpdateParams{Quantity: new(money.MustParse("3"))})
		refused(t, "changed", err, fault.Conflict, "created by a transaction")
		refused(t, "deleted", h.Delete(h.ctx, brought.Items[0].ID), fault.Conflict, "created by a transaction")
		h.expectHeld(t, "3", "6000")
	})
}

func TestAnAssetFollowsItsSourceToAnotherLegalEntity(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		lot, early := h.enter(t, "2024-01-01", "2", "2000"), h.enter(t, "2023-01-01", "1", "100")
		h.spend(t, "a", "2025-01-10", "0.5", "900")
		var other entity.LegalEntity
		h.write(t, func(ctx context.Context, tx *db.Tx) (err error) {
			other, err = entity.Create(ctx, tx, "Other", "USD")
			return err
		})
		err := d.WriteAcross(t.Context(), "a test moves a source", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE sources SET legal_entity_id = ? WHERE source_id = ?", other.ID, h.wallet.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		moved, err := h.Update(h.ctx, lot.ID, opening.UpdateParams{LegalEntityID: &other.ID})
		if err != nil || moved.ID != lot.ID || moved.LegalEntityID != other.ID || moved.Pool == lot.Pool ||
			moved.JournalEntryID == lot.JournalEntryID || !moved.CreatedAt.Equal(lot.CreatedAt) {
			t.Fatalf("%+v %v", moved, err)
		}
		_, err = h.Update(h.ctx, early.ID, opening.UpdateParams{LegalEntityID: &other.ID})
		refused(t, "of which something was taken", err, fault.Conflict, "0.5 of the asset are consumed already")
		h.expectHeld(t, "2.5", "2050")
		h.write(t, func(ctx context.Context, tx *db.Tx) error {
			was, err := journal.FindUnchecked(ctx, tx, lot.JournalEntryID)
			if err != nil {
				return err
			}
			is, err := journal.FindUnchecked(ctx, tx, moved.JournalEntryID)
			if l := is.Lines[0]; l.Unit != "ETH" || l.Quantity.String() != "2" || is.Lines[1].Unit != "" {
				t.Errorf("%+v", is.Lines)
			}
			if was.NextID == "" || is.LegalEntityID != other.ID || is.PreviousID != "" || is.OriginatedBy != journal.ByOpening {
				t.Errorf("%+v and %+v", was, is)
			}
			return err
		})
	})
}

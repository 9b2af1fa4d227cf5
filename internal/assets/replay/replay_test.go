package replay_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
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

// fixture is a company with two wallets. Its entries change lots through replays, without a journal.
type fixture struct {
	*testing.T
	db      *db.DB
	ctx     context.Context
	entity  string
	expense string
	wallets map[string]source.Source
	effects map[string]replay.Effect
}

func newFixture(t *testing.T, d *db.DB) *fixture {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	x := &fixture{T: t, db: d, entity: f.LegalEntity.ID, wallets: map[string]source.Source{}, effects: map[string]replay.Effect{}}
	x.ctx = actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
	for _, name := range []string{"A", "B"} {
		made, err := source.NewService(d, nil, nil).Create(x.ctx, source.CreateParams{Type: source.Wallet, Name: name,
			LegalEntityID: x.entity, Chain: "ethereum"})
		if err != nil {
			t.Fatal(err)
		}
		x.wallets[name] = made.Source
	}
	x.mustWrite(func(ctx context.Context, tx *db.Tx) error {
		a, err := account.ByCode(ctx, tx, "6030")
		x.expense = a.ID
		return err
	})
	return x
}

func (x *fixture) write(do func(context.Context, *db.Tx) error) error {
	return x.db.Write(x.ctx, actor.From(x.ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

func (x *fixture) mustWrite(do func(context.Context, *db.Tx) error) {
	x.Helper()
	if err := x.write(do); err != nil {
		x.Fatal(err)
	}
}

func (x *fixture) leg(wallet, day, quantity, worth string) *posting.Leg {
	x.Helper()
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		x.Fatal(err)
	}
	w := x.wallets[wallet]
	return &posting.Leg{
		Place: posting.Place{Source: w.ID, Account: w.LedgerAccountID, Entity: x.entity},
		Asset: posting.Asset{Symbol: "ETH", Chain: "ethereum", Lots: true}, At: at,
		Quantity: money.MustParse(quantity), Value: &posting.Value{Gross: money.MustParse(worth), Currency: "USD"},
	}
}

// effect reads "2025-03-01 in A 2 3000.00", "2025-03-02 out A 1 2000.00" or "2025-03-03 move A B 1 2000.00".
func (x *fixture) effect(b *snapshot.Books, name, text string) replay.Effect {
	x.Helper()
	f := strings.Fields(text)
	in := posting.Input{Target: posting.Target{Account: x.expense},
		Books: posting.Books{Accounts: b.Roles(), Currencies: map[string]string{x.entity: "USD"}}}
	switch f[1] {
	case "in":
		in.Type, in.In = posting.Income, x.leg(f[2], f[0], f[3], f[4])
	case "out":
		in.Type, in.Out = posting.Expense, x.leg(f[2], f[0], f[3], f[4])
	case "move":
		in.Type, in.Target = posting.Internal, posting.Target{}
		in.Out, in.In = x.leg(f[2], f[0], f[4], f[5]), x.leg(f[3], f[0], f[4], f[5])
	}
	plan, err := posting.Prepare(in)
	if err != nil {
		x.Fatal(text, err)
	}
	return replay.Effect{EntryID: name, TransactionID: "txn_" + name, Type: string(in.Type), Label: name,
		Number: int64(len(x.effects) + 1), Input: in, Plan: plan}
}

// load returns the effects that were booked.
func (x *fixture) load(context.Context, *db.Tx, []string) (map[string]replay.Effect, error) {
	return x.effects, nil
}

// run computes new entries, "name: text" each, within a write that is undone unless keep writes something.
func (x *fixture) run(load replay.Loader, options replay.Options, keep func(context.Context, *db.Tx, *replay.Outcome) error,
	entries ...string) (outcome *replay.Outcome, err error) {
	x.Helper()
	err = x.write(func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Read(ctx, tx)
		if err != nil {
			return err
		}
		r := replay.New(tx, b, load, options)
		for _, e := range entries {
			name, text, _ := strings.Cut(e, ": ")
			x.effects[name] = x.effect(b, name, text)
			r.Add(name, x.effects[name])
		}
		if outcome, err = r.Run(ctx); err != nil {
			return err
		}
		return keep(ctx, tx, outcome)
	})
	return outcome, err
}

// undo keeps nothing.
func undo(context.Context, *db.Tx, *replay.Outcome) error { return dbtest.ErrUndo }

// store writes an outcome; every entry counts this month.
func (x *fixture) store(ctx context.Context, tx *db.Tx, o *replay.Outcome) error {
	all, err := period.Ensure(ctx, tx, calendar.MonthOf(tx.Now(), time.UTC))
	if err != nil {
		return err
	}
	refs := map[string]lots.EntryRef{}
	for name := range x.effects {
		refs[name] = lots.EntryRef{EntryID: name, AccountingDate: tx.Now(), PeriodID: all[len(all)-1].ID}
	}
	return o.Write(ctx, refs)
}

func (x *fixture) book(entries ...string) {
	x.Helper()
	for _, e := range entries {
		if _, err := x.run(x.load, replay.Options{}, x.store, e); err != nil {
			x.Fatal(e, err)
		}
	}
}

var tables = []string{"lot_pools", "lots", "lot_consumptions", "lot_uses", "lot_positions", "lot_gains"}

// stored is everything in the lot tables.
func (x *fixture) stored() map[string]string {
	x.Helper()
	out := map[string]string{}
	err := x.db.Read(x.ctx, actor.From(x.ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		for _, l := range []struct{ table, columns string }{{"lot_pools", "pool || quantity || basis || last_order_key"},
			{"lots", "asset_id || order_key || remaining_quantity || remaining_basis"}, {"lot_consumptions", "order_key || quantity"},
			{"lot_uses", "use_id || order_key || quantity || basis"}, {"lot_positions", "source_id || quantity || basis"},
			{"lot_gains", "source_id || quantity || gain"}} {
			rows, err := db.All[string](ctx, tx, "SELECT "+l.columns+" FROM "+l.table+" WHERE organization_id = @org ORDER BY 1")
			if err != nil {
				return err
			}
			out[l.table] = strings.Join(rows, "\n")
		}
		return nil
	})
	if err != nil {
		x.Fatal(err)
	}
	return out
}

func spell(uses []lots.Use) string {
	var out []string
	for _, u := range uses {
		out = append(out, fmt.Sprintf("%s for %s gain %s", u.Quantity, u.Basis.Fixed("USD"), u.Gain.Fixed("USD")))
	}
	return strings.Join(out, "; ")
}

func TestAnOutcomeReportsWhatNewEntriesConsumeAndChange(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		x.book("first: 2025-03-01 in A 2 3000.00")
		o, err := x.run(x.load, replay.Options{}, x.store, "sale: 2025-03-10 out A 1 2000.00")
		if err != nil {
			t.Fatal(err)
		}
		if got := spell(o.Added["sale"].Uses); got != "1 for 1500.00 gain 500.00" {
			t.Errorf("the sale consumes %s", got)
		}
		if len(o.Added["sale"].Entry.Lines) == 0 || len(o.Changes)+len(o.Recomputed)+len(o.Refused) != 0 {
			t.Errorf("a sale in order gives %+v", o)
		}
		late, err := x.run(x.load, replay.Options{}, x.store, "late: 2025-02-01 in A 2 1000.00")
		if err != nil {
			t.Fatal(err)
		}
		if len(late.Changes) != 1 || late.Changes[0].EntryID != "sale" || late.Changes[0].Basis.String() != "-1000" ||
			late.Changes[0].Gain.String() != "1000" || late.Changes[0].Corrected {
			t.Errorf("the late acquisition changes %+v", late.Changes)
		}
		if at := slices.Collect(maps.Values(late.Recomputed)); len(at) != 1 || at[0].Format(time.DateOnly) != "2025-02-01" {
			t.Errorf("recomputed is %v", late.Recomputed)
		}
		if a := late.Added["late"]; len(a.Uses) != 0 || len(a.Entry.Lots) != 1 {
			t.Errorf("the late acquisition is %+v", a)
		}
	})
}

func TestAnEntryThatCannotHappenIsRefusedAndNamed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		x.book("first: 2025-03-01 in A 2 3000.00")
		before := x.stored()
		o, err := x.run(x.load, replay.Options{}, x.store, "much: 2025-03-10 out A 5 2000.00")
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "3 ETH are missing") || o.Refused["much"] == nil {
			t.Errorf("answers %v, %+v", err, o)
		}
		o, err = x.run(x.load, replay.Options{SkipRefused: true}, undo, "many: 2025-03-10 out A 5 2000.00", "few: 2025-03-11 out A 1 2000.00")
		if _, added := o.Added["many"]; !errors.Is(err, dbtest.ErrUndo) || len(o.Refused) != 1 || o.Refused["many"] == nil || added {
			t.Errorf("with the refused one left out: %v, %+v", err, o)
		}
		if got := spell(o.Added["few"].Uses); got != "1 for 1500.00 gain 500.00" {
			t.Errorf("the other one consumes %s", got)
		}
		o, err = x.run(x.load, replay.Options{Preview: true}, undo, "draft: 2025-03-10 out A 5 2000.00")
		if got := spell(o.Added["draft"].Uses); !errors.Is(err, dbtest.ErrUndo) || got != "2 for 3000.00 gain -2200.00; 3 for 0.00 gain 1200.00" {
			t.Errorf("a preview consumes %s, %v", got, err)
		}
		if !maps.Equal(before, x.stored()) {
			t.Error("something was written")
		}
	})
}

func TestMovesInACircleAtOneInstantAreRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		x.book("a: 2025-03-01 in A 1 1000.00", "b: 2025-03-01 in B 1 1000.00")
		before := x.stored()
		_, err := x.run(x.load, replay.Options{}, x.store, "there: 2025-03-05 move A B 2 2000.00", "back: 2025-03-05 move B A 2 2000.00")
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "form a cycle") {
			t.Errorf("answers %v", err)
		}
		if !maps.Equal(before, x.stored()) {
			t.Error("something was written")
		}
	})
}

// What leaves a wallet and returns at the same instant leaves first, in whatever order the moves are booked. If only the other wallet
// has it, it comes from there first.
func TestWhatLeavesAndReturnsAtOneInstantIsBookedInAnOrderThatIsPossible(t *testing.T) {
	t.Parallel()
	const there, back = "there: 2025-03-05 move A B 1 2000.00", "back: 2025-03-05 move B A 1 2000.00"
	for _, c := range []struct {
		held    string
		batches [][]string
	}{
		{"A", [][]string{{there, back}}}, {"A", [][]string{{back, there}}}, {"A", [][]string{{there}, {back}}},
		{"B", [][]string{{there, back}}}, {"B", [][]string{{back, there}}}, {"B", [][]string{{back}, {there}}},
	} {
		dbtest.Each(t, func(t *testing.T, d *db.DB) {
			x := newFixture(t, d)
			x.book("first: 2025-03-01 in " + c.held + " 1 1000.00")
			for _, batch := range c.batches {
				if _, err := x.run(x.load, replay.Options{}, x.store, batch...); err != nil {
					t.Fatalf("%s has it, %v: %v", c.held, c.batches, err)
				}
			}
			consumes := func(sale, want string) {
				t.Helper()
				o, err := x.run(x.load, replay.Options{}, x.store, sale)
				name, _, _ := strings.Cut(sale, ":")
				if got := spell(o.Added[name].Uses); err != nil || got != want {
					t.Errorf("%s has it, %v, %s: %s, %v; want %s", c.held, c.batches, sale, got, err, want)
				}
			}
			x.book("early: 2025-02-01 in " + c.held + " 1 500.00") // it is the one that moves now
			consumes("sale: 2025-03-06 out "+c.held+" 1 3000.00", "1 for 500.00 gain 2500.00")
			consumes("rest: 2025-03-07 out "+c.held+" 1 3000.00", "1 for 1000.00 gain 2000.00")
		})
	}
}

// late is what the tests of faults add: a replay that changes a sale and a move.
func (x *fixture) prepareFaults() map[string]string {
	x.Helper()
	x.book("first: 2025-03-01 in A 2 3000.00", "sale: 2025-03-10 out A 1 2000.00", "move: 2025-03-11 move A B 1 2000.00")
	return x.stored()
}

const lateEntry = "late: 2025-02-01 in A 1 1000.00"

func TestAStatementThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		before := x.prepareFaults()
		for _, table := range tables {
			err := x.write(func(ctx context.Context, tx *db.Tx) error {
				b, err := snapshot.Read(ctx, tx)
				if err != nil {
					return err
				}
				if _, err := tx.SQL().ExecContext(ctx, "ALTER TABLE "+table+" RENAME TO "+table+"_elsewhere"); err != nil {
					return err
				}
				r := replay.New(tx, b, x.load, replay.Options{})
				name, text, _ := strings.Cut(lateEntry, ": ")
				x.effects[name] = x.effect(b, name, text)
				r.Add(name, x.effects[name])
				outcome, err := r.Run(ctx)
				if err != nil {
					return err
				}
				return x.store(ctx, tx, outcome)
			})
			if err == nil || fault.Refused(err) {
				t.Errorf("without %s it answers %v", table, err)
			}
			if !maps.Equal(before, x.stored()) {
				t.Errorf("without %s something was written", table)
			}
		}
		x.book(lateEntry)
	})
}

func TestEffectsThatCannotBeLoadedEndTheReplay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		before := x.prepareFaults()
		broken := errors.New("the disk is gone")
		for want, load := range map[string]replay.Loader{
			"the disk is gone":     func(context.Context, *db.Tx, []string) (map[string]replay.Effect, error) { return nil, broken },
			"no booking is stored": func(context.Context, *db.Tx, []string) (map[string]replay.Effect, error) { return nil, nil },
		} {
			o, err := x.run(load, replay.Options{}, x.store, lateEntry)
			if err == nil || !strings.Contains(err.Error(), want) || len(o.Added)+len(o.Refused) != 0 {
				t.Errorf("answers %v, %+v; want %s", err, o, want)
			}
			if !maps.Equal(before, x.stored()) {
				t.Error("something was written")
			}
		}
	})
}

func TestLotsThatAreMissingFromTheTableEndTheReplay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		x.book("first: 2025-03-01 in A 2 3000.00", "sale: 2025-03-10 out A 1 2000.00")
		x.mustWrite(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "DELETE FROM lots WHERE organization_id = @org")
			return err
		})
		before := x.stored()
		_, err := x.run(x.load, replay.Options{}, x.store, "more: 2025-03-12 out A 1 2000.00")
		if err == nil || fault.Refused(err) || !strings.Contains(err.Error(), "has no lots") {
			t.Errorf("answers %v", err)
		}
		if !maps.Equal(before, x.stored()) {
			t.Error("something was written")
		}
	})
}

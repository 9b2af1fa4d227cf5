package booking_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// operation is a transaction, or a transfer, and how it is booked.
type operation struct {
	at, later    time.Time // when it left, and when it arrived
	source, to   string    // to is empty where it is no pair
	quantity     int       // in quarters
	in           bool
	asset        string
	worth        int // in cents
	fee          bool
	kind, target string
}

// randomOperation returns a random operation. Plain ones are those that the model supports.
func randomOperation(r *rapid.T, plain bool) operation {
	n := rapid.IntRange(1, 8).Draw(r, "quarters")
	s := operation{source: pick(r, "source", "A", "A", "B"), quantity: n, worth: n*rapid.IntRange(1, 40).Draw(r, "price")*2500 +
		rapid.IntRange(0, 3).Draw(r, "cents"), asset: pick(r, "asset", "ETH", "ETH", "USDC")}
	s.at = time.Date(2025, 1, 1+5*rapid.IntRange(0, 24).Draw(r, "day"), 12, 0, 0, 0, time.UTC)
	s.later = s.at.Add(5 * time.Minute)
	switch pick(r, "what", "in", "in", "in", "out", "out", "move") {
	case "in":
		s.in, s.kind, s.target = true, "SWAP", "Bank"
	case "out":
		s.kind, s.target = "EXPENSE", "Contractors"
		s.fee = rapid.IntRange(0, 3).Draw(r, "fee") == 0
	case "move":
		s.to, s.kind = "B", "INTERNAL TRANSFER"
		if s.source == "B" {
			s.to = "A"
		}
		if plain {
			break
		}
		s.later = pick(r, "later", s.later, s.at, s.at.Add(-5*time.Minute), s.at.Add(240*time.Hour))
		switch pick(r, "move", "internal", "internal", "intercompany", "convert", "swap") {
		case "intercompany":
			s.to, s.kind = "SubA", "INTERCOMPANY TRANSFER"
		case "convert":
			s.to, s.kind = s.source, "NON_TAXABLE_CONVERSION"
		case "swap":
			s.to, s.kind = s.source, "SWAP"
		}
	}
	return s
}

func cents(n int) money.Decimal { return money.FromInt(int64(n)).Quo(money.FromInt(100), 2) }

// addOperation adds the transactions of an operation, and returns the parameters to book it.
func (w *world) addOperation(s operation) booking.Params {
	way := "out"
	if s.in {
		way = "in"
	}
	text := fmt.Sprintf("%s %s %s %s = %s", s.source, way, quarters(s.quantity), s.asset, cents(s.worth))
	if s.fee {
		text += fmt.Sprintf(" fee %s (0.01)", cents(s.worth/10))
	}
	t := w.add(s.at.Format(time.RFC3339), text)
	if s.to != "" {
		asset := s.asset
		if s.to == s.source {
			asset = "ST" + asset
		}
		w.link(t, w.add(s.later.Format(time.RFC3339), fmt.Sprintf("%s in %s %s = %s", s.to, quarters(s.quantity), asset, cents(s.worth))))
	}
	return booking.Params{TransactionID: t.ID, Type: s.kind, LedgerAccountID: w.accountID(s.target), AutoPost: true}
}

// balances returns the balances of accounts. For a pool over several sources it returns the sum of their accounts.
func (w *world) balances(wide bool) (out []string) {
	w.Helper()
	sums := map[string]money.Decimal{}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		for _, whose := range []string{w.us, w.sub} {
			rows, err := db.All[struct {
				Account string        `db:"ledger_account_id"`
				Debits  money.Decimal `db:"debits"`
				Credits money.Decimal `db:"credits"`
			}](ctx, tx, "SELECT ledger_account_id, debits, credits FROM account_balances WHERE organization_id = @org AND legal_entity_id "+
				"= ? AND tag_id = ''", whose)
			if err != nil {
				return err
			}
			for _, r := range rows {
				name := w.names[r.Account]
				if wide && w.accounts[r.Account].Type == account.Asset && name != "Bank" {
					name = "what is held"
				}
				name = fmt.Sprint(whose == w.us, " ", name)
				sums[name] = sums[name].Add(r.Debits).Sub(r.Credits)
			}
		}
		return nil
	})
	for name, sum := range sums {
		if !sum.IsZero() {
			out = append(out, name+" "+sum.String())
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) spelledPairs() (out []string) {
	for _, p := range w.pairs() {
		out = append(out, p.String())
	}
	slices.Sort(out)
	return out
}

// In whatever order operations are booked, lots, realized gains and balances are those of the order in which they happened.
func TestSoakTheOrderOfBookingDoesNotMatter(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(today)
		c.Clock = now
		d := dbtest.Open(t, c)
		rapid.Check(t, func(r *rapid.T) {
			plain := rapid.Bool().Draw(r, "plain")
			policy := entity.CreateParams{CostBasisMethod: pick(r, "method", entity.Methods[:5]...), ShortDisposal: entity.ShortAtZeroBasis,
				CostBasisScope: pick(r, "scope", entity.ScopeSource, entity.ScopeSource, entity.ScopeLegalEntity)}
			if plain {
				policy.CostBasisScope = entity.ScopeSource
			}
			all := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) operation { return randomOperation(r, plain) }), 2, 14).Draw(r, "what happens")
			w := newWorld(t.Context(), r, d, now)
			atOnce, late := w.newEntities(r, policy, policy), w.newEntities(r, policy, policy)
			var batch, singly []booking.Params
			for _, s := range all {
				batch, singly = append(batch, atOnce.addOperation(s)), append(singly, late.addOperation(s))
			}
			if _, err := atOnce.bookings.Create(w.ctx, batch, noPrefix); err != nil {
				r.Skip("it cannot happen: ", err)
			}
			for _, p := range rapid.Permutation(singly).Draw(r, "order") {
				if _, err := late.bookings.Create(w.ctx, []booking.Params{p}, noPrefix); err != nil {
					r.Log(err)
					r.Fatal("one by one it was refused")
				}
			}
			late.verifyBooks()
			wide := policy.CostBasisScope == entity.ScopeLegalEntity
			for what, of := range map[string]func(*world) string{
				"lots": (*world).lots, "realized": func(w *world) string {
					return strings.Join(w.spelledPairs(), "\n")
				}, "balances": func(w *world) string { return strings.Join(w.balances(wide), "\n") },
			} {
				if a, b := of(atOnce), of(late); a != b {
					r.Logf("%s at once\n%s\nin another order\n%s", what, a, b)
					r.Fatal("the order matters")
				}
			}
			if plain {
				late.expectModel(policy, all)
			}
		})
	})
}

// expectModel compares the pools with a model: rules/lot, applied to all operations in order.
func (w *world) expectModel(policy entity.CreateParams, all []operation) {
	w.Helper()
	type happening struct {
		lot.Event
		pool, to string
	}
	var events []happening
	for i, s := range all {
		q, worth := money.MustParse(quarters(s.quantity)), cents(s.worth)
		h := happening{pool: s.source + " " + s.asset}
		h.At, h.Sequence, h.ID, h.Quantity = s.at, int64(i), fmt.Sprint("event ", i), q
		switch {
		case s.in:
			h.Kind, h.Basis = lot.Acquire, worth
		case s.to != "":
			h.Kind, h.to = lot.Move, s.to+" "+s.asset
		default:
			h.Kind, h.Proceeds = lot.Dispose, worth
		}
		if s.fee {
			fee := h
			fee.Kind, fee.Principal, fee.Quantity, fee.Proceeds = lot.Fee, lot.Dispose, money.MustParse("0.01"), cents(s.worth/10)
			h.Quantity, h.Proceeds = q.Sub(fee.Quantity), worth.Sub(fee.Proceeds)
			events = append(events, fee)
		}
		if events = append(events, h); s.to != "" {
			h.Kind, h.At = lot.Arrive, s.later
			events = append(events, h)
		}
	}
	slices.SortFunc(events, func(a, b happening) int { return lot.Compare(a.Place, b.Place) })
	pools, slicesOf, gains := map[string]*lot.Pool{}, map[string][]lot.Slice{}, money.Decimal{}
	pool := func(name string) *lot.Pool {
		if pools[name] == nil {
			pools[name] = lot.New(lot.Config{Elections: []lot.Election{{Method: lot.Method(policy.CostBasisMethod)}}, Places: 2, ZeroBasis: true})
		}
		return pools[name]
	}
	for _, h := range events {
		name := h.pool
		if h.Kind == lot.Arrive {
			name, h.Slices = h.to, slicesOf[h.ID]
		}
		result, err := pool(name).Apply(&h.Event)
		if err != nil {
			w.Fatal(err)
		}
		for _, u := range result.Uses {
			gains = gains.Add(u.Gain)
		}
		if h.Kind == lot.Move {
			for _, u := range result.Uses {
				s := lot.Slice{Quantity: u.Quantity, Basis: u.Basis, AcquiredAt: u.AcquiredAt}
				if u.Lot == "" {
					s.AcquiredAt = h.At
				}
				slicesOf[h.ID] = append(slicesOf[h.ID], s)
			}
		}
	}
	var want, got []string
	for name, p := range pools {
		if !p.Quantity().IsZero() {
			want = append(want, fmt.Sprint(name, " ", p.Quantity(), " ", p.Basis()))
		}
	}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[struct {
			Account  string        `db:"ledger_account_id"`
			Asset    string        `db:"asset_type"`
			Quantity money.Decimal `db:"quantity"`
			Basis    money.Decimal `db:"basis"`
		}](ctx, tx, `SELECT s.ledger_account_id, p.asset_type, p.quantity, p.basis FROM lot_pools p JOIN sources s ON s.organization_id =
			p.organization_id AND s.source_id = p.source_id
			WHERE p.organization_id = @org AND p.legal_entity_id = ?`, w.us)
		for _, r := range rows {
			if !r.Quantity.IsZero() {
				got = append(got, fmt.Sprint(w.names[r.Account], " ", r.Asset, " ", r.Quantity, " ", r.Basis))
			}
		}
		return err
	})
	slices.Sort(want)
	slices.Sort(got)
	var realized money.Decimal
	for _, p := range w.pairs() {
		realized = realized.Add(p.Gain)
	}
	if !slices.Equal(want, got) || !realized.Equal(gains) {
		w.Logf("pools\n%s\nrealized %s, the model says\n%s\nrealized %s", strings.Join(got, "; "), realized, strings.Join(want, "; "), gains)
		w.Fatal("the model says something else")
	}
}

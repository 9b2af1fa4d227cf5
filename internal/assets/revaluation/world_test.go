package revaluation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	rules "github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// world is an organization whose entries are real, and whose lots are written beside them as posting would leave them.
type world struct {
	t       *testing.T
	d       *db.DB
	ctx     context.Context
	org     string
	entity  string
	s       *revaluation.Service
	journal *journal.Service
	lots    map[string]*lot
	uses    int
}

type lot struct {
	entity, asset, token, acquired string
	quantity, basis                money.Decimal // what is left
}

// each runs a test in a world whose legal entity measures as it is told: "us_gaap fair_value".
func each(t *testing.T, policy string, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "Acme", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID})
		entries := journal.NewService(d)
		w := &world{t: t, d: d, ctx: ctx, org: f.Organization.ID, entity: f.LegalEntity.ID, s: revaluation.NewService(d, entries),
			journal: entries, lots: map[string]*lot{}}
		w.measures(policy)
		test(t, w)
		w.verify()
	})
}

// measures sets how the legal entity measures.
func (w *world) measures(policy string) {
	w.t.Helper()
	framework, measurement, _ := strings.Cut(policy, " ")
	if _, err := entity.NewService(w.d).Update(w.ctx, w.entity, entity.UpdateParams{Framework: &framework,
		Measurement: &measurement}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(fn db.Func) {
	w.t.Helper()
	err := w.d.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded() // what is written here nobody did
		return fn(ctx, tx)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(fn db.Func) {
	w.t.Helper()
	if err := w.d.Read(w.ctx, w.org, fn); err != nil {
		w.t.Fatal(err)
	}
}

// verify verifies the runs, the journal, the accounts, the prices and the legal entities.
func (w *world) verify() {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		for _, check := range []func(context.Context, *db.Tx) ([]string, error){revaluation.Verify, journal.Verify, account.Verify,
			price.Verify, entity.Verify} {
			found, err := check(ctx, tx)
			if len(found) > 0 || err != nil {
				w.t.Errorf("%q %v", found, err)
			}
		}
		// What things cost is never touched.
		lines, err := db.All[string](ctx, tx,
			`SELECT e.journal_entry_id FROM journal_entries e JOIN journal_lines l ON l.organization_id = @org AND l.journal_entry_id =
				e.journal_entry_id
			JOIN ledger_accounts a ON a.organization_id = @org AND a.ledger_account_id = l.ledger_account_id AND a.code = '1210'
			WHERE e.organization_id = @org AND e.originated_by = 'revaluation'`)
		if err != nil || len(lines) > 0 {
			w.t.Errorf("on the cost account: %q %v", lines, err)
		}
		return nil
	})
}

func dec(text string) money.Decimal { return money.MustParse(text) }

func day(date string) time.Time {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	return at
}

// account finds an account by its code, or by its role.
func (w *world) account(name string) (a account.Account) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		if a, err = account.ByCode(ctx, tx, name); fault.KindOf(err) == fault.NotFound {
			a, err = account.ByRole(ctx, tx, name)
		}
		return err
	})
	return a
}

// post books lines such as "1210 +3000", "3010 -3000 EUR" and "2220 -20000 10 ETH", which is 20000 for 10 ETH; a plus is a debit.
func (w *world) post(date string, lines ...string) string {
	w.t.Helper()
	p := journal.CreateParams{LegalEntityID: w.entity, AccountingDate: date, Status: journal.Posted, OriginatedBy: journal.ByHand}
	for _, line := range lines {
		f := strings.Fields(line)
		side, amount := book.Debit, strings.TrimPrefix(f[1], "+")
		if rest, credit := strings.CutPrefix(f[1], "-"); credit {
			side, amount = book.Credit, rest
		}
		if dec(amount).IsZero() {
			continue
		}
		l := journal.LineParams{LedgerAccountID: w.account(f[0]).ID, Side: side, Amount: amount}
		switch len(f) {
		case 3:
			l.Currency = f[2]
		case 4:
			l.Quantity, l.Unit = new(dec(f[2])), f[3]
		}
		p.Lines = append(p.Lines, l)
	}
	e, err := w.journal.Create(w.ctx, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return e.ID
}

// period finds a month by its key.
func (w *world) period(key string) (out period.Period) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		all, err := period.All(ctx, tx)
		for _, p := range all {
			if p.Key == key {
				out = p
			}
		}
		return err
	})
	if out.ID == "" {
		w.t.Fatalf("there is no %s", key)
	}
	return out
}

// buy adds a lot: "L1 ETH 2025-01-10 2 3000".
func (w *world) buy(notation string) {
	w.t.Helper()
	f := strings.Fields(notation)
	entry := w.post(f[2], "1210 +"+f[4], "3010 -"+f[4])
	w.add(f[0], "", f[1], f[2], f[2], dec(f[3]), dec(f[4]), entry)
}

// add stores a lot that an entry created.
func (w *world) add(name, parent, asset, acquired, entered string, quantity, basis money.Decimal, entry string) {
	w.t.Helper()
	asset, token, _ := strings.Cut(asset, "#")
	w.lots[name] = &lot{entity: w.entity, asset: asset, token: token, acquired: acquired, quantity: quantity, basis: basis}
	at, key := w.account("1210").ID, string((&rules.Place{At: day(entered), Kind: rules.Acquire, ID: name}).OrderKey())
	w.write(func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO lots (organization_id, asset_id, pool, order_key, seq, legal_entity_id, source_id,
			ledger_account_id, asset_type, token_id, acquired_at, quantity,
			remaining_quantity, cost_basis, remaining_basis, currency, unit_key, is_open, origin, parent_asset_id, journal_entry_id,
			basis_pending, provisional, created_at)
			VALUES (@org, ?, ?, ?, 0, ?, 'src', ?, ?, ?, ?, ?, ?, ?, ?, 'USD', '', TRUE, 'transaction', ?, ?, FALSE, FALSE, ?)`,
			"ast_"+name, asset, key, w.entity, at, asset, db.OrNull(token), day(acquired), quantity, quantity, basis, basis,
			db.OrNull(parent), entry, tx.Now())
		if err != nil {
			return err
		}
		return w.position(ctx, tx, at, asset, token, entered, quantity, basis)
	})
}

func (w *world) position(ctx context.Context, tx *db.Tx, at, asset, token, date string, quantity, basis money.Decimal) error {
	_, err := tx.Exec(ctx, `INSERT INTO lot_positions (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type,
		chain, token_id, accounting_period_id, quantity, basis,
		added_quantity, added_basis, lot_count) VALUES (@org, ?, 'src', ?, ?, '', ?, ?, ?, ?, '0', '0', 0)
		ON CONFLICT (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, accounting_period_id)
		DO UPDATE SET quantity = {dec_add}(lot_positions.quantity, excluded.quantity), basis = {dec_add}(lot_positions.basis, excluded.basis)`,
		w.entity, at, asset, token, w.period(date[:7]).ID, quantity, basis)
	return err
}

// consume stores a use of a lot.
func (w *world) consume(name, kind, date string, quantity money.Decimal, entry string, basis money.Decimal) {
	w.t.Helper()
	l := w.lots[name]
	l.quantity, l.basis = l.quantity.Sub(quantity), l.basis.Sub(basis)
	w.uses++
	at := w.account("1210").ID
	w.write(func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO lot_uses (organization_id, use_id, pool, order_key, position, asset_id, kind, is_correction,
			journal_entry_id, transaction_type, legal_entity_id, source_id,
			ledger_account_id, asset_type, accounting_date, accounting_period_id, quantity, basis, proceeds, fee, gain, currency,
			acquired_at, disposed_at, days_held, term, method, lot_count)
			VALUES (@org, ?, ?, ?, 0, ?, ?, FALSE, ?, 'SALE', ?, 'src', ?, ?, ?, ?, ?, ?, '0', '0', '0', 'USD', ?, ?, 1, 'short', 'fifo', 0)`,
			fmt.Sprintf("use_%04d", w.uses), l.asset, fmt.Sprintf("%04d", w.uses), "ast_"+
				name, kind, entry, w.entity, at, l.asset, day(date), w.period(date[:7]).ID, quantity, basis,
			day(l.acquired), day(date))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE lots SET remaining_quantity = ?, remaining_basis = ?, is_open = ? WHERE organization_id = "+
			"@org AND asset_id = ?",
			l.quantity, l.basis, !l.quantity.IsZero(), "ast_"+name); err != nil {
			return err
		}
		return w.position(ctx, tx, at, l.asset, l.token, date, quantity.Neg(), basis.Neg())
	})
}

func (l *lot) share(quantity money.Decimal) money.Decimal {
	return l.basis.Mul(quantity).Quo(l.quantity, 2)
}

// sell disposes of a part of a lot, with its gain booked against cost: "L1 2025-10-05 0.5 1250".
func (w *world) sell(notation string) {
	w.t.Helper()
	f := strings.Fields(notation)
	quantity, proceeds := dec(f[2]), dec(f[3])
	basis := w.lots[f[0]].share(quantity)
	lines := []string{"1010 +" + f[3], "1210 -" + basis.String()}
	if gain := proceeds.Sub(basis); gain.Sign() >= 0 {
		lines = append(lines, "4510 -"+gain.String())
	} else {
		lines = append(lines, "7010 +"+gain.Neg().String())
	}
	w.consume(f[0], "dispose", f[1], quantity, w.post(f[1], lines...), basis)
}

// convert moves or converts a part of a lot to another lot: "L1 2025-10-05 1 M1 WETH 1000".
func (w *world) convert(notation string) {
	w.t.Helper()
	f := strings.Fields(notation)
	l := w.lots[f[0]]
	kind, quantity := "move", dec(f[2])
	if f[4] != l.asset {
		kind = "convert"
	}
	basis := l.share(quantity)
	entry := w.post(f[1], "1210 +"+basis.String(), "1210 -"+basis.String())
	w.consume(f[0], kind, f[1], quantity, entry, basis)
	w.add(f[3], "ast_"+f[0], f[4], l.acquired, f[1], dec(f[5]), basis, entry)
}

// price stores a price: "ETH 2025-09-30T12:00:00Z 2450".
func (w *world) price(notation string) string {
	w.t.Helper()
	f := strings.Fields(notation)
	p, err := price.NewService(w.d).Create(w.ctx, price.Params{AssetType: f[0], Currency: "USD", Timestamp: f[1], Price: f[2]})
	if err != nil {
		w.t.Fatal(err)
	}
	return p.ID
}

// closing stores the price of a month's last day, or, of a currency, the rate.
func (w *world) closing(unit, key, value string) {
	w.t.Helper()
	last := w.period(key).End.Add(-time.Hour)
	if !money.IsFiat(unit) {
		w.price(unit + " " + last.Format(time.RFC3339) + " " + value)
		return
	}
	w.rate(unit, last.Format(time.DateOnly), value)
}

func (w *world) rate(unit, date, value string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		_, err := fx.Store(ctx, tx, []fx.Quotation{{Base: unit, Quote: "USD", Date: date, Rate: dec(value), Source: "ECB"}})
		return err
	})
}

// foreign books foreign money at a rate, against capital: "1010 2025-09-05 EUR 10000 1.08".
func (w *world) foreign(notation string) {
	w.t.Helper()
	f := strings.Fields(notation)
	w.rate(f[2], f[1], f[4])
	sign, other, amount := "+", "-", strings.TrimPrefix(f[3], "-")
	if strings.HasPrefix(f[3], "-") {
		sign, other = "-", "+"
	}
	w.post(f[1], f[0]+" "+sign+amount+" "+f[2], "3010 "+other+amount+" "+f[2])
}

// try runs a month.
func (w *world) try(key string, change func(*revaluation.RunParams)) (revaluation.Run, error) {
	w.t.Helper()
	p := revaluation.RunParams{PeriodID: w.period(key).ID}
	if change != nil {
		change(&p)
	}
	r, err := w.s.Run(w.ctx, p)
	w.expectExplained(r)
	return r, err
}

// expectExplained fails unless the rows of a run add up to what its entries book.
func (w *world) expectExplained(r revaluation.Run) {
	w.t.Helper()
	for _, i := range r.Items {
		var before, after, booked money.Decimal
		for _, row := range r.Rows {
			if row.Kind == i.Kind && row.Unit == i.Unit && row.LegalEntityID == i.LegalEntityID {
				before, after = before.Add(row.Before), after.Add(row.After)
			}
		}
		for _, l := range i.Lines {
			if l.Role == "" || strings.Contains(l.Role, ":") { // a balance that is measured, or an adjustment account
				amount := l.Amount
				if l.Side == book.Credit {
					amount = amount.Neg()
				}
				booked = booked.Add(amount)
			}
		}
		if !before.Equal(i.Before) || !after.Equal(i.After) || !after.Sub(before).Equal(booked) {
			w.t.Errorf("%s of %s, %s: the rows explain %s to %s, the entry books %s to %s by %s", i.Kind, i.Unit, r.PeriodKey, before, after,
				i.Before, i.After, booked)
		}
	}
}

// run runs a month and gives what it did: "ETH fair_value 2000 to 3250: posted".
func (w *world) run(key string) string {
	w.t.Helper()
	r, err := w.try(key, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return told(r)
}

func told(r revaluation.Run) string {
	var out []string
	for _, i := range r.Items {
		out = append(out, fmt.Sprintf("%s %s %s to %s: %s", i.Unit, i.Kind, i.Before, i.After, i.Outcome))
	}
	return strings.Join(out, ", ")
}

// moved gives what a month did to accounts that a run posts to, and to what disposals realized, by role: a gain is more than zero.
func (w *world) moved(key string) string {
	w.t.Helper()
	var out []string
	w.read(func(ctx context.Context, tx *db.Tx) error {
		type row struct {
			Role    string        `db:"role"`
			Debits  money.Decimal `db:"debits"`
			Credits money.Decimal `db:"credits"`
		}
		rows, err := db.All[row](ctx, tx, `SELECT a.role, b.debits, b.credits FROM account_balances b
			JOIN ledger_accounts a ON a.organization_id = @org AND a.ledger_account_id = b.ledger_account_id AND a.role IS NOT NULL
			WHERE b.organization_id = @org AND b.tag_id = '' AND b.accounting_period_id = ? ORDER BY a.role`, w.period(key).ID)
		for _, r := range rows {
			net := r.Credits.Sub(r.Debits)
			if strings.Contains(r.Role, ":") {
				net = net.Neg()
			}
			if !net.IsZero() {
				out = append(out, r.Role+" "+net.String())
			}
		}
		return err
	})
	return strings.Join(out, ", ")
}

// say fails unless a text is what it should be.
func (w *world) say(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// entries counts the entries that runs made and that nobody has reversed.
func (w *world) entries() (n int) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		ids, err := db.All[string](ctx, tx,
			"SELECT journal_entry_id FROM journal_entries WHERE organization_id = @org AND originated_by = 'revaluation' AND next_entry_id IS NULL")
		n = len(ids)
		return err
	})
	return n
}

// counts tells how much there is of everything a run could write.
func (w *world) counts() (out []int64) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		for _, table := range []string{"journal_entries", "ledger_accounts", "revaluations", "revaluation_items", "audit_log"} {
			n, err := db.One[int64](ctx, tx, "count", "SELECT count(*) FROM "+table+" WHERE organization_id = @org")
			if err != nil {
				return err
			}
			out = append(out, n)
		}
		return nil
	})
	return slices.Clip(out)
}

package holdings_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// world is an organization with lots, written as the books would leave them.
type world struct {
	t      *testing.T
	d      *db.DB
	ctx    context.Context
	org    string
	entity string
	lots   []*lotIn
	uses   []*useIn
}

type lotIn struct {
	name, entity, source, account, asset, chain, token, pool string
	acquired, entered                                        string // dates
	quantity, basis                                          string
	remaining, left                                          money.Decimal
	parent                                                   string
	id                                                       string
}

type useIn struct {
	lot, kind, date, quantity, basis, proceeds, fee, term string
	correction                                            bool
	entry                                                 string
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "Acme", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
		test(t, &world{t: t, d: d, ctx: ctx, org: f.Organization.ID, entity: f.LegalEntity.ID})
	})
}

func (w *world) read(fn db.Func) {
	w.t.Helper()
	if err := w.d.Read(w.ctx, w.org, fn); err != nil {
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

func day(date string) time.Time {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	return at
}

// lot reads the notation "L1 A ETH 2025-01-10 2 3000 [entered]": name, source, asset, acquired, quantity, basis.
func (w *world) lot(notation string) *lotIn {
	f := strings.Fields(notation)
	l := &lotIn{name: f[0], entity: w.entity, source: f[1], account: "lac_" + f[1] + f[2], asset: f[2], acquired: f[3], entered: f[3],
		quantity: f[4], basis: f[5]}
	if len(f) > 6 {
		l.entered = f[6]
	}
	l.id, l.pool = "ast_"+l.name, l.entity+" "+l.source+" "+l.asset
	w.lots = append(w.lots, l)
	return l
}

// use reads the notation "L1 dispose 2025-09-15 1 1500 2400 [fee] [term]": lot, kind, date, quantity, basis,
// proceeds. A kind that ends with * is a correction.
func (w *world) use(notation string) *useIn {
	f := strings.Fields(notation)
	u := &useIn{lot: f[0], kind: strings.TrimSuffix(f[1], "*"), date: f[2], quantity: f[3], basis: f[4], proceeds: f[5], fee: "0",
		term: "short", correction: strings.HasSuffix(f[1], "*")}
	if len(f) > 6 {
		u.fee = f[6]
	}
	if len(f) > 7 {
		u.term = f[7]
	}
	w.uses = append(w.uses, u)
	return u
}

func (w *world) find(name string) *lotIn {
	return w.lots[slices.IndexFunc(w.lots, func(l *lotIn) bool { return l.name == name })]
}

// book writes lots and uses with all that restates them.
func (w *world) book() {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		var months []calendar.Month
		for _, l := range w.lots {
			months = append(months, calendar.MonthOf(day(l.entered), time.UTC))
		}
		for _, u := range w.uses {
			months = append(months, calendar.MonthOf(day(u.date), time.UTC))
		}
		periods, err := period.Ensure(ctx, tx, months...)
		if err != nil {
			return err
		}
		ids := map[string]string{}
		for _, p := range periods {
			ids[p.Key] = p.ID
		}
		b := booking{w: w, ctx: ctx, tx: tx, periods: ids, positions: map[[7]string][4]money.Decimal{}, held: map[[7]string]int64{},
			gains: map[[4]string][7]money.Decimal{}}
		return b.all()
	})
}

type booking struct {
	w         *world
	ctx       context.Context
	tx        *db.Tx
	number    int64
	periods   map[string]string
	positions map[[7]string][4]money.Decimal
	held      map[[7]string]int64
	gains     map[[4]string][7]money.Decimal
}

func dec(text string) money.Decimal { return money.MustParse(text) }

func (b *booking) all() error {
	for _, l := range b.w.lots {
		l.remaining, l.left = dec(l.quantity), dec(l.basis)
	}
	for _, step := range []func() error{b.writeUses, b.writeLots, b.writeTotals} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (b *booking) entry(date, entity string) (string, error) {
	entryID := b.tx.NewID(id.JournalEntry)
	b.number++
	_, err := b.tx.Exec(b.ctx, `INSERT INTO journal_entries (organization_id, journal_entry_id, number, status, originated_by,
		legal_entity_id, legal_entity_auto_assigned, accounting_date,
		period_auto_reassigned, accounting_period_id, classification, tag_ids, search, created_at, updated_at) VALUES (@org, ?, ?,
		'posted', 'user', ?, FALSE, ?, FALSE, ?, 'x', '[]', '', ?, ?)`,
		entryID, b.number+1_000_000, entity, day(date), b.periods[date[:7]], b.tx.Now(), b.tx.Now())
	return entryID, err
}

func (b *booking) move(l *lotIn, date string, quantity, basis money.Decimal, added bool, lots int64) {
	k := [7]string{l.entity, l.source, l.account, l.asset, l.chain, l.token, b.periods[date[:7]]}
	p := b.positions[k]
	p[0], p[1] = p[0].Add(quantity), p[1].Add(basis)
	if added {
		p[2], p[3] = p[2].Add(quantity), p[3].Add(basis)
	}
	b.positions[k] = p
	b.held[k] += lots
}

func (b *booking) writeUses() error {
	for i, u := range b.w.uses {
		l := b.w.find(u.lot)
		quantity, basis, proceeds, fee := dec(u.quantity), dec(u.basis), dec(u.proceeds), dec(u.fee)
		was := l.remaining.Sign()
		l.remaining, l.left = l.remaining.Sub(quantity), l.left.Sub(basis)
		gone := int64(l.remaining.Sign() - was)
		b.move(l, u.date, quantity.Neg(), basis.Neg(), false, gone)
		entryID, err := b.entry(u.date, l.entity)
		if err != nil {
			return err
		}
		u.entry = entryID
		gain := money.Decimal{}
		if u.kind == "dispose" || u.kind == "fee" {
			gain = proceeds.Sub(basis)
			b.gain(l, u, quantity, proceeds, fee, basis, gain)
		}
		held := day(u.date).Sub(day(l.acquired))
		if _, err := b.tx.Exec(b.ctx, `INSERT INTO lot_uses (organization_id, use_id, pool, order_key, position, asset_id, kind,
			is_correction, journal_entry_id, transaction_type, legal_entity_id, source_id,
			ledger_account_id, chain, token_id, lot_count, asset_type, accounting_date, accounting_period_id, quantity, basis, proceeds,
			fee, gain, currency, acquired_at, disposed_at, days_held, term, method)
			VALUES (@org, ?, ?, ?, 0, ?, ?, ?, ?, 'SALE', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'USD', ?, ?, ?, ?, 'fifo')`,
			fmt.Sprintf("use_%04d", i), l.pool, fmt.Sprintf("%04d",
				i), l.id, u.kind, u.correction, entryID, l.entity, db.OrNull(l.source), l.account, db.OrNull(l.chain), db.OrNull(l.token), gone,
			l.asset, day(u.date), b.periods[u.date[:7]], quantity, basis, proceeds, fee, gain, day(l.acquired), day(u.date),
			int64(held/(24*time.Hour)), u.term); err != nil {
			return err
		}
	}
	return nil
}

func (b *booking) gain(l *lotIn, u *useIn, quantity, proceeds, fee, basis, gain money.Decimal) {
	k := [4]string{l.entity, l.asset, l.source, b.periods[u.date[:7]]}
	g := b.gains[k]
	g[0], g[1], g[2], g[3] = g[0].Add(quantity), g[1].Add(proceeds), g[2].Add(fee), g[3].Add(basis)
	if gain.Sign() >= 0 {
		g[4] = g[4].Add(gain)
	} else {
		g[5] = g[5].Add(gain.Neg())
	}
	if u.term == "short" {
		g[6] = g[6].Add(gain)
	}
	b.gains[k] = g
}

func (b *booking) writeLots() error {
	for i, l := range b.w.lots {
		b.move(l, l.entered, dec(l.quantity), dec(l.basis), l.parent == "", 1)
		entryID, err := b.entry(l.entered, l.entity)
		if err != nil {
			return err
		}
		emptied, node := b.lifetime(l)
		origin := "transaction"
		if l.parent != "" {
			origin = "move"
		}
		if _, err := b.tx.Exec(b.ctx, `INSERT INTO lots (organization_id, asset_id, pool, order_key, seq, legal_entity_id, source_id,
			ledger_account_id, asset_type, chain, token_id, acquired_at, quantity,
			remaining_quantity, cost_basis, remaining_basis, currency, unit_key, is_open, origin, parent_asset_id, journal_entry_id,
			basis_pending, provisional, created_at, emptied_at, interval_node)
			VALUES (@org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'USD', '', ?, ?, ?, ?, FALSE, FALSE, ?, ?, ?)`,
			l.id, l.pool, fmt.Sprintf("%04d", i), int64(i), l.entity, db.OrNull(l.source), l.account, l.asset, db.OrNull(l.chain), db.OrNull(
				l.token), day(l.acquired), dec(l.quantity),
			l.remaining, dec(l.basis), l.left, !l.remaining.IsZero(), origin, db.OrNull(l.parent), entryID, b.tx.Now(), emptied, node); err != nil {
			return err
		}
	}
	return nil
}

// lifetime returns when a lot was emptied, and its interval node.
func (b *booking) lifetime(l *lotIn) (*time.Time, int64) {
	if !l.remaining.IsZero() {
		return nil, 0
	}
	last := l.entered
	for _, u := range b.w.uses {
		if u.lot == l.name {
			last = max(last, u.date)
		}
	}
	at := day(last)
	return &at, calendar.IntervalNode(day(l.entered), at)
}

func (b *booking) writeTotals() error {
	for k, p := range b.positions {
		if _, err := b.tx.Exec(b.ctx, `INSERT INTO lot_positions (organization_id, legal_entity_id, source_id, ledger_account_id,
			asset_type, chain, token_id, accounting_period_id,
			quantity, basis, added_quantity, added_basis, lot_count) VALUES (@org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			k[0], k[1], k[2], k[3], k[4], k[5], k[6], p[0], p[1], p[2], p[3], b.held[k]); err != nil {
			return err
		}
	}
	for k, g := range b.gains {
		net := g[4].Sub(g[5])
		if _, err := b.tx.Exec(b.ctx, `INSERT INTO lot_gains (organization_id, legal_entity_id, asset_type, source_id,
			accounting_period_id, quantity, proceeds, fee, basis, gain, loss, short_term, long_term)
			VALUES (@org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, k[0], k[1], k[2], k[3], g[0], g[1], g[2], g[3], g[4], g[5], g[6],
			net.Sub(g[6])); err != nil {
			return err
		}
	}
	pools := map[string][2]money.Decimal{}
	first := map[string]*lotIn{}
	for _, l := range b.w.lots {
		p := pools[l.pool]
		pools[l.pool] = [2]money.Decimal{p[0].Add(l.remaining), p[1].Add(l.left)}
		first[l.pool] = l
	}
	for name, p := range pools {
		l := first[name]
		if _, err := b.tx.Exec(b.ctx, `INSERT INTO lot_pools (organization_id, pool, legal_entity_id, source_id, asset_type, chain,
			currency, quantity, basis, seq, last_order_key)
			VALUES (@org, ?, ?, ?, ?, ?, 'USD', ?, ?, 0, '')`, name, l.entity, db.OrNull(l.source), l.asset, db.OrNull(l.chain), p[0],
			p[1]); err != nil {
			return err
		}
	}
	return nil
}

func shownPositions(ps []holdings.Position) (out []string) {
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%s %s %s %s in %d %s", p.SourceID, p.AssetType, p.Quantity, p.Basis, p.Lots, p.Currency))
	}
	return out
}

func shownLots(ls []lots.Lot) (out []string) {
	for _, l := range ls {
		out = append(out, fmt.Sprintf("%s %s of %s, %s of %s", strings.TrimPrefix(l.ID, "ast_"), l.RemainingQuantity, l.Quantity,
			l.RemainingBasis, l.CostBasis))
	}
	return out
}

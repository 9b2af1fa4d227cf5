package booking_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// world is an organization with two legal entities, wallets, an exchange and a bank.
type world struct {
	rapid.TB
	db       *db.DB
	clock    *clock.Manual
	ctx      context.Context
	journal  *journal.Service
	bookings *booking.Service
	periods  *period.Service
	links    *transfers.Service
	txns     *transaction.Service
	entities *entity.Service
	all      *source.Service
	prices   *price.Service
	rates    *fx.Service
	picks    *lots.Service
	openings *opening.Service
	us, sub  string
	sources  map[string]source.Source
	names    map[string]string // of ledger accounts, by id
	accounts map[string]account.Account
	count    *int // of everything that needs a name of its own
}

var today = time.Date(2025, 12, 15, 12, 0, 0, 0, time.UTC)

// each runs a test on each database, and verifies the books at the end.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachSampled(t, verified(test))
}

// eachInSoak is each for a test that takes long and whose parts are tested on both databases elsewhere.
func eachInSoak(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachInSoak(t, verified(test))
}

func verified(test func(t *testing.T, w *world)) func(t *testing.T, c db.Config) {
	return func(t *testing.T, c db.Config) {
		now := clock.NewManual(today)
		c.Clock = now
		w := newWorld(t.Context(), t, dbtest.Open(t, c), now).newEntities(t)
		test(t, w)
		w.verifyBooks()
	}
}

func newWorld(ctx context.Context, t rapid.TB, d *db.DB, now *clock.Manual) *world {
	t.Helper()
	f, err := organization.NewService(d).Create(ctx, organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD",
		Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, db: d, clock: now, journal: journal.NewService(d), periods: period.NewService(d).WithTransit(holdings.InTransit),
		links: transfers.NewService(d), txns: transaction.NewService(d),
		entities: entity.NewService(d).WithDisposals(lots.LastDisposal).WithClosings(snapshot.ClosedThrough),
		all:      source.NewService(d, nil, nil), prices: price.NewService(d), rates: fx.NewService(d),
		count: new(int)}
	w.bookings = booking.NewService(d, w.journal)
	w.picks, w.openings = lots.NewService(d), opening.NewService(d, w.journal, w.bookings.Load, w.bookings.Rebook)
	w.ctx = actor.With(ctx, actor.Actor{OrganizationID: f.Organization.ID})
	return w
}

// newEntities returns a view of the organization with two new legal entities that have the given policies, and their sources.
func (w *world) newEntities(t rapid.TB, policies ...entity.CreateParams) *world {
	t.Helper()
	out := *w
	out.TB, out.sources, out.names, out.accounts = t, map[string]source.Source{}, map[string]string{}, map[string]account.Account{}
	for i, at := range []*string{&out.us, &out.sub} {
		p := entity.CreateParams{}
		if i < len(policies) {
			p = policies[i]
		}
		p.Name, p.BaseCurrency = w.name([]string{"US", "Sub"}[i]), cmp.Or(p.BaseCurrency, "USD")
		made, err := w.entities.Create(w.ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		*at = made.ID
	}
	out.chart()
	return &out
}

// name returns a unique name.
func (w *world) name(of string) string {
	*w.count++
	return fmt.Sprint(of, " ", *w.count)
}

// source returns a source by its name, and creates it at the first call: the wallets A, B, Arb and SubA, the last one of the other
// legal entity, an exchange, banks and a payment processor.
func (w *world) source(name string) source.Source {
	w.Helper()
	if s, there := w.sources[name]; there {
		return s
	}
	p := source.CreateParams{Name: w.name(name), Type: source.Wallet, Chain: "ethereum", LegalEntityID: w.us}
	switch name {
	case "Kraken":
		p.Type, p.Chain, p.Provider = source.Exchange, "", "kraken"
	case "Bank", "SubBank":
		p.Type, p.Chain, p.Currency = source.Bank, "", "USD"
	case "Card":
		p.Type, p.Chain, p.Currency = source.Card, "", "USD"
	case "Euro":
		p.Type, p.Chain, p.Currency = source.Bank, "", "EUR"
	case "Stripe":
		p.Type, p.Chain = source.Other, ""
	case "Arb":
		p.Chain = "arbitrum"
	}
	if p.Type == source.Wallet {
		p.Address = fmt.Sprintf("0xaaaa%036d", *w.count)
	}
	if strings.HasPrefix(name, "Sub") {
		p.LegalEntityID = w.sub
	}
	made, err := w.all.Create(w.ctx, p)
	if err != nil {
		w.Fatal(err)
	}
	w.sources[name] = made.Source
	w.names[made.LedgerAccountID] = name
	w.chart()
	w.accounts[name] = w.accounts[made.LedgerAccountID]
	return made.Source
}

// chart reads the ledger accounts by name.
func (w *world) chart() {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		all, err := account.All(ctx, tx)
		for _, a := range all {
			switch a.Role {
			case account.RoleDueFrom(w.us), account.RoleDueFrom(w.sub), account.RoleDueTo(w.us), account.RoleDueTo(w.sub):
				a.Name = strings.TrimRight(a.Name, " 0123456789")
			}
			if w.names[a.ID] == "" {
				w.names[a.ID] = a.Name
			}
			w.accounts[a.ID], w.accounts[a.Name] = a, a
		}
		return err
	})
}

func (w *world) read(fn db.Func) {
	w.Helper()
	if err := w.db.Read(w.ctx, actor.From(w.ctx).OrganizationID, fn); err != nil {
		w.Fatal(err)
	}
}

// add adds a transaction on a day: "A out 2.5 ETH = 6000.00 fee 12.00 (0.005)". The quantity in parentheses paid the fee.
func (w *world) add(day, text string) transaction.Transaction {
	w.Helper()
	f := strings.Fields(text)
	q := money.MustParse(f[2])
	p := transaction.CreateParams{SourceID: w.source(f[0]).ID, Params: transaction.Params{ExternalID: w.name("x"), Description: text,
		Quantity: &q, Currency: f[3]}}
	p.Direction = transaction.Debit
	if f[1] == "in" {
		p.Direction = transaction.Credit
	}
	p.At = w.at(day)
	value := &transaction.ValueParams{Currency: "USD"}
	for i := 4; i < len(f); i++ {
		switch {
		case f[i] == "=":
			value.Gross = money.MustParse(f[i+1])
			p.Value = value
			if i+2 < len(f) && money.IsFiat(f[i+2]) {
				value.Currency = f[i+2]
			}
		case f[i] == "fee":
			value.Fee = money.MustParse(f[i+1])
		case strings.HasPrefix(f[i], "("):
			fee := money.MustParse(strings.Trim(f[i], "()"))
			p.Crypto = &transaction.Crypto{FeeQuantity: &fee}
		case f[i] == "gas":
			fee := money.MustParse(f[i+1])
			p.Crypto = &transaction.Crypto{FeeQuantity: &fee, FeeAssetType: f[i+2]}
		case f[i] == "token":
			p.Crypto = &transaction.Crypto{TokenID: f[i+1], ContractAddress: "0xbbbb" + w.us}
		}
	}
	value.Net = value.Gross.Sub(value.Fee)
	made, err := w.txns.Create(w.ctx, []transaction.CreateParams{p})
	if err != nil {
		w.Fatalf("%s: %v", text, err)
	}
	return made.Transactions[0]
}

// at returns noon of a day, or the time if one is given.
func (w *world) at(day string) time.Time {
	w.Helper()
	if len(day) == len(time.DateOnly) {
		day += "T12:00:00Z"
	}
	at, err := time.Parse(time.RFC3339, day)
	if err != nil {
		w.Fatal(err)
	}
	return at
}

// link links two transactions to a transfer.
func (w *world) link(out, in transaction.Transaction) {
	w.Helper()
	if _, err := w.links.Link(w.ctx, transfers.LinkParams{TransactionIDs: []string{out.ID, in.ID}}); err != nil {
		w.Fatal(err)
	}
}

// book books a transaction; target is the name of an account, or empty.
func (w *world) book(t transaction.Transaction, kind, target string) booking.Booked {
	w.Helper()
	made, err := w.tryBook(t, kind, target, true)
	if err != nil {
		w.Fatalf("%s as %s: %v", t.Description, kind, err)
	}
	return made
}

func (w *world) tryBook(t transaction.Transaction, kind, target string, post bool) (booking.Booked, error) {
	w.Helper()
	made, err := w.bookings.Create(w.ctx, []booking.Params{{TransactionID: t.ID, Type: kind, LedgerAccountID: w.accountID(target),
		AutoPost: post}}, noPrefix)
	if err != nil {
		return booking.Booked{}, err
	}
	return made[0], nil
}

// tryOut books transactions in a database transaction that is rolled back, and returns why they are refused.
func (w *world) tryOut(ps []booking.Params) error {
	unused := errors.New("the effect is not wanted")
	err := w.db.Write(w.ctx, actor.From(w.ctx).OrganizationID, func(ctx context.Context, _ *db.Tx) error {
		if _, err := w.bookings.Create(ctx, ps, noPrefix); err != nil {
			return err
		}
		return unused
	})
	if errors.Is(err, unused) {
		return nil
	}
	return err
}

func (w *world) accountID(name string) string {
	w.Helper()
	if name == "" {
		return ""
	}
	if slices.Contains([]string{"A", "B", "Bank", "Kraken", "Arb"}, name) {
		w.source(name) // its account comes with it
	}
	a, there := w.accounts[name]
	if !there {
		a = w.accounts[w.source(name).LedgerAccountID]
	}
	return a.ID
}

// lines returns the lines of an entry as text.
func (w *world) lines(e journal.Entry) string {
	var out []string
	for _, l := range e.Lines {
		side := "Dr"
		if l.Side == "CREDIT" {
			side = "Cr"
		}
		out = append(out, fmt.Sprintf("%s %s %s", side, w.names[l.LedgerAccountID], l.Amount.Fixed(l.Currency)))
	}
	return strings.Join(out, "; ")
}

// lots returns the open lots in the form "A 2.5 ETH 5000.00 2025-06-01", with a question mark if the basis is pending until the
// other leg arrives, and an exclamation mark if the type is unknown.
func (w *world) lots() string {
	w.Helper()
	var out []string
	open := true
	all, err := w.picks.List(w.ctx, lots.Filter{LegalEntityIDs: []string{w.us, w.sub}, Open: &open}, page.Request{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	for _, l := range all.Items {
		text := fmt.Sprintf("%s %s %s %s %s", w.names[l.LedgerAccountID], l.RemainingQuantity, l.AssetType,
			l.RemainingBasis.Fixed(l.Currency), l.AcquiredAt.Format("2006-01-02"))
		if l.BasisPending {
			text += " ?"
		}
		if l.Provisional {
			text += " !"
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// sorted sorts lots for comparison.
func sorted(lots string) string {
	all := strings.Split(lots, "; ")
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// price and rate store what something is worth on a day.
func (w *world) price(assetType, day, value string) {
	w.Helper()
	if _, err := w.prices.Create(w.ctx, price.Params{AssetType: assetType, Currency: "USD", Timestamp: day + "T00:00:00Z",
		Price: value}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) rate(from, to, day, value string) {
	w.Helper()
	if _, err := w.rates.Store(w.ctx, []fx.StoreParams{{Base: from, Quote: to, Date: day, Rate: value, Source: "test"}}); err != nil {
		w.Fatal(err)
	}
}

// expectBooked fails the test unless transactions belong to an entry.
func (w *world) expectBooked(e journal.Entry, of ...transaction.Transaction) {
	w.Helper()
	for _, t := range of {
		status := transaction.Pending
		if e.Status == journal.Posted {
			status = transaction.Posted
		}
		if now := w.reload(t); now.JournalEntryID != e.ID || now.Status != status {
			w.Errorf("%s is %s and has the entry %q, and should be %s and have %q", t.Description, now.Status, now.JournalEntryID, status, e.ID)
		}
	}
}

// expectUnbooked fails the test unless transactions have no entry.
func (w *world) expectUnbooked(of ...transaction.Transaction) {
	w.Helper()
	for _, t := range of {
		if now := w.reload(t); now.JournalEntryID != "" || now.Status != transaction.Pending {
			w.Errorf("%s is %s and has the entry %q", t.Description, now.Status, now.JournalEntryID)
		}
	}
}

// reload returns a transaction as it is stored now.
func (w *world) reload(t transaction.Transaction) (now transaction.Transaction) {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		now, err = transaction.Find(ctx, tx, t.ID)
		return err
	})
	return now
}

// entry returns an entry as the API shows it.
func (w *world) entry(id string) booking.Booked {
	w.Helper()
	made, err := w.bookings.Get(w.ctx, id)
	if err != nil {
		w.Fatal(err)
	}
	return made
}

// everything returns the rows of all tables that booking writes, by table.
func (w *world) everything() map[string][]string {
	return w.rowsOf(append(firstTables, "lot_corrections")...)
}

// firstTables are the tables that booking writes, without those that were added later.
var firstTables = []string{"bookings", "lot_pools", "lots", "lot_consumptions", "lot_uses", "lot_positions", "lot_gains", "lot_selections",
	"account_units", "account_balances", "journal_entries", "journal_lines", "transactions"}

// rowsOf returns the rows of some tables, by table.
func (w *world) rowsOf(tables ...string) map[string][]string {
	w.Helper()
	out := map[string][]string{}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		for _, table := range tables {
			rows, err := tx.SQL().QueryContext(ctx, "SELECT * FROM "+table+" WHERE organization_id = '"+actor.From(w.ctx).OrganizationID+"'")
			if err != nil {
				return err
			}
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			for rows.Next() {
				values, aims := make([]any, len(columns)), make([]any, len(columns))
				for i := range values {
					aims[i] = &values[i]
				}
				if err := rows.Scan(aims...); err != nil {
					return err
				}
				out[table] = append(out[table], fmt.Sprint(values...))
			}
			if err := rows.Err(); err != nil {
				return err
			}
			slices.Sort(out[table])
		}
		return nil
	})
	return out
}

// unchanged fails the test if something was written since.
func (w *world) unchanged(before map[string][]string) {
	w.Helper()
	for table, now := range w.everything() {
		if !slices.Equal(now, before[table]) {
			w.Errorf("%s is no longer what it was", table)
		}
	}
}

package explain_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/explain"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// world is an organization with two legal entities, whose books are kept by the real services.
type world struct {
	*testing.T
	*explain.Service
	db           *db.DB
	ctx          context.Context // of an actor who sees everything
	org          string
	us, sub      string
	journal      *journal.Service
	bookings     *booking.Service
	transactions *transaction.Service
	sources      *source.Service
	revaluations *revaluation.Service
	byName       map[string]source.Source
	entries      []string // in the order they were booked
	count        int
}

var today = time.Date(2025, 12, 15, 12, 0, 0, 0, time.UTC)

// each runs a test on each engine, with books of its own.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		c.Clock = clock.NewManual(today)
		test(newWorld(t, dbtest.Open(t, c)))
	})
}

func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "Acme", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	w := &world{T: t, db: d, journal: journal.NewService(d), transactions: transaction.NewService(d),
		sources: source.NewService(d, nil, nil), byName: map[string]source.Source{}}
	w.must(err)
	w.org, w.us = f.Organization.ID, f.LegalEntity.ID
	w.ctx = actor.With(t.Context(), actor.Actor{OrganizationID: w.org, UserID: f.Owner.UserID})
	w.bookings, w.revaluations = booking.NewService(d, w.journal), revaluation.NewService(d, w.journal)
	w.Service = explain.NewService(d, statements.NewService(d), holdings.NewService(d), w.revaluations)
	made, err := entity.NewService(d).Create(w.ctx, entity.CreateParams{Name: "Sub", BaseCurrency: "USD"})
	w.must(err)
	w.sub = made.ID
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(fn db.Func) {
	w.Helper()
	w.must(w.db.Read(w.ctx, w.org, fn))
}

// source returns a source by its name and creates it on first use: banks and wallets, those of the subsidiary named Sub….
func (w *world) source(name string) source.Source {
	w.Helper()
	if s, ok := w.byName[name]; ok {
		return s
	}
	p := source.CreateParams{Name: name, Type: source.Wallet, Chain: "ethereum", LegalEntityID: w.us,
		Address: fmt.Sprintf("0xaaaa%036d", len(w.byName))}
	if strings.HasSuffix(name, "Bank") {
		p.Type, p.Chain, p.Address, p.Currency = source.Bank, "", "", "USD"
	}
	if strings.HasPrefix(name, "Sub") {
		p.LegalEntityID = w.sub
	}
	made, err := w.sources.Create(w.ctx, p)
	w.must(err)
	w.byName[name] = made.Source
	return made.Source
}

// account finds a ledger account by the name of its source, its code or its role.
func (w *world) account(name string) (found account.Account) {
	w.Helper()
	if strings.HasSuffix(name, "Bank") || slices.Contains([]string{"A", "B", "SubA"}, name) {
		name = w.source(name).LedgerAccountID
	}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		all, err := account.All(ctx, tx)
		for _, a := range all {
			if a.ID == name || a.Code == name || a.Role == name {
				found = a
			}
		}
		return err
	})
	if found.ID == "" {
		w.Fatalf("there is no account %s", name)
	}
	return found
}

// period finds an accounting period by its key.
func (w *world) period(key string) (found period.Period) {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		all, err := period.All(ctx, tx)
		for _, p := range all {
			if p.Key == key {
				found = p
			}
		}
		return err
	})
	if found.ID == "" {
		w.Fatalf("there is no period %s", key)
	}
	return found
}

// book books lines of an accountant's day book. A transaction at a source, with what it is booked as and against:
//
//	2025-10-01 A in 2 ETH = 4000.00 : SWAP Bank
//
// or a manual journal entry:
//
//	2025-10-01 Dr 1010 100.00; Cr 4010 100.00
//
// or a price, or the revaluation of a period:
//
//	2025-10-31 price ETH 2100
//	2025-10 revalue
func (w *world) book(lines ...string) {
	w.Helper()
	for _, line := range lines {
		day, rest, _ := strings.Cut(line, " ")
		f := strings.Fields(rest)
		switch f[0] {
		case "Dr", "Cr":
			w.post(day, rest)
		case "price":
			_, err := price.NewService(w.db).Create(w.ctx, price.Params{AssetType: f[1], Currency: "USD",
				Timestamp: day + "T23:00:00Z", Price: f[2]})
			w.must(err)
		case "revalue":
			_, err := w.revaluations.Run(w.ctx, revaluation.RunParams{PeriodID: w.period(day).ID})
			w.must(err)
		default:
			w.transact(day, f)
		}
	}
}

func (w *world) post(day, text string) {
	w.Helper()
	p := journal.CreateParams{LegalEntityID: w.us, AccountingDate: day, Status: journal.Posted, OriginatedBy: journal.ByHand}
	for _, part := range strings.Split(text, ";") {
		f := strings.Fields(part)
		side := book.Debit
		if f[0] == "Cr" {
			side = book.Credit
		}
		p.Lines = append(p.Lines, journal.LineParams{LedgerAccountID: w.account(f[1]).ID, Side: side, Amount: f[2]})
	}
	e, err := w.journal.Create(w.ctx, p)
	w.must(err)
	w.entries = append(w.entries, e.ID)
}

func (w *world) transact(day string, f []string) {
	w.Helper()
	at, err := time.Parse(time.DateOnly, day)
	w.must(err)
	quantity := money.MustParse(f[2])
	w.count++
	p := transaction.Params{ExternalID: fmt.Sprint("x", w.count), At: at.Add(12 * time.Hour), Quantity: &quantity, Currency: f[3],
		Direction: transaction.Debit}
	if f[1] == "in" {
		p.Direction = transaction.Credit
	}
	colon := slices.Index(f, ":")
	if n := slices.Index(f, "="); n > 0 {
		gross := money.MustParse(f[n+1])
		p.Value = &transaction.ValueParams{Gross: gross, Net: gross, Currency: "USD"}
	}
	made, err := w.transactions.Create(w.ctx, []transaction.CreateParams{{SourceID: w.source(f[0]).ID, Params: p}})
	w.must(err)
	kind, against, _ := strings.Cut(strings.Join(f[colon+1:], " "), " against ")
	b := booking.Params{TransactionID: made.Transactions[0].ID, Type: kind, AutoPost: true}
	if against != "" {
		b.LedgerAccountID = w.account(against).ID
	}
	booked, err := w.bookings.Create(w.ctx, []booking.Params{b}, func(int) string { return "" }, false)
	if err != nil {
		w.Fatalf("%v: %v", f, err)
	}
	w.entries = append(w.entries, booked[0].ID)
}

// query reads the notation "balance-sheet closing_balance account=1010 period=2025-10": a report, a column, and names
// with values, of which accounts, sources and periods are written as people know them.
func (w *world) query(text string) explain.Query {
	w.Helper()
	f := strings.Fields(text)
	q := explain.Query{Report: f[0]}
	for _, word := range f[1:] {
		name, value, named := strings.Cut(word, "=")
		if !named {
			q.Column = word
			continue
		}
		switch name {
		case "account":
			q.LedgerAccountID = w.account(value).ID
		case "period":
			q.PeriodID = w.period(value).ID
		case "row":
			q.Row = value
		case "source":
			q.SourceID, q.LegalEntityID = w.source(value).ID, w.source(value).LegalEntityID
		case "entity":
			q.LegalEntityID = map[string]string{"us": w.us, "sub": w.sub}[value]
		case "asset":
			q.AssetType = value
		case "lot":
			q.AssetID = value
		case "entry":
			q.JournalEntryID = value
		case "line":
			q.JournalLineID = value
		case "revaluation":
			q.RevaluationID = value
		case "as_of":
			q.AsOf = value
		default:
			w.Fatalf("%q names nothing", word)
		}
	}
	return q
}

// limited returns the context of a key for one legal entity only.
func (w *world) limited(legalEntityID string) context.Context {
	return actor.With(w.T.Context(), actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{legalEntityID}})
}

// explained explains a figure with all pages of its list.
func (w *world) explained(ctx context.Context, q explain.Query, limit int) (*explain.Explanation, error) {
	x, err := w.Explain(ctx, q, page.Request{Limit: limit})
	if err != nil {
		return nil, err
	}
	for next := x; next.HasMore; {
		if next, err = w.Explain(ctx, q, page.Request{Limit: limit, Cursor: next.NextCursor}); err != nil {
			return nil, err
		}
		x.Lines, x.Lots, x.Uses = append(x.Lines, next.Lines...), append(x.Lots, next.Lots...), append(x.Uses, next.Uses...)
	}
	return x, nil
}

// formula explains a figure and returns how it adds up, or the error.
func (w *world) formula(text string) string {
	w.Helper()
	x, err := w.Explain(w.ctx, w.query(text), page.Request{Limit: 100})
	if err != nil {
		return err.Error()
	}
	return x.Formula
}

// damage runs a statement that damages stored data, and calls a function before everything is rolled back.
func (w *world) damage(statement string, look func(ctx context.Context)) {
	w.Helper()
	err := w.db.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, statement)
		if err != nil {
			return err
		}
		if n == 0 {
			w.Errorf("%s changed nothing", statement)
		}
		look(ctx)
		return dbtest.ErrUndo
	})
	if err != dbtest.ErrUndo {
		w.Errorf("%s: %v", statement, err)
	}
}

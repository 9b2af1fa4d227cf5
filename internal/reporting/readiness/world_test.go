package readiness_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/readiness"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// world is an organization with two legal entities, US and Sub, whose books are kept by the real services.
type world struct {
	*testing.T
	db           *db.DB
	ctx          context.Context
	org          string
	us, sub      string
	periods      *period.Service
	journal      *journal.Service
	bookings     *booking.Service
	transactions *transaction.Service
	sources      *source.Service
	byName       map[string]source.Source
	count        int
}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		c.Clock = clock.NewManual(time.Date(2025, 12, 15, 12, 0, 0, 0, time.UTC))
		test(newWorld(t, dbtest.Open(t, c)))
	})
}

func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "US", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	w := &world{T: t, db: d, org: f.Organization.ID, us: f.LegalEntity.ID, journal: journal.NewService(d),
		periods: period.NewService(d, readiness.Checks()...), transactions: transaction.NewService(d),
		sources: source.NewService(d, nil, nil), byName: map[string]source.Source{}}
	w.must(err)
	w.bookings = booking.NewService(d, w.journal)
	w.ctx = actor.With(t.Context(), actor.Actor{OrganizationID: w.org, UserID: f.Owner.UserID})
	made, err := entity.NewService(d).Create(w.ctx, entity.CreateParams{Name: "Sub", BaseCurrency: "USD"})
	w.must(err)
	w.sub = made.ID
	w.must(d.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded() // periods come into being without anybody asking for them
		_, err := period.Ensure(ctx, tx, calendar.MonthOf(time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC), time.UTC))
		return err
	}))
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// source returns a source by its name and creates it on first use. Those of the subsidiary are named Sub….
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

// transact adds a transaction, "2025-10-01 A in 2 ETH = 4000.00", and books it if the line continues with ": SWAP
// against Bank". It returns the transaction and the id of the entry.
func (w *world) transact(line string) (transaction.Transaction, string) {
	w.Helper()
	f := strings.Fields(line)
	at, err := time.Parse(time.DateOnly, f[0])
	w.must(err)
	quantity := money.MustParse(f[3])
	w.count++
	p := transaction.Params{ExternalID: fmt.Sprint("x", w.count), At: at.Add(12 * time.Hour), Quantity: &quantity, Currency: f[4],
		Direction: transaction.Debit}
	if f[2] == "in" {
		p.Direction = transaction.Credit
	}
	if n := slices.Index(f, "="); n > 0 {
		gross := money.MustParse(f[n+1])
		p.Value = &transaction.ValueParams{Gross: gross, Net: gross, Currency: "USD"}
	}
	made, err := w.transactions.Create(w.ctx, []transaction.CreateParams{{SourceID: w.source(f[1]).ID, Params: p}})
	w.must(err)
	t := made.Transactions[0]
	_, kind, booked := strings.Cut(line, " : ")
	if !booked {
		return t, ""
	}
	kind, against, _ := strings.Cut(kind, " against ")
	b := booking.Params{TransactionID: t.ID, Type: kind, AutoPost: true}
	if against != "" {
		b.LedgerAccountID = w.source(against).LedgerAccountID
	}
	entries, err := w.bookings.Create(w.ctx, []booking.Params{b}, func(int) string { return "" }, false)
	w.must(err)
	return t, entries[0].ID
}

// policy changes the accounting policy of the first legal entity.
func (w *world) policy(p entity.UpdateParams) {
	w.Helper()
	_, err := entity.NewService(w.db).Update(w.ctx, w.us, p)
	w.must(err)
}

func (w *world) price(asset, day, value string) {
	w.Helper()
	_, err := price.NewService(w.db).Create(w.ctx, price.Params{AssetType: asset, Currency: "USD",
		Timestamp: day + "T23:00:00Z", Price: value})
	w.must(err)
}

func (w *world) revalue(key string) {
	w.Helper()
	_, err := revaluation.NewService(w.db, w.journal).Run(w.ctx, revaluation.RunParams{PeriodID: w.period(key),
		LegalEntityIDs: []string{w.us}})
	w.must(err)
}

// period returns the id of an accounting period.
func (w *world) period(key string) (found string) {
	w.Helper()
	w.must(w.db.Read(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
		all, err := period.All(ctx, tx)
		for _, p := range all {
			if p.Key == key {
				found = p.ID
			}
		}
		return err
	}))
	if found == "" {
		w.Fatalf("there is no period %s", key)
	}
	return found
}

// verdict returns the result of a check for a legal entity.
func (w *world) verdict(ctx context.Context, key, code, legalEntityID string) (found period.CheckResult) {
	w.Helper()
	r, err := w.periods.Readiness(ctx, w.period(key), "")
	w.must(err)
	for _, v := range r.Checks {
		if v.Code == code && v.LegalEntityID == legalEntityID {
			found = v
		}
	}
	return found
}

// passes fails the test unless a check of the first legal entity passes.
func (w *world) passes(key, code string) {
	w.Helper()
	v := w.verdict(w.ctx, key, code, w.us)
	if v.Outcome != period.Pass || v.Count != 0 || len(v.SampleIDs) != 0 || v.Message == "" {
		w.Errorf("%s of %s should pass: %+v", code, key, v)
	}
}

// fails fails the test unless a check of the first legal entity fails with this count, message and samples.
func (w *world) fails(key, code string, count int64, message string, samples ...string) {
	w.Helper()
	v := w.verdict(w.ctx, key, code, w.us)
	if v.Outcome != period.Fail || v.Count != count || v.Message != message || !slices.Equal(v.SampleIDs, samples) {
		w.Errorf("%s of %s: %s, %d\n\t%s %v\nwant %d\n\t%s %v", code, key, v.Outcome, v.Count, v.Message, v.SampleIDs, count, message, samples)
	}
	if other := w.verdict(w.ctx, key, code, w.sub); other.Outcome != period.Pass {
		w.Errorf("%s of %s also fails for the other legal entity: %+v", code, key, other)
	}
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

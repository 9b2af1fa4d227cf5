package period_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// books is an organization with a clock that the test sets.
type books struct {
	db       *db.DB
	now      *clock.Manual
	org      string
	ctx      context.Context // of the owner
	orgs     *organization.Service
	periods  *period.Service
	journal  *journal.Service
	us, de   string            // legal entities in USD and EUR; addGermany creates de
	accounts map[string]string // by code
	broken   bool              // the test damages the books, so that they are not verified at its end
}

// each runs a test on both databases. The clock starts in the middle of March 2026.
func each(t *testing.T, zone string, test func(t *testing.T, b *books)) {
	t.Helper()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		d := dbtest.Open(t, c)
		test(t, open(t, d, now, zone))
	})
}

func open(t *testing.T, d *db.DB, now *clock.Manual, zone string) *books {
	t.Helper()
	b := &books{db: d, now: now, orgs: organization.NewService(d), periods: period.NewService(d), journal: journal.NewService(d),
		accounts: map[string]string{}}
	f, err := b.orgs.Create(t.Context(), organization.CreateParams{Name: "US Co", Email: "a@example.com", Currency: "USD", Timezone: zone})
	if err != nil {
		t.Fatal(err)
	}
	b.org, b.us = f.Organization.ID, f.LegalEntity.ID
	b.ctx = actor.With(context.Background(), actor.Actor{OrganizationID: b.org, UserID: f.Owner.UserID, Role: actor.Owner,
		Scopes: actor.Scopes})
	b.read(t, func(ctx context.Context, tx *db.Tx) error {
		all, err := account.All(ctx, tx)
		for _, a := range all {
			b.accounts[a.Code] = a.ID
		}
		return err
	})
	t.Cleanup(func() {
		if b.broken {
			return
		}
		for _, text := range b.verify(t) {
			t.Errorf("verify: %s", text)
		}
	})
	return b
}

// addGermany adds a second legal entity.
func (b *books) addGermany(t *testing.T) {
	t.Helper()
	b.write(t, func(ctx context.Context, tx *db.Tx) error {
		e, err := entity.Create(ctx, tx, "DE GmbH", "EUR")
		b.de = e.ID
		return err
	})
}

// limitedTo returns the context of the owner with a key that is limited to some legal entities.
func (b *books) limitedTo(legalEntityIDs ...string) context.Context {
	who := actor.From(b.ctx)
	who.LegalEntityIDs = legalEntityIDs
	return actor.With(b.ctx, who)
}

func (b *books) at(text string) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	b.now.Advance(at.Sub(b.now.Now()))
}

func (b *books) read(t *testing.T, fn db.Func) {
	t.Helper()
	if err := b.db.Read(context.Background(), b.org, fn); err != nil {
		t.Fatal(err)
	}
}

func (b *books) write(t *testing.T, fn db.Func) {
	t.Helper()
	if err := b.db.Write(b.ctx, b.org, fn); err != nil {
		t.Fatal(err)
	}
}

// verify verifies the periods and the journal.
func (b *books) verify(t *testing.T) (out []string) {
	t.Helper()
	b.read(t, func(ctx context.Context, tx *db.Tx) error {
		for _, verify := range []func(context.Context, *db.Tx) ([]string, error){period.Verify, journal.Verify} {
			texts, err := verify(ctx, tx)
			if err != nil {
				return err
			}
			out = append(out, texts...)
		}
		return nil
	})
	return out
}

func (b *books) version(t *testing.T) (version int64) {
	t.Helper()
	b.read(t, func(ctx context.Context, tx *db.Tx) error {
		state, err := orgstate.Read(ctx, tx)
		version = state.BooksVersion
		return err
	})
	return version
}

func (b *books) all(t *testing.T) (out []period.Period) {
	t.Helper()
	b.read(t, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = period.All(ctx, tx)
		return err
	})
	return out
}

// id returns the id of a month and creates it if it does not exist.
func (b *books) id(t *testing.T, key string) (id string) {
	t.Helper()
	b.write(t, func(ctx context.Context, tx *db.Tx) error {
		all, err := period.Ensure(ctx, tx, month(t, key))
		for _, p := range all {
			if p.Key == key {
				id = p.ID
			}
		}
		return err
	})
	return id
}

func (b *books) tag(t *testing.T, name string) (id string) {
	t.Helper()
	b.write(t, func(ctx context.Context, tx *db.Tx) error {
		made, err := tag.Ensure(ctx, tx, tag.Custom, name)
		id = made.ID
		return err
	})
	return id
}

// draft describes an entry in an accountant's notation, a line each: "us Dr 1010 100.00 #tag", of the date; "#tag" alone tags the entry.
func (b *books) draft(date, text string) journal.CreateParams {
	p := journal.CreateParams{AccountingDate: date, OriginatedBy: journal.ByHand, Status: journal.Draft, LegalEntityID: b.us}
	for row := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		f := strings.Fields(row)
		if strings.HasPrefix(f[0], "#") {
			p.TagIDs = append(p.TagIDs, f[0][1:])
			continue
		}
		l := journal.LineParams{LegalEntityID: map[string]string{"us": b.us, "de": b.de}[f[0]], Side: book.Debit,
			LedgerAccountID: b.accounts[f[2]], Amount: f[3]}
		if f[1] == "Cr" {
			l.Side = book.Credit
		}
		for _, tag := range f[4:] {
			l.TagIDs = append(l.TagIDs, tag[1:])
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}

func (b *books) make(t *testing.T, p journal.CreateParams) journal.Entry {
	t.Helper()
	made, err := b.journal.Create(b.ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	return made.Entry
}

func (b *books) post(t *testing.T, date, text string) journal.Entry {
	t.Helper()
	p := b.draft(date, text)
	p.Status = journal.Posted
	return b.make(t, p)
}

// sale is a simple entry.
const sale = "us Dr 1010 100.00\nus Cr 4010 100.00"

func (b *books) close(t *testing.T, key string, legalEntityID string) period.State {
	t.Helper()
	state, err := b.periods.Close(b.ctx, b.id(t, key), legalEntityID)
	if err != nil {
		t.Fatalf("close %s: %v", key, err)
	}
	return state
}

func month(t *testing.T, key string) calendar.Month {
	t.Helper()
	m, err := calendar.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

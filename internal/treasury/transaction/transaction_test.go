package transaction_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// company is an organization to test transactions with.
type company struct {
	db    *db.DB
	ctx   context.Context
	org   organization.Created
	clock *clock.Manual // nil unless the test holds the time
	*transaction.Service
}

func found(t *testing.T, d *db.DB) company {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return company{db: d, ctx: actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID,
		Role: actor.Owner}), org: f, clock: nil, Service: transaction.NewService(d)}
}

// each runs a test with a company on each engine.
func each(t *testing.T, test func(t *testing.T, c company)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) { test(t, found(t, d)) })
}

// eachTimed is each with a clock that the test controls.
func eachTimed(t *testing.T, test func(t *testing.T, c company)) {
	t.Helper()
	dbtest.EachConfig(t, func(t *testing.T, config db.Config) {
		hand := clock.NewManual(time.Date(2026, 1, 31, 23, 59, 59, 0, time.UTC))
		config.Clock = hand
		c := found(t, dbtest.Open(t, config))
		c.clock = hand
		test(t, c)
	})
}

// limited returns the company as seen by a key for some legal entities.
func (c company) limited(entities ...string) context.Context {
	a := actor.From(c.ctx)
	a.LegalEntityIDs = entities
	return actor.With(c.ctx, a)
}

func (c company) write(t *testing.T, body db.Func) {
	t.Helper()
	if err := c.db.Write(c.ctx, c.org.Organization.ID, body); err != nil {
		t.Fatal(err)
	}
}

func (c company) read(t *testing.T, body db.Func) {
	t.Helper()
	if err := c.db.Read(c.ctx, c.org.Organization.ID, body); err != nil {
		t.Fatal(err)
	}
}

// source creates a source directly, without the rules of package source, which has tests of its own.
func (c company) source(t *testing.T, s source.Source) source.Source {
	t.Helper()
	type row struct {
		ID      string    `db:"source_id"`
		Account *string   `db:"account_id"`
		Type    string    `db:"source_type"`
		From    string    `db:"provider"`
		Name    string    `db:"name"`
		Entity  string    `db:"legal_entity_id"`
		Ledger  string    `db:"ledger_account_id"`
		Address *string   `db:"address"`
		Key     *string   `db:"address_key"`
		Manual  bool      `db:"is_manual"`
		Created time.Time `db:"created_at"`
	}
	if s.LegalEntityID == "" {
		s.LegalEntityID = c.org.LegalEntity.ID
	}
	c.write(t, func(ctx context.Context, tx *db.Tx) error {
		audit.Record(ctx, tx, audit.Change{Action: "source.created", ResourceType: "source", ResourceID: s.ID, After: map[string]any{}})
		return db.Insert(ctx, tx, "sources", row{ID: s.ID, Account: db.OrNull(s.AccountID), Type: string(s.Type), From: "file",
			Name: s.ID, Entity: s.LegalEntityID, Ledger: "lac_1", Address: db.OrNull(s.Address),
			Key: db.OrNull(source.AddressKey(s.Address)), Manual: true, Created: tx.Now()})
	})
	return s
}

func (c company) entity(t *testing.T, name string) string {
	t.Helper()
	made, err := entity.NewService(c.db).Create(c.ctx, entity.CreateParams{Name: name, BaseCurrency: "EUR", Country: "DE"})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func (c company) tag(t *testing.T, name string) string {
	t.Helper()
	made, err := tag.NewService(c.db).Create(c.ctx, tag.Project, name)
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// create adds transactions that must be accepted.
func (c company) create(t *testing.T, all ...transaction.CreateParams) []transaction.Transaction {
	t.Helper()
	made, err := c.Create(c.ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	return made.Transactions
}

// post marks transactions as posted, as their journal entries would.
func (c company) post(t *testing.T, all ...transaction.Transaction) {
	t.Helper()
	c.write(t, func(ctx context.Context, tx *db.Tx) error {
		var edits []transaction.Edit
		for _, before := range all {
			after := before
			after.Status, after.JournalEntryID = transaction.Posted, "je_"+before.ID
			edits = append(edits, transaction.Edit{Before: before, After: after})
		}
		_, err := transaction.Save(ctx, tx, edits)
		return err
	})
}

// plain is a transaction without anything special.
func plain(sourceID, externalID string) transaction.CreateParams {
	return transaction.CreateParams{SourceID: sourceID, Params: transaction.Params{ExternalID: externalID,
		At: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Description: "Payment", Direction: transaction.Credit,
		Quantity: dec("10"), Currency: "USD"}}
}

func dec(text string) *money.Decimal {
	return new(money.MustParse(text))
}

// sound fails the test if Verify returns findings.
func (c company) sound(t *testing.T) {
	t.Helper()
	c.read(t, func(ctx context.Context, tx *db.Tx) error {
		broken, err := transaction.Verify(ctx, tx)
		for _, text := range broken {
			t.Error(text)
		}
		return err
	})
}

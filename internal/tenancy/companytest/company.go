// Package companytest gives tests of the reporting and automation groups a company whose books the real services keep.
package companytest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Company is an organization with one legal entity, or two after AddSubsidiary.
type Company struct {
	*testing.T
	DB    *db.DB
	Clock *clock.Manual

	OrganizationID string
	OwnerID        string // the user id of the owner
	EntityID       string // of the first legal entity
	SubsidiaryID   string // of the second one, if there is one
	Ctx            context.Context

	Journal      *journal.Service
	Bookings     *booking.Service
	Transactions *transaction.Service
	Sources      *source.Service
	Revaluations *revaluation.Service

	byName map[string]source.Source
	count  int // how many transactions were created
}

// Each runs a test on each engine, as dbtest.EachSampled does, with a company of its own. It is 15 December 2025.
func Each(t *testing.T, test func(c *Company)) {
	t.Helper()
	dbtest.EachSampled(t, founded(test))
}

// EachCase is Each for one of many cases of a test, of which the number is given. In an ordinary run every tenth case runs on both engines
// and the others on SQLite only; "make soak" runs all on both.
func EachCase(t *testing.T, number int, test func(c *Company)) {
	t.Helper()
	t.Run(fmt.Sprint("case ", number), func(t *testing.T) {
		t.Parallel()
		if number%10 == 0 {
			dbtest.EachConfig(t, founded(test))
			return
		}
		dbtest.EachInSoak(t, founded(test))
	})
}

// founded returns a function that runs a test with a new company on a database.
func founded(test func(c *Company)) func(t *testing.T, config db.Config) {
	return func(t *testing.T, config db.Config) {
		now := clock.NewManual(time.Date(2025, 12, 15, 12, 0, 0, 0, time.UTC))
		config.Clock = now
		d := dbtest.Open(t, config)
		made, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "Acme", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		c := &Company{T: t, DB: d, Clock: now, OrganizationID: made.Organization.ID, OwnerID: made.Owner.UserID,
			EntityID: made.LegalEntity.ID, Journal: journal.NewService(d), Transactions: transaction.NewService(d),
			Sources: source.NewService(d, nil, nil), byName: map[string]source.Source{}}
		c.Must(err)
		c.Bookings, c.Revaluations = booking.NewService(d, c.Journal), revaluation.NewService(d, c.Journal)
		c.Ctx = actor.With(t.Context(), actor.Actor{OrganizationID: c.OrganizationID, UserID: c.OwnerID})
		test(c)
	}
}

// Must ends the test if there is an error.
func (c *Company) Must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// Read runs a function in a read transaction of the owner.
func (c *Company) Read(fn db.Func) {
	c.Helper()
	c.Must(c.DB.Read(c.Ctx, c.OrganizationID, fn))
}

// Limited returns the context of an API key for one legal entity only.
func (c *Company) Limited(legalEntityID string) context.Context {
	return actor.With(c.Context(), actor.Actor{OrganizationID: c.OrganizationID, UserID: c.OwnerID,
		LegalEntityIDs: []string{legalEntityID}})
}

// AddSubsidiary creates the second legal entity.
func (c *Company) AddSubsidiary() {
	c.Helper()
	made, err := entity.NewService(c.DB).Create(c.Ctx, entity.CreateParams{Name: "Sub", BaseCurrency: "USD"})
	c.Must(err)
	c.SubsidiaryID = made.ID
}

// Source returns a source by its name and creates it on first use: …Bank is a bank account, …Card a card and everything else a
// wallet. Those of the subsidiary are named Sub….
func (c *Company) Source(name string) source.Source {
	c.Helper()
	if s, ok := c.byName[name]; ok {
		return s
	}
	p := source.CreateParams{Name: name, Type: source.Wallet, Chain: "ethereum", LegalEntityID: c.EntityID,
		Address: fmt.Sprintf("0xaaaa%036d", len(c.byName))}
	switch {
	case strings.HasSuffix(name, "Bank"):
		p.Type, p.Chain, p.Address, p.Currency = source.Bank, "", "", "USD"
	case strings.HasSuffix(name, "Card"):
		p.Type, p.Chain, p.Address, p.Currency = source.Card, "", "", "USD"
	}
	if strings.HasPrefix(name, "Sub") {
		p.LegalEntityID = c.SubsidiaryID
	}
	made, err := c.Sources.Create(c.Ctx, p)
	c.Must(err)
	c.byName[name] = made.Source
	return made.Source
}

// Account finds a ledger account by its code, its role or, if the name begins with a capital letter, its source.
func (c *Company) Account(name string) (found account.Account) {
	c.Helper()
	wanted := name
	if name[0] >= 'A' && name[0] <= 'Z' {
		wanted = c.Source(name).LedgerAccountID
	}
	c.Read(func(ctx context.Context, tx *db.Tx) error {
		all, err := account.All(ctx, tx)
		for _, a := range all {
			if a.ID == wanted || a.Code == wanted || a.Role == wanted {
				found = a
			}
		}
		return err
	})
	if found.ID == "" {
		c.Fatalf("there is no account %s", name)
	}
	return found
}

// Period finds an accounting period by its key.
func (c *Company) Period(key string) (found period.Period) {
	c.Helper()
	c.Read(func(ctx context.Context, tx *db.Tx) error {
		all, err := period.All(ctx, tx)
		for _, p := range all {
			if p.Key == key {
				found = p
			}
		}
		return err
	})
	if found.ID == "" {
		c.Fatalf("there is no period %s", key)
	}
	return found
}

// AddPrice stores a price in US dollars at the end of a day.
func (c *Company) AddPrice(asset, day, value string) {
	c.Helper()
	_, err := price.NewService(c.DB).Create(c.Ctx, price.Params{AssetType: asset, Currency: "USD", Timestamp: day + "T23:00:00Z",
		Price: value})
	c.Must(err)
}

// Recorded returns what the audit log states about a record: each action with the type of the record and what it states after it.
func (c *Company) Recorded(id string) (out []string) {
	c.Helper()
	c.Read(func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = db.All[string](ctx, tx, "SELECT action || ' of a ' || resource_type || ': ' || after FROM audit_log "+
			"WHERE organization_id = @org AND resource_id = ? ORDER BY sequence", id)
		return err
	})
	return out
}

// Damage runs a statement that damages stored data, and calls a function before everything is rolled back.
func (c *Company) Damage(statement string, look func(ctx context.Context)) {
	c.Helper()
	err := c.DB.Write(c.Ctx, c.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, statement)
		if err != nil {
			return err
		}
		if n == 0 {
			c.Errorf("%s changed nothing", statement)
		}
		look(ctx)
		return dbtest.ErrUndo
	})
	if err != dbtest.ErrUndo {
		c.Errorf("%s: %v", statement, err)
	}
}

package transfers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// world is an organization with an exchange, two wallets, a card, a processor and a bank of another legal entity.
type world struct {
	*testing.T
	*transfers.Service
	db      *db.DB
	clock   *clock.Manual
	ctx     context.Context
	org     string
	entity  string
	abroad  string
	sources map[string]source.Source
	told    int
}

// each runs a test in a world of each engine, and verifies the data at the end.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(noon.AddDate(0, 1, 0))
		c.Clock = now
		d := dbtest.Open(t, c)
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, Service: transfers.NewService(d), db: d, clock: now, org: f.Organization.ID, entity: f.LegalEntity.ID,
			sources: map[string]source.Source{}}
		w.ctx = actor.With(t.Context(), actor.Actor{OrganizationID: w.org})
		abroad, err := entity.NewService(d).Create(w.ctx, entity.CreateParams{Name: "GmbH", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		w.abroad = abroad.ID
		all := source.NewService(d, nil, nil)
		for name, p := range map[string]source.CreateParams{
			"kraken": {Type: source.Exchange, Provider: "kraken"}, "kraken2": {Type: source.Exchange,
				Provider: "kraken"}, "bitstamp": {Type: source.Exchange, Provider: "bitstamp"},
			"file1": {Type: source.Exchange}, "file2": {Type: source.Exchange}, "main": {Type: source.Wallet, Chain: "ethereum",
				Address: "0xaaaa000000000000000000000000000000000001"},
			"base": {Type: source.Wallet, Chain: "base",
				Address: "0xaaaa000000000000000000000000000000000002"}, "card": {Type: source.Card}, "stripe": {Type: source.Other},
			"berlin": {Type: source.Exchange, LegalEntityID: w.abroad},
		} {
			if p.Name = name; p.LegalEntityID == "" {
				p.LegalEntityID = w.entity
			}
			made, err := all.Create(w.ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			w.sources[name] = made.Source
		}
		test(t, w)
		w.check()
	})
}

func (w *world) check() {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		found, err := transfers.Verify(ctx, tx)
		if len(found) > 0 {
			w.Errorf("the check finds %q", found)
		}
		return err
	})
}

func (w *world) write(fn db.Func) {
	w.Helper()
	if err := w.db.Write(w.ctx, w.org, fn); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(fn db.Func) {
	w.Helper()
	if err := w.db.Read(w.ctx, w.org, fn); err != nil {
		w.Fatal(err)
	}
}

// add adds transactions in the notation "kraken -5 ETH", with a minus for outflows, and returns their ids.
func (w *world) add(at time.Time, texts ...string) (ids []string) {
	w.Helper()
	return w.addWith(at, func(*transaction.Params) {}, texts...)
}

func (w *world) addWith(at time.Time, change func(*transaction.Params), texts ...string) (ids []string) {
	w.Helper()
	var all []transaction.New
	for _, text := range texts {
		parts := strings.Fields(text)
		quantity, direction := parts[1], transaction.Credit
		if strings.HasPrefix(quantity, "-") {
			quantity, direction = quantity[1:], transaction.Debit
		}
		w.told++
		q := money.MustParse(quantity)
		p := transaction.Params{ExternalID: fmt.Sprint(w.told), At: at, Direction: direction, Quantity: &q, Currency: parts[2]}
		if len(parts) > 3 {
			p.Crypto = &transaction.Crypto{Chain: parts[3]}
		}
		change(&p)
		all = append(all, transaction.New{Source: w.sources[parts[0]], Params: p})
	}
	w.write(func(ctx context.Context, tx *db.Tx) error {
		made, err := transaction.Add(ctx, tx, all)
		ids = nil
		for _, m := range made {
			ids = append(ids, m.ID)
		}
		return err
	})
	return ids
}

func (w *world) get(id string) (t transaction.Transaction) {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		t, err = transaction.Find(ctx, tx, id)
		return err
	})
	return t
}

// post marks a transaction as posted.
func (w *world) post(id string) {
	w.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		before, err := transaction.Find(ctx, tx, id)
		after := before
		after.Status = transaction.Posted
		if err == nil {
			_, err = transaction.Save(ctx, tx, []transaction.Edit{{Before: before, After: after}})
		}
		return err
	})
}

// match matches all of March.
func (w *world) match() transfers.Matched {
	w.Helper()
	m, err := w.Match(w.ctx, noon.AddDate(0, 0, -5), noon.AddDate(0, 0, 30), false)
	if err != nil {
		w.Fatal(err)
	}
	return m
}

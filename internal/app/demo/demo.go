// Package demo makes the books of a company that does not exist: two legal entities, two years of months, the first of them closed.
package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/entity"
	"github.com/bursarhq/bursar/internal/area/fx"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/area/org"
	"github.com/bursarhq/bursar/internal/area/period"
	"github.com/bursarhq/bursar/internal/area/source"
	"github.com/bursarhq/bursar/internal/area/tag"
	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

const (
	months = 24
	closed = 18
)

// company is what entries are made of.
type company struct {
	app      *app.App
	zone     *time.Location
	accounts map[string]string // by code
	us, de   string
	tags     map[string]string
	activity activity.Activity
	sources  []string // ids, in the order of the activity's
}

// Found makes the company and its books, which end with the month before this one.
func Found(ctx context.Context, a *app.App) (org.Founded, error) {
	f, err := a.Org.Found(ctx, org.FoundParams{Name: "Demo Company", Email: "demo@example.com", Currency: "USD", Timezone: "America/New_York"})
	if err != nil {
		return f, err
	}
	ctx = actor.With(ctx, actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
	c := &company{app: a, us: f.LegalEntity.ID, tags: map[string]string{}}
	if c.zone, err = time.LoadLocation(f.Organization.Timezone); err != nil {
		return f, err
	}
	for _, step := range []func(context.Context) error{c.entities, c.readChart, c.openSources, c.arrive, c.labels, c.rates, c.entries, c.closeMonths} {
		if err := step(ctx); err != nil {
			return f, fmt.Errorf("make the demo's books: %w", err)
		}
	}
	return f, nil
}

// month is the n-th month of the books.
func (c *company) month(n int) calendar.Month {
	m := calendar.MonthOf(c.app.DB.Clock().Now(), c.zone)
	for range months - n {
		m = m.Prev()
	}
	return m
}

func (c *company) day(n, day int) string { return fmt.Sprintf("%s-%02d", c.month(n).Key(), day) }

func (c *company) entities(ctx context.Context) error {
	name := "Demo Company, Inc."
	if _, err := c.app.Entities.Update(ctx, c.us, entity.UpdateParams{Name: &name, Country: ptr("US")}); err != nil {
		return err
	}
	de, err := c.app.Entities.Create(ctx, entity.CreateParams{Name: "Demo Company GmbH", BaseCurrency: "EUR", Country: "DE", ParentID: c.us, OwnershipPercent: "100"})
	c.de = de.ID
	return err
}

func ptr[T any](v T) *T { return &v }

func (c *company) readChart(ctx context.Context) error {
	c.accounts = map[string]string{}
	p := page.Request{Limit: page.LimitMax}
	for {
		got, err := c.app.Accounts.List(ctx, accountsAll, p)
		if err != nil {
			return err
		}
		for _, a := range got.Items {
			c.accounts[a.Code] = a.ID
			c.accounts[a.Role] = a.ID
		}
		if !got.HasMore {
			return nil
		}
		p.Cursor = got.NextCursor
	}
}

// accountOf says which account of the chart a source has; the others get one of their own.
var accountOf = map[string]string{"Operating account": "1010", "Geschäftskonto": "1010", "Company cards": "2030", "Card payments": "1020", "Treasury": "1210"}

// openSources makes the accounts and wallets that the company's money is on.
func (c *company) openSources(ctx context.Context) error {
	c.activity = activity.Make(c.month(0))
	for _, s := range c.activity.Sources {
		p := source.CreateParams{
			Type: source.Type(s.Type), Name: s.Name, Provider: s.Provider, LegalEntityID: map[int]string{activity.US: c.us, activity.DE: c.de}[s.Entity],
			Chain: s.Chain, Address: s.Address,
		}
		if p.Type != source.Wallet && p.Type != source.Exchange { // those hold many
			p.Currency = s.Currency
		}
		if code := accountOf[s.Name]; code != "" {
			p.LedgerAccountID = c.accounts[code]
		}
		made, err := c.app.Sources.Create(ctx, p)
		if err != nil {
			return err
		}
		c.sources = append(c.sources, made.ID)
	}
	return nil
}

// arrive brings in what the sources tell, in the order it happened, and links what belongs together.
func (c *company) arrive(ctx context.Context) error {
	for rest := c.activity.Transactions; len(rest) > 0; {
		n := min(len(rest), txn.AddMax)
		all := make([]txn.CreateParams, n)
		for i, x := range rest[:n] {
			all[i] = txn.CreateParams{SourceID: c.sources[x.Source], Params: paramsOf(x)}
		}
		if _, err := c.app.Transactions.Create(ctx, all); err != nil {
			return err
		}
		rest = rest[n:]
	}
	first, last := c.activity.Transactions[0].At, c.activity.Transactions[len(c.activity.Transactions)-1].At
	_, err := c.app.Transfers.After(ctx, actor.From(ctx).OrganizationID, first, last)
	return err
}

// typeOf is what a source says for sure of some categories.
var typeOf = map[string]txn.Type{"network_fee": txn.Fee, "refund": txn.Refund, "chargeback": txn.Chargeback}

// paramsOf is a transaction as its source tells it.
func paramsOf(x activity.Transaction) txn.Params {
	p := txn.Params{
		ExternalID: x.ExternalID, At: x.At, Description: x.Description, Direction: txn.Direction(x.Direction), Quantity: &x.Quantity, Currency: x.Currency,
		Category: x.Category, Vendor: x.Vendor, EventKey: x.TradeID, Type: typeOf[x.Category],
	}
	if v := x.Value; v != nil {
		p.Value = &txn.ValueParams{Gross: v.Gross, Fee: v.Fee, Net: v.Net, Currency: v.Currency}
	}
	if v := x.Crypto; v != nil {
		if v.TokenName != "" { // as explorers write it
			p.Description += ": " + v.TokenName
		}
		p.Crypto = &txn.Crypto{Chain: v.Chain, TransactionHash: v.Hash, From: v.From, To: v.To, AssetType: v.Asset, ContractAddress: v.Contract, TokenID: v.TokenID, FeeAssetType: v.FeeAsset}
		if v.Block > 0 {
			p.Crypto.BlockNumber = &v.Block
		}
		if v.FeeQuantity.Sign() > 0 {
			p.Crypto.FeeQuantity = &v.FeeQuantity
		}
	}
	if v := x.Bank; v != nil {
		p.Bank = &txn.Bank{BankName: v.Name, AccountLast4: v.Last4, CounterpartyName: v.Counterparty}
	}
	if v := x.Card; v != nil {
		p.Card = &txn.Card{MerchantName: v.Merchant, MerchantCategory: v.Category, CardholderName: v.Holder, Last4: v.Last4}
	}
	return p
}

func (c *company) labels(ctx context.Context) error {
	for name, kind := range map[string]tag.Kind{"Engineering": tag.Department, "Sales": tag.Department, "Validators": tag.Project, "Cloudhost": tag.Supplier, "Northwind": tag.Customer} {
		t, err := c.app.Tags.Create(ctx, kind, name)
		if err != nil {
			return err
		}
		c.tags[name] = t.ID
	}
	return nil
}

// rates gives every day of the books a rate between the two currencies, there and back, in a slow wave.
func (c *company) rates(ctx context.Context) error {
	var rates []fx.PutParams
	first, end := c.month(0).Start(time.UTC), c.month(months).Next().Start(time.UTC)
	for day, n := first, 0; day.Before(end); day, n = day.AddDate(0, 0, 1), n+1 {
		wave := n % 240
		if wave > 120 {
			wave = 240 - wave
		}
		date := calendar.DateOf(day, time.UTC)
		rates = append(rates,
			fx.PutParams{Base: "EUR", Quote: "USD", Date: date, Rate: fmt.Sprintf("1.%04d", 500+5*wave), Source: "demo"},
			fx.PutParams{Base: "USD", Quote: "EUR", Date: date, Rate: fmt.Sprintf("0.%04d", 9500-4*wave), Source: "demo"})
		if len(rates) >= fx.RatesMax-1 {
			if _, err := c.app.FX.Put(ctx, rates); err != nil {
				return err
			}
			rates = nil
		}
	}
	_, err := c.app.FX.Put(ctx, rates)
	return err
}

func (c *company) entries(ctx context.Context) error {
	for n := range months {
		if _, err := c.app.Journal.CreateBatch(ctx, c.of(n), false); err != nil {
			return err
		}
	}
	drafts := c.of(months)[:3] // this month has begun
	for i := range drafts {
		drafts[i].Status = journal.Draft
	}
	_, err := c.app.Journal.CreateBatch(ctx, drafts, false)
	return err
}

// closeMonths closes the first months for both entities.
func (c *company) closeMonths(ctx context.Context) error {
	list, err := c.app.Periods.List(ctx, period.Filter{}, page.Request{Limit: page.LimitMax})
	if err != nil {
		return err
	}
	for n := range closed {
		for _, p := range list.Items {
			if p.Key == c.month(n).Key() {
				if _, err := c.app.Periods.Close(ctx, p.ID, ""); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// line reads a line such as "Dr 1010 100.00".
func (c *company) line(side, account, amount string, tags ...string) journal.LineParams {
	l := journal.LineParams{LedgerAccountID: c.accounts[account], Side: book.Credit, Amount: amount}
	if side == "Dr" {
		l.Side = book.Debit
	}
	for _, name := range tags {
		l.TagIDs = append(l.TagIDs, c.tags[name])
	}
	return l
}

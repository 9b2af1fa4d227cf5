package booking_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/asset"
	"github.com/bursarhq/bursar/internal/area/booking"
	"github.com/bursarhq/bursar/internal/area/entity"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/area/org"
	"github.com/bursarhq/bursar/internal/area/period"
	"github.com/bursarhq/bursar/internal/area/source"
	"github.com/bursarhq/bursar/internal/area/transfers"
	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// world is an organization with two legal entities, wallets, an exchange and a bank.
type world struct {
	*testing.T
	db       *db.DB
	clock    *clock.Manual
	ctx      context.Context
	journal  *journal.Service
	bookings *booking.Service
	periods  *period.Service
	links    *transfers.Service
	txns     *txn.Service
	entities *entity.Service
	us, sub  string
	sources  map[string]source.Source
	names    map[string]string // of ledger accounts, by id
	accounts map[string]account.Account
	told     int
}

var today = time.Date(2025, 12, 15, 12, 0, 0, 0, time.UTC)

// each runs a test in a world of each engine, in which all must be well at the end.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(today)
		c.Clock = now
		test(t, newWorld(t, dbtest.Open(t, c), now))
	})
}

func newWorld(t *testing.T, d *db.DB, now *clock.Manual) *world {
	t.Helper()
	f, err := org.NewService(d).Found(t.Context(), org.FoundParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, db: d, clock: now, journal: journal.NewService(d), periods: period.NewService(d), links: transfers.NewService(d), txns: txn.NewService(d),
		entities: entity.NewService(d), us: f.LegalEntity.ID, sources: map[string]source.Source{}, names: map[string]string{}, accounts: map[string]account.Account{}}
	w.bookings = booking.NewService(d, w.journal)
	w.ctx = actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
	sub, err := w.entities.Create(w.ctx, entity.CreateParams{Name: "Sub", BaseCurrency: "USD"})
	if err != nil {
		t.Fatal(err)
	}
	w.sub = sub.ID
	all := source.NewService(d, nil, nil)
	for name, p := range map[string]source.CreateParams{
		"A": {Type: source.Wallet, Chain: "ethereum", Address: "0xaaaa000000000000000000000000000000000001"}, "B": {Type: source.Wallet, Chain: "ethereum", Address: "0xaaaa000000000000000000000000000000000002"},
		"Arb": {Type: source.Wallet, Chain: "arbitrum", Address: "0xaaaa000000000000000000000000000000000003"}, "Kraken": {Type: source.Exchange, Provider: "kraken"},
		"Bank": {Type: source.Bank, Currency: "USD"}, "Euro": {Type: source.Bank, Currency: "EUR"}, "Stripe": {Type: source.Other}, "SubWallet": {Type: source.Wallet, Chain: "ethereum", Address: "0xaaaa000000000000000000000000000000000004", LegalEntityID: w.sub},
	} {
		if p.Name = name; p.LegalEntityID == "" {
			p.LegalEntityID = w.us
		}
		made, err := all.Create(w.ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		w.sources[name] = made.Source
	}
	w.chart()
	for name, s := range w.sources {
		w.names[s.LedgerAccountID] = name
		w.accounts[name] = w.accounts[s.LedgerAccountID]
	}
	return w
}

// chart reads the ledger accounts, which go by their names.
func (w *world) chart() {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		all, err := account.All(ctx, tx)
		for _, a := range all {
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

// tell brings a transaction in: "A out 2.5 ETH = 6000.00 fee 12.00 (0.005)" on a day, the last being the quantity the fee took.
func (w *world) tell(day, text string) txn.Transaction {
	w.Helper()
	w.told++
	f := strings.Fields(text)
	q := money.MustParse(f[2])
	p := txn.CreateParams{SourceID: w.sources[f[0]].ID, Params: txn.Params{ExternalID: fmt.Sprint("x", w.told), Description: text, Quantity: &q, Currency: f[3]}}
	p.Direction = txn.Debit
	if f[1] == "in" {
		p.Direction = txn.Credit
	}
	at, err := time.Parse(time.RFC3339, day+"T12:00:00Z")
	if len(day) > 10 {
		at, err = time.Parse(time.RFC3339, day)
	}
	if err != nil {
		w.Fatal(err)
	}
	p.At = at
	value := &txn.ValueParams{Currency: "USD"}
	for i := 4; i < len(f); i++ {
		switch {
		case f[i] == "=":
			value.Gross = money.MustParse(f[i+1])
			p.Value = value
		case f[i] == "fee":
			value.Fee = money.MustParse(f[i+1])
		case strings.HasPrefix(f[i], "("):
			fee := money.MustParse(strings.Trim(f[i], "()"))
			p.Crypto = &txn.Crypto{FeeQuantity: &fee}
		case f[i] == "gas":
			fee := money.MustParse(f[i+1])
			p.Crypto = &txn.Crypto{FeeQuantity: &fee, FeeAssetType: f[i+2]}
		case f[i] == "token":
			p.Crypto = &txn.Crypto{TokenID: f[i+1], ContractAddress: "0xbbbb000000000000000000000000000000000001"}
		}
	}
	value.Net = value.Gross.Sub(value.Fee)
	made, err := w.txns.Create(w.ctx, []txn.CreateParams{p})
	if err != nil {
		w.Fatalf("%s: %v", text, err)
	}
	return made.Transactions[0]
}

// link makes a pair.
func (w *world) link(out, in txn.Transaction) {
	w.Helper()
	if _, err := w.links.Link(w.ctx, transfers.LinkParams{TransactionIDs: []string{out.ID, in.ID}}); err != nil {
		w.Fatal(err)
	}
}

// book books a transaction; target is the name of an account, or nothing.
func (w *world) book(t txn.Transaction, kind, target string) booking.Made {
	w.Helper()
	made, err := w.ask(t, kind, target, true)
	if err != nil {
		w.Fatalf("%s as %s: %v", t.Description, kind, err)
	}
	return made
}

func (w *world) ask(t txn.Transaction, kind, target string, post bool) (booking.Made, error) {
	w.Helper()
	made, err := w.bookings.Create(w.ctx, []booking.Params{{TransactionID: t.ID, Type: kind, LedgerAccountID: w.accountID(target), AutoPost: post}}, func(int) string { return "" }, false)
	if err != nil {
		return booking.Made{}, err
	}
	return made[0], nil
}

func (w *world) accountID(name string) string {
	w.Helper()
	if name == "" {
		return ""
	}
	a, there := w.accounts[name]
	if !there {
		w.Fatalf("no account %s", name)
	}
	return a.ID
}

// lines are those of an entry as accountants write them.
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

// lots are what is left, by asset: "A 2.5 ETH 5000.00 2025-06-01".
func (w *world) lots(assetType string) string {
	w.Helper()
	var out []string
	w.read(func(ctx context.Context, tx *db.Tx) error {
		all, err := asset.Open(ctx, tx)
		for _, l := range all {
			if l.AssetType == assetType {
				out = append(out, fmt.Sprintf("%s %s %s %s %s", w.names[l.LedgerAccountID], l.RemainingQuantity, l.AssetType, l.RemainingBasis.Fixed(l.Currency), l.AcquiredAt.Format("2006-01-02")))
			}
		}
		return err
	})
	slices.Sort(out)
	return strings.Join(out, "; ")
}

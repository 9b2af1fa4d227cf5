package transaction_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// world is a company with transactions that are as similar, as incomplete and as odd as possible.
type world struct {
	company
	mine, other string // legal entities
	sources     []source.Source
	all         []transaction.Transaction // by number
}

var (
	textPool = []string{"", "a", "Payment 100%", "under_score", `back\slash`, `it's "quoted"`, "GRÜSSE aus Köln", "Straße",
		"日本語テスト", "😀 fun 😀😀", "MiXeD Case", "100", "%", `\%_'"`, "AND OR NOT *", "x\ty"}
	categoryPool = []string{"", "", "Travel;Hotel", "travel", "Food", "FOOD;Été", `50%_off\`, "Hotel"}
	addressPool  = []string{"", "", "0xABC1", "0xabc1", "0xDef2", "0xF00", "bc1QaZ", "0x'%_"}
	chainPool    = []string{"", "Ethereum", "ethereum", "Base", "SOLANA"}
	currencyPool = []string{"USD", "EUR", "ETH", "eth", "BTC"}
	amountPool   = []string{"0", "0.00000001", "0.5", "1", "1.50", "1.5", "2", "9.99", "10", "10.0", "100",
		"12345678901234567890123456789012345678.123456789012345678901234567891"}
	typePool = []transaction.Type{"", "", transaction.Unknown, transaction.Deposit, transaction.Swap, transaction.Fee,
		transaction.Internal, transaction.TypeSpam}
)

func pick[T any](r *rand.Rand, pool []T) T { return pool[r.IntN(len(pool))] }

func newWorld(t *testing.T, c company, count int) *world {
	t.Helper()
	w := &world{company: c, mine: c.org.LegalEntity.ID, other: c.entity(t, "other")}
	for i, s := range []source.Source{
		{ID: "src_a", AccountID: "wal_a", Type: source.Wallet, Address: "0xABC1"}, {ID: "src_b", AccountID: "wal_b", Type: source.Wallet,
			Address: "0xdeF2"},
		{ID: "src_c", AccountID: "exs_c", Type: source.Exchange}, {ID: "src_d", AccountID: "pla_d", Type: source.Bank}, {ID: "src_e",
			Type: source.Card}, {ID: "src_f", Type: source.Other},
		{ID: "src_g", AccountID: "wal_g", Type: source.Wallet, Address: "0xabc1"}, {ID: "src_h", AccountID: "exs_h", Type: source.Exchange},
		{ID: "src_i", AccountID: "pla_i", Type: source.Bank}, {ID: "src_j", Type: source.Card}, {ID: "src_k", Type: source.Other},
	} {
		if s.LegalEntityID = w.mine; i > 5 {
			s.LegalEntityID = w.other
		}
		w.sources = append(w.sources, c.source(t, s))
	}
	tags := []string{c.tag(t, "one"), c.tag(t, "two")}
	r := rand.New(rand.NewPCG(7, 11))
	for made := 0; made < count; made += 40 {
		batch := make([]transaction.CreateParams, min(40, count-made))
		for i := range batch {
			batch[i] = w.odd(r, fmt.Sprint("x", made+i), tags)
		}
		c.create(t, batch...)
		if r.IntN(2) == 0 {
			c.clock.Advance(time.Duration(r.IntN(3)) * time.Millisecond)
		}
	}
	w.mutate(t, r)
	w.all = w.reread(t)
	return w
}

// held returns the symbols of a pool that a source can hold.
func held(s source.Source, pool []string) []string {
	return slices.DeleteFunc(slices.Clone(pool), func(symbol string) bool { return !s.Type.Holds(symbol) })
}

// odd returns a transaction that shares many values with others.
func (w *world) odd(r *rand.Rand, externalID string, tags []string) transaction.CreateParams {
	s := pick(r, w.sources)
	p := transaction.CreateParams{SourceID: pick(r, []string{s.ID, s.Account()}), Params: transaction.Params{
		ExternalID: externalID, At: time.Date(2026, 1, 1+r.IntN(4), r.IntN(2)*23, 59, 59, r.IntN(3)*499_500_000,
			time.UTC), Description: pick(r, textPool),
		Direction: pick(r, []transaction.Direction{transaction.Credit, transaction.Debit}), Currency: pick(r,
			held(s, currencyPool)), Category: pick(r, categoryPool), Vendor: pick(r, textPool), Memo: pick(r, textPool),
		Type: pick(r, typePool), EventKey: pick(r, []string{"", "e1"}),
	}}
	if r.IntN(4) > 0 {
		p.Quantity = dec(pick(r, amountPool))
	}
	if r.IntN(3) > 0 {
		net, fee := money.MustParse(pick(r, amountPool)), money.MustParse(pick(r, amountPool[:8]))
		p.Value = &transaction.ValueParams{Gross: net.Add(fee), Fee: fee, Net: net, Currency: pick(r, []string{"USD", "EUR"})}
	}
	if r.IntN(2) == 0 {
		p.Crypto = &transaction.Crypto{Chain: pick(r, chainPool), From: pick(r, addressPool), To: pick(r, addressPool),
			AssetType: pick(r, append(held(s, []string{"ETH", "usdc", "USDC"}), "", ""))}
		if r.IntN(2) == 0 {
			p.Crypto.FeeQuantity, p.Crypto.FeeAssetType = dec(pick(r, amountPool)), pick(r, held(s, currencyPool))
		}
	}
	if r.IntN(4) == 0 {
		p.Bank = &transaction.Bank{CounterpartyName: pick(r, textPool)}
	}
	if r.IntN(4) == 0 {
		p.Card = &transaction.Card{MerchantName: pick(r, textPool), MerchantCategory: pick(r, categoryPool)}
	}
	for _, tag := range tags {
		if r.IntN(4) == 0 {
			p.TagIDs = append(p.TagIDs, tag)
		}
	}
	return p
}

// mutate changes some transactions: memos, marking and unmarking spam, journal entries.
func (w *world) mutate(t *testing.T, r *rand.Rand) {
	t.Helper()
	for _, before := range w.reread(t) {
		switch r.IntN(6) {
		case 0:
			if before.Status == transaction.Pending {
				w.post(t, before)
			}
		case 1:
			if _, err := w.Update(w.ctx, before.ID, transaction.UpdateParams{Memo: new(pick(r, textPool)),
				Vendor: new(pick(r, textPool))}); err != nil {
				t.Fatal(err)
			}
		case 2:
			if _, err := w.Update(w.ctx, before.ID,
				transaction.UpdateParams{Status: new(pick(r, []transaction.Status{transaction.Spam, transaction.Pending}))}); err != nil {
				t.Fatal(err)
			}
		default:
			continue
		}
		w.clock.Advance(time.Duration(r.IntN(2)) * time.Millisecond)
	}
}

// reread returns every transaction as it is now, by number, without using the list.
func (w *world) reread(t *testing.T) (all []transaction.Transaction) {
	t.Helper()
	w.read(t, func(ctx context.Context, tx *db.Tx) error {
		ids, err := db.All[string](ctx, tx, "SELECT transaction_id FROM transactions WHERE organization_id = @org ORDER BY number")
		if err != nil {
			return err
		}
		all, err = transaction.FindByIDs(ctx, tx, ids)
		return err
	})
	return all
}

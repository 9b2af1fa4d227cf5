package booking_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// rp2Case is a case of the tax program rp2 (github.com/eprbell/rp2, Apache-2.0), as internal/rules/lot has it.
type rp2Case struct {
	Events   []rp2Event
	Expected map[string][]rp2Pair
}

type rp2Event struct {
	Kind, Type, Asset string
	From              string    `json:"src"`
	To                string    `json:"dst"`
	At                time.Time `json:"ts"`
	Sent, Received    money.Decimal
	Quantity          money.Decimal `json:"qty"`
	Spot, Proceeds    money.Decimal
	Basis             money.Decimal
	CryptoFee         money.Decimal `json:"crypto_fee"`
}

type rp2Pair struct {
	Asset                 string
	Quantity              money.Decimal `json:"qty"`
	Proceeds, Basis, Gain money.Decimal
	At                    time.Time  `json:"event_ts"`
	LotAt                 *time.Time `json:"lot_ts"`
}

func (p rp2Pair) String() string {
	return fmt.Sprintf("%s %s of %s at %s: %s for %s, gain %s", p.Quantity, p.Asset, p.LotAt.UTC(), p.At.UTC(), p.Basis, p.Proceeds, p.Gain)
}

// rp2Tolerance is what rounding to cents may make of a pair.
var rp2Tolerance = money.MustParse("0.01")

func (p rp2Pair) near(o rp2Pair) bool {
	near := func(a, b money.Decimal) bool { return a.Sub(b).Abs().Cmp(rp2Tolerance) <= 0 }
	return p.Asset == o.Asset && p.At.Equal(o.At) && p.LotAt.Equal(*o.LotAt) && p.Quantity.Equal(o.Quantity) &&
		near(p.Proceeds, o.Proceeds) && near(p.Basis, o.Basis) && near(p.Gain, o.Gain)
}

// boughtAtPrice reports whether everything was bought at its price, without a fee: rp2 orders by price, the books by cost.
func (c *rp2Case) boughtAtPrice() bool {
	return !slices.ContainsFunc(c.Events, func(e rp2Event) bool {
		return e.Kind == "in" && (!e.Basis.Equal(e.Quantity.Mul(e.Spot)) || !e.CryptoFee.IsZero())
	})
}

// rp2Params adds the transactions of a case and returns the parameters to book them, in the order of its rows.
func (w *world) rp2Params(c *rp2Case) (all []booking.Params) {
	w.Helper()
	book := func(t transaction.Transaction, kind, target string) {
		all = append(all, booking.Params{TransactionID: t.ID, Type: kind, LedgerAccountID: w.accountID(target), AutoPost: true})
	}
	for _, e := range c.Events {
		at := e.At.UTC().Format(time.RFC3339Nano)
		switch {
		case e.Kind == "in":
			t := w.add(at, fmt.Sprintf("%s in %s %s = %s", e.From, e.Quantity, e.Asset, e.Basis))
			if e.Type == "BUY" {
				book(t, "SWAP", "Bank")
			} else {
				book(t, "STAKING_REWARD", "Staking income")
			}
			if !e.CryptoFee.IsZero() {
				book(w.add(at, fmt.Sprintf("%s out %s %s = %s", e.From, e.CryptoFee, e.Asset, e.CryptoFee.Mul(e.Spot))), "FEE", "")
			}
		case e.Kind == "out" && e.Type == "SELL":
			book(w.add(at, fmt.Sprintf("%s out %s %s = %s", e.From, e.Quantity, e.Asset, e.Proceeds)), "SWAP", "Bank")
		case e.Kind == "out":
			book(w.add(at, fmt.Sprintf("%s out %s %s = %s", e.From, e.Quantity, e.Asset, e.Proceeds)), "EXPENSE", "Contractors")
		default:
			text := fmt.Sprintf("%s out %s %s", e.From, e.Sent, e.Asset)
			if !e.Quantity.IsZero() {
				text += fmt.Sprintf(" = %s fee %s (%s)", e.Sent.Mul(e.Spot), e.Proceeds, e.Quantity)
			}
			out, in := w.add(at, text), w.add(at, fmt.Sprintf("%s in %s %s", e.To, e.Received, e.Asset))
			w.link(out, in)
			book(out, "INTERNAL TRANSFER", "")
		}
	}
	return all
}

// pairs returns the realized gains by event and lot.
func (w *world) pairs() (out []rp2Pair) {
	w.Helper()
	type row struct {
		Transaction string        `db:"transaction_id"`
		Lot         string        `db:"asset_id"`
		Asset       string        `db:"asset_type"`
		At          time.Time     `db:"disposed_at"`
		LotAt       time.Time     `db:"acquired_at"`
		Quantity    money.Decimal `db:"quantity"`
		Proceeds    money.Decimal `db:"proceeds"`
		Basis       money.Decimal `db:"basis"`
		Gain        money.Decimal `db:"gain"`
	}
	at := map[[2]string]int{}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[row](ctx, tx, "SELECT "+db.Columns[row]()+
			" FROM lot_uses WHERE organization_id = @org AND legal_entity_id = ? AND kind IN ('dispose', 'fee') ORDER BY use_id", w.us)
		for _, r := range rows {
			i, there := at[[2]string{r.Transaction, r.Lot}]
			if !there {
				i = len(out)
				at[[2]string{r.Transaction, r.Lot}] = i
				out = append(out, rp2Pair{Asset: r.Asset, At: r.At, LotAt: &r.LotAt})
			}
			p := &out[i]
			p.Quantity, p.Proceeds, p.Basis, p.Gain = p.Quantity.Add(r.Quantity), p.Proceeds.Add(r.Proceeds), p.Basis.Add(
				r.Basis), p.Gain.Add(r.Gain)
		}
		return err
	})
	return slices.DeleteFunc(out, func(p rp2Pair) bool { return p.Quantity.IsZero() })
}

func sortPairs(pairs []rp2Pair) {
	slices.SortFunc(pairs, func(a, b rp2Pair) int {
		return cmp.Or(cmp.Compare(a.Asset, b.Asset), a.At.Compare(b.At), a.LotAt.Compare(*b.LotAt), a.Quantity.Cmp(b.Quantity),
			a.Basis.Cmp(b.Basis))
	})
}

// compare compares the realized gains with those of rp2.
func (w *world) compare(what string, expected []rp2Pair) {
	w.Helper()
	want, got := slices.DeleteFunc(slices.Clone(expected), func(p rp2Pair) bool {
		return p.LotAt == nil
	}), w.pairs() // Others are income, which has no lot.
	sortPairs(got)
	sortPairs(want)
	if len(got) != len(want) {
		w.Errorf("%s: %d pairs, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if !got[i].near(want[i]) {
			w.Errorf("%s: pair %d is\n%v, want\n%v", what, i, got[i], want[i])
		}
	}
}

// The books agree with rp2 on all of its cases, whether transactions are booked together or late.
func TestSoakBooksAgreeWithRP2(t *testing.T) {
	files, err := filepath.Glob("../../rules/lot/testdata/rp2/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		var c rp2Case
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			t.Fatal(file, err)
		}
		for method, expected := range c.Expected {
			if (method == "hifo" || method == "lofo") && !c.boughtAtPrice() {
				continue
			}
			t.Run(filepath.Base(file)+" "+method, func(t *testing.T) {
				each(t, func(t *testing.T, w *world) {
					// rp2 moves what is not there
					policy := entity.CreateParams{CostBasisMethod: method, CostBasisScope: entity.ScopeLegalEntity, ShortDisposal: entity.ShortAtZeroBasis}
					atOnce := w.newEntities(t, policy)
					if _, err := atOnce.bookings.Create(w.ctx, atOnce.rp2Params(&c), noPrefix); err != nil {
						t.Fatal(err)
					}
					atOnce.compare("at once", expected)
					if !dbtest.Soaking() && method != "fifo" {
						return
					}
					late := w.newEntities(t, policy)
					all := late.rp2Params(&c)
					rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
					for _, p := range all {
						if _, err := late.bookings.Create(w.ctx, []booking.Params{p}, noPrefix); err != nil {
							t.Fatal(err)
						}
					}
					late.compare("shuffled", expected)
				})
			})
		}
	}
}

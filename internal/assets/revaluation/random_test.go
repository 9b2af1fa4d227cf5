package revaluation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
)

// life is a random history of loans, claims, intercompany balances and foreign currency of two legal entities.
type life struct {
	*world
	random   *rand.Rand
	parent   string
	sub      string
	quantity map[place]money.Decimal
	fixed    map[place]money.Decimal // what was booked on accounts that are not monetary
}

// place is a unit on an account of a legal entity.
type place struct{ entity, account, unit string }

// places returns the monetary places, and then those that are not.
func (l *life) places() (monetary, others []place) {
	for _, unit := range []string{"ETH", "SOL"} {
		monetary = append(monetary, place{l.parent, "2220", unit}, place{l.parent, "1330", unit}, place{l.parent, "due_from:" + l.sub, unit},
			place{l.sub, "due_to:" + l.parent, unit}, place{l.sub, "1340", unit})
		others = append(others, place{l.parent, "1410", unit}, place{l.sub, "2120", unit})
	}
	monetary = append(monetary, place{l.parent, "1010", "EUR"}, place{l.parent, "2210", "EUR"}, place{l.parent, "due_from:" + l.sub, "EUR"})
	return monetary, append(others, place{l.parent, "1610", "EUR"}, place{l.parent, "2120", "EUR"})
}

// number returns a random number of a few digits after the point.
func (l *life) number(most int64, places int32) money.Decimal {
	scale := int64(1)
	for range places {
		scale *= 10
	}
	return money.FromInt(1+l.random.Int64N(most*scale)).Quo(money.FromInt(scale), places)
}

// move books a quantity at a random amount against capital.
func (l *life) move(p place, date string, quantity money.Decimal) {
	l.t.Helper()
	l.entity = p.entity
	amount := l.number(20_000, 2)
	sign, other := "+", "-"
	if quantity.Sign() < 0 {
		sign, other = other, sign
	}
	l.post(date, fmt.Sprintf("%s %s%s %s %s", p.account, sign, amount, quantity.Abs(), p.unit), "3010 "+other+amount.String())
	l.quantity[p] = l.quantity[p].Add(quantity)
	if quantity.Sign() < 0 {
		amount = amount.Neg()
	}
	l.fixed[p] = l.fixed[p].Add(amount)
}

// quote stores random prices and the rate for the end of a month.
func (l *life) quote(key string) {
	l.t.Helper()
	at := l.period(key).End.Add(-time.Duration(1+l.random.Int64N(50_000)) * time.Second).Format(time.RFC3339)
	for _, unit := range []string{"ETH", "SOL"} {
		for _, currency := range []string{"USD", "EUR"} {
			worth := l.number(4000, 5)
			if _, err := price.NewService(l.d).Create(l.ctx, price.Params{AssetType: unit, Currency: currency, Timestamp: at,
				Price: worth.String()}); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	l.rate("EUR", key+"-28", l.number(2, 4).String())
	l.closing("EUR", key, l.number(2, 4).String())
}

// measure runs a month and compares every balance with what it must be.
func (l *life) measure(key string) revaluation.Run {
	l.t.Helper()
	r, err := l.try(key, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	quotes := map[[2]string]money.Decimal{}
	for _, i := range r.Items {
		if i.Price != nil {
			quotes[[2]string{i.LegalEntityID, i.Unit}] = i.Price.Value
		}
	}
	monetary, others := l.places()
	for _, p := range monetary {
		want := l.quantity[p].Mul(quotes[[2]string{p.entity, p.unit}]).Round(2)
		if quantity, amount := l.units(p); !amount.Equal(want) || !quantity.Equal(l.quantity[p]) {
			l.t.Errorf("%s: %v is %s at %s, want %s at %s", key, p, quantity, amount, l.quantity[p], want)
		}
	}
	for _, p := range others {
		if quantity, amount := l.units(p); !amount.Equal(l.fixed[p]) || !quantity.Equal(l.quantity[p]) {
			l.t.Errorf("%s: %v is %s at %s, want %s at %s", key, p, quantity, amount, l.quantity[p], l.fixed[p])
		}
	}
	return r
}

// units returns the balance of a place.
func (l *life) units(p place) (quantity, amount money.Decimal) {
	l.t.Helper()
	id := l.account(p.account).ID
	l.read(func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[struct {
			Quantity money.Decimal `db:"quantity"`
			Amount   money.Decimal `db:"amount"`
		}](ctx, tx, "SELECT quantity, amount FROM account_units WHERE organization_id = @org AND legal_entity_id = ? AND "+
			"ledger_account_id = ? AND unit = ?", p.entity, id, p.unit)
		for _, r := range rows {
			quantity, amount = quantity.Add(r.Quantity), amount.Add(r.Amount)
		}
		return err
	})
	return quantity, amount
}

func TestInARandomLifeEveryMonetaryBalanceIsWorthItsUnitsAndEndsAtNothing(t *testing.T) {
	for seed := range uint64(4) {
		policy := []string{"us_gaap cost", "us_gaap fair_value", "ifrs impairment", "ifrs fair_value"}[seed]
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			each(t, policy, func(t *testing.T, w *world) {
				sub, err := entity.NewService(w.d).Create(w.ctx, entity.CreateParams{Name: "Sub", BaseCurrency: "EUR"})
				if err != nil {
					t.Fatal(err)
				}
				l := &life{world: w, random: rand.New(rand.NewPCG(seed, 1)), parent: w.entity, sub: sub.ID,
					quantity: map[place]money.Decimal{}, fixed: map[place]money.Decimal{}}
				l.live()
			})
		})
	}
}

// live lives five months and then settles everything.
func (l *life) live() {
	monetary, others := l.places()
	all := append(monetary, others...)
	for month := 1; month <= 5; month++ {
		key := fmt.Sprintf("2025-%02d", month)
		move := func() {
			quantity := l.number(10, 4)
			if l.random.IntN(2) == 0 {
				quantity = quantity.Neg()
			}
			l.move(all[l.random.IntN(len(all))], fmt.Sprintf("%s-%02d", key, 1+l.random.IntN(28)), quantity)
		}
		for range 6 {
			move()
		}
		l.quote(key)
		r := l.measure(key)
		for range 2 {
			switch l.random.IntN(4) {
			case 0:
				move() // it arrives late
			case 1:
				l.quote(key)
			case 2:
				if _, err := l.s.Reverse(l.ctx, r.ID); err != nil {
					l.t.Fatal(err)
				}
			}
			r = l.measure(key)
		}
	}
	for _, p := range all {
		if left := l.quantity[p]; !left.IsZero() {
			l.move(p, "2025-06-15", left.Neg())
		}
	}
	l.measure("2025-06")
	for _, p := range monetary {
		if quantity, amount := l.units(p); !quantity.IsZero() || !amount.IsZero() {
			l.t.Errorf("%v ends with %s at %s", p, quantity, amount)
		}
	}
}

package activity_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/spam"
	"github.com/bursarhq/bursar/internal/rules/transfer"
)

// starts are months in which weekdays, leap days and the turn of the year fall differently.
var starts = []calendar.Month{{Year: 2024, Month: time.November}, {Year: 2024, Month: time.February},
	{Year: 2023, Month: time.January}, {Year: 2025, Month: time.June}}

var made = sync.OnceValue(func() map[calendar.Month]activity.Activity {
	all := map[calendar.Month]activity.Activity{}
	for _, m := range starts {
		all[m] = activity.Make(m)
	}
	return all
})

func each(t *testing.T, check func(t *testing.T, first calendar.Month, a activity.Activity)) {
	t.Helper()
	for first, a := range made() {
		t.Run(first.Key(), func(t *testing.T) { check(t, first, a) })
	}
}

func TestThereAreFiveThousandTransactionsInOrderWithinTheTwoYears(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, first calendar.Month, a activity.Activity) {
		if len(a.Transactions) != activity.Count {
			t.Fatalf("%d transactions", len(a.Transactions))
		}
		// The months of the books are New York's, which winter makes begin five hours later than here.
		start, end := first.Start(time.FixedZone("", -5*3600)), first.Add(activity.Months).Start(time.UTC)
		ids, months, last := map[string]bool{}, map[string]int{}, start
		for _, x := range a.Transactions {
			id := fmt.Sprint(x.Source, x.ExternalID)
			if x.ExternalID == "" || ids[id] || x.Description == "" || x.Category == "" || x.At.Before(last) || !x.At.Before(end) ||
				x.At.Location() != time.UTC {
				t.Errorf("%+v", x)
			}
			ids[id], last = true, x.At
			months[x.At.Format("2006-01")]++
		}
		for m, n := range months {
			if n < 180 || n > 240 {
				t.Errorf("%d transactions in %s", n, m)
			}
		}
	})
}

func TestTheSameMonthGivesTheSameActivity(t *testing.T) {
	t.Parallel()
	if first := starts[0]; !reflect.DeepEqual(activity.Make(first), made()[first]) {
		t.Error("a second time it is another")
	}
}

func TestGrossIsNetPlusFeeToTheCent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ calendar.Month, a activity.Activity) {
		unpriced := 0
		for _, x := range a.Transactions {
			v := x.Value
			if v == nil {
				unpriced++
				continue
			}
			s := a.Sources[x.Source]
			if !v.Gross.Equal(v.Net.Add(v.Fee)) || !v.Gross.Equal(v.Gross.Round(2)) || !v.Fee.Equal(v.Fee.Round(2)) || v.Fee.Sign() < 0 ||
				v.Net.Sign() < 0 || v.Currency != s.Currency {
				t.Errorf("%+v of %+v", *v, x)
			}
			if money.IsFiat(x.Currency) && !x.Quantity.Equal(v.Net) && (x.Direction == activity.Credit || !x.Quantity.Equal(v.Gross)) {
				t.Errorf("%s of %+v", x.Quantity, *v)
			}
			if x.Quantity.Sign() < 0 || x.Quantity.IsZero() && !x.Truth.Spam {
				t.Errorf("nothing moves in %+v", x)
			}
		}
		if unpriced > 20 {
			t.Errorf("%d transactions have no price", unpriced)
		}
	})
}

func TestNoBalanceIsEverNegative(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ calendar.Month, a activity.Activity) {
		balance := map[string]money.Decimal{}
		for _, x := range a.Transactions {
			asset := x.Currency
			if x.Crypto != nil && a.Sources[x.Source].Type == "wallet" {
				asset += x.Crypto.Contract
			}
			key := a.Sources[x.Source].Name + " " + asset
			if x.Direction == activity.Credit {
				balance[key] = balance[key].Add(x.Quantity)
			} else {
				balance[key] = balance[key].Sub(x.Quantity)
			}
			if balance[key].Sign() < 0 {
				t.Fatalf("%s has %s after %+v", key, balance[key], x)
			}
		}
		for key, b := range balance {
			t.Logf("%s: %s", key, b)
		}
	})
}

func TestEverySourceAndEveryKindOfEventIsThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ calendar.Month, a activity.Activity) {
		sources, kinds := map[int]int{}, map[string]int{}
		for _, x := range a.Transactions {
			sources[x.Source]++
			kinds[x.Category]++
			s := a.Sources[x.Source]
			if (x.Bank != nil) != (s.Type == "bank") || s.Type == "wallet" && (x.Crypto == nil || x.Crypto.Chain != s.Chain ||
				x.Crypto.From != s.Address && x.Crypto.To != s.Address) || (x.Card != nil) != (s.Type == "card" && x.Category != "transfer") {
				t.Errorf("%+v from %+v", x, s)
			}
		}
		for n, s := range a.Sources {
			if sources[n] < 100 {
				t.Errorf("%s has %d transactions", s.Name, sources[n])
			}
		}
		for kind := range strings.FieldsSeq(
			"payroll taxes rent hosting wire transfer transfer_in purchase refund charge chargeback staking_reward claim_reward trade " +
				"bridge network_fee grant contractor withdrawal deposit nft sale interest bank_fee") {
			if kinds[kind] == 0 {
				t.Errorf("there is no %s", kind)
			}
		}
		t.Log(sources, kinds)
	})
}

// arrivals are what the spam filter gets to see.
func arrivals(a activity.Activity) (all []spam.Arrival) {
	paid := map[string]bool{}
	for _, x := range a.Transactions {
		if x.Category == "network_fee" {
			paid[x.Crypto.Hash] = true
		}
	}
	for n, x := range a.Transactions {
		s := a.Sources[x.Source]
		v := spam.Arrival{Class: s.Class(), SourceID: fmt.Sprint(x.Source), At: x.At, Inflow: x.Direction == activity.Credit,
			Symbol: x.Currency, Quantity: x.Quantity, Description: x.Description}
		if c := x.Crypto; c != nil {
			v.Chain, v.Hash, v.Contract, v.TokenName, v.TokenID, v.From, v.To = c.Chain, c.Hash, c.Contract, c.TokenName, c.TokenID, c.From, c.To
			v.PaidFee = paid[c.Hash] || !v.Inflow && c.FeeQuantity.Sign() > 0
		}
		if x.Value != nil {
			v.Value, v.Currency = &a.Transactions[n].Value.Gross, x.Value.Currency
		}
		all = append(all, v)
	}
	return all
}

func TestTheSpamFilterFindsAllSpamAndNothingElse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ calendar.Month, a activity.Activity) {
		var own []string
		for _, s := range a.Sources {
			own = append(own, s.Address)
		}
		all := arrivals(a)
		k := spam.NewKnowledge(spam.Facts{Own: own}, all)
		arrived, junk, planted := 0, 0, 0
		for n, x := range a.Transactions {
			if v := spam.Score(all[n], k); v.Spam != x.Truth.Spam {
				t.Errorf("%s %s of %s is taken for spam: %t, by %+v", x.Quantity, x.Currency, x.Description, v.Spam, v.Reasons)
			}
			switch {
			case x.Truth.Spam && !all[n].Inflow:
				planted++
			case x.Truth.Spam:
				junk++
			}
			if a.Sources[x.Source].Type == "wallet" && all[n].Inflow {
				arrived++
			}
		}
		if junk*100 < 3*arrived || junk*100 > 5*arrived || planted == 0 {
			t.Errorf("%d of %d arrivals are spam, %d transfers out are planted", junk, arrived, planted)
		}
	})
}

// legs are what is matched: not spam, not fees, and not what has a counterparty by its nature, which is purchases and sales by card.
func legs(a activity.Activity) (all []transfer.Leg) {
	for n, x := range a.Transactions {
		switch x.Category {
		case "purchase", "charge", "refund", "chargeback", "network_fee":
			continue
		}
		if x.Truth.Spam {
			continue
		}
		s := a.Sources[x.Source]
		l := transfer.Leg{ID: fmt.Sprintf("%04d", n), SourceID: s.Name, LegalEntityID: fmt.Sprint(s.Entity), Asset: x.Currency,
			Inflow: x.Direction == activity.Credit, Quantity: x.Quantity, At: x.At,
			GroupKey: x.TradeID, OwnAddress: s.Address, Fiat: money.IsFiat(x.Currency)}
		if c := x.Crypto; c != nil {
			l.Chain, l.Hash, l.Contract, l.From, l.To = c.Chain, c.Hash, c.Contract, c.From, c.To
		}
		all = append(all, l)
	}
	return all
}

// rivalled tells that a third leg fits one of a pair as well as the other does: of the same asset elsewhere, within a
// day, and about as much.
func rivalled(all, pair []transfer.Leg) bool {
	for _, one := range pair {
		for _, l := range all {
			out, in := one, l
			if one.Inflow {
				out, in = l, one
			}
			missing := out.Quantity.Sub(in.Quantity)
			after := in.At.Sub(out.At)
			if l.ID != pair[0].ID && l.ID != pair[1].ID && l.Inflow != one.Inflow && l.Asset == one.Asset && l.SourceID != one.SourceID &&
				after <= 24*time.Hour && after >= -10*time.Minute &&
				missing.Sign() >= 0 && missing.Mul(money.FromInt(50)).Cmp(out.Quantity) <= 0 {
				return true
			}
		}
	}
	return false
}

func TestTheMatcherLinksWhatBelongsTogetherAndNothingElse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ calendar.Month, a activity.Activity) {
		all := legs(a)
		r := transfer.Match(all)
		group := func(id string) string {
			n, err := strconv.Atoi(id)
			if err != nil {
				t.Fatal(err)
			}
			return a.Transactions[n].Truth.TransferGroup
		}
		found, by := map[string]bool{}, map[string]int{}
		for _, p := range r.Pairs {
			if group(p.Out) == "" || group(p.Out) != group(p.In) {
				t.Errorf("%+v is wrong: %s and %s", p, group(p.Out), group(p.In))
			}
			found[group(p.Out)] = true
			by[fmt.Sprint(p.Kind, " by ", p.Evidence)]++
		}
		truth, unclear := map[string][]transfer.Leg{}, 0
		for _, l := range all {
			if g := group(l.ID); g != "" && !strings.HasPrefix(g, "capital") { // which went from dollars to euros
				truth[g] = append(truth[g], l)
			}
		}
		for g, pair := range truth {
			if len(pair) != 2 {
				t.Errorf("%s has %d legs", g, len(pair))
			}
			if !found[g] {
				unclear++
				if !rivalled(all, pair) {
					t.Errorf("%s was not found, though nothing else fits", g)
				}
			}
		}
		t.Logf("%d groups, %d found, %d unclear, %v", len(truth), len(found), unclear, by)
		if unclear*20 > len(truth) {
			t.Errorf("%d of %d groups are unclear", unclear, len(truth))
		}
		for _, kind := range []string{"internal by hash", "internal by addresses", "internal by amount", "bridge by amount", "swap by group"} {
			if by[kind] == 0 {
				t.Errorf("nothing is %s", kind)
			}
		}
	})
}

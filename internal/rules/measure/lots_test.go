package measure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

func d(text string) money.Decimal { return money.MustParse(text) }

// formatLines formats the lines of an effect: Dr adjustment 30.00, Cr revaluation_surplus 30.00.
func formatLines(e measure.Effect) string {
	var out []string
	for _, l := range e.Lines() {
		out = append(out, fmt.Sprintf("%s %s %s", map[string]string{"DEBIT": "Dr", "CREDIT": "Cr"}[string(l.Side)], l.Account,
			l.Amount.Fixed("USD")))
	}
	return strings.Join(out, ", ")
}

// walk is one lot measured repeatedly.
type walk struct {
	model   measure.Model
	balance money.Decimal
	state   []measure.State
}

// at measures what is left of the lot at a price for one.
func (w *walk) at(quantity, cost, price string) measure.Effect {
	lot := measure.Lot{ID: "lot", Predecessor: "lot", Quantity: d(quantity), Units: d(quantity), Cost: d(cost), Price: d(price)}
	var lots []measure.Lot
	if !lot.Quantity.IsZero() {
		lots = append(lots, lot)
	}
	measured, effect := w.model.Lots(w.state, lots, w.balance, 2)
	w.balance, w.state = w.balance.Add(effect.Adjustment), nil
	for _, m := range measured {
		w.state = append(w.state, measure.State{Lot: "lot", Quantity: lot.Quantity, Adjustment: m.Adjustment})
	}
	return effect
}

func TestEachModelBooksWhatItsStandardSays(t *testing.T) {
	t.Parallel()
	type step struct{ quantity, cost, price, want string }
	for _, c := range []struct {
		name  string
		model measure.Model
		steps []step
	}{
		{"IAS 38: up, below cost, up again, sold", measure.Revalued, []step{
			{"1", "100", "130", "Dr adjustment 30.00, Cr revaluation_surplus 30.00"},
			{"1", "100", "90", "Cr adjustment 40.00, Dr unrealized_loss 10.00, Dr revaluation_surplus 30.00"},
			{"1", "100", "120", "Dr adjustment 30.00, Cr unrealized_gain 10.00, Cr revaluation_surplus 20.00"},
			// Sold for 125: 25 was booked against cost, of which 20 were known; 5 are left in earnings.
			{"0", "0", "125", "Cr adjustment 20.00, Dr realized_loss 20.00, Dr revaluation_surplus 20.00, Cr retained_earnings_posted 20.00"},
		}},
		{"IAS 38: sold below cost after a loss", measure.Revalued, []step{
			{"1", "100", "90", "Cr adjustment 10.00, Dr unrealized_loss 10.00"},
			// Sold for 95: a loss of 5 was booked against cost, though 5 were gained on 90.
			{"0", "0", "95", "Dr adjustment 10.00, Cr realized_gain 10.00"},
		}},
		{"IAS 38: half sold", measure.Revalued, []step{
			{"2", "200", "115", "Dr adjustment 30.00, Cr revaluation_surplus 30.00"},
			{"1", "100", "115", "Cr adjustment 15.00, Dr realized_loss 15.00, Dr revaluation_surplus 15.00, Cr retained_earnings_posted 15.00"},
			{"1", "100", "110", "Cr adjustment 5.00, Dr revaluation_surplus 5.00"},
		}},
		{"IFRS impairment comes back up to cost", measure.Impaired, []step{
			{"1", "100", "120", ""},
			{"1", "100", "70", "Cr adjustment 30.00, Dr impairment_loss 30.00"},
			{"1", "100", "90", "Dr adjustment 20.00, Cr impairment_loss 20.00"},
			{"1", "100", "140", "Dr adjustment 10.00, Cr impairment_loss 10.00"},
		}},
		{"US GAAP impairment does not come back", measure.WrittenOff, []step{
			{"1", "100", "70", "Cr adjustment 30.00, Dr impairment_loss 30.00"},
			{"1", "100", "140", ""},
			{"1", "100", "60", "Cr adjustment 10.00, Dr impairment_loss 10.00"},
			{"1", "100", "65", ""},
		}},
		{"impaired to 70, half sold for 45: a loss of 5 was booked, and it is a gain of 10", measure.WrittenOff, []step{
			{"2", "100", "35", "Cr adjustment 30.00, Dr impairment_loss 30.00"},
			{"1", "50", "45", "Dr adjustment 15.00, Cr realized_gain 15.00"},
		}},
		{"the same under IFRS, and the rest recovers", measure.Impaired, []step{
			{"2", "100", "35", "Cr adjustment 30.00, Dr impairment_loss 30.00"},
			{"1", "50", "45", "Dr adjustment 25.00, Cr impairment_loss 10.00, Cr realized_gain 15.00"},
		}},
		{"thirds of a cent", measure.Impaired, []step{
			{"3", "10.00", "3", "Cr adjustment 1.00, Dr impairment_loss 1.00"},
			{"2", "6.67", "3", "Dr adjustment 0.33, Cr realized_gain 0.33"},
			{"1", "3.33", "3", "Dr adjustment 0.34, Cr impairment_loss 0.01, Cr realized_gain 0.33"},
		}},
	} {
		w := walk{model: c.model}
		for i, s := range c.steps {
			before := w
			if got := formatLines(w.at(s.quantity, s.cost, s.price)); got != s.want {
				t.Errorf("%s, step %d: %s, want %s", c.name, i, got, s.want)
			}
			if got := formatLines(w.at(s.quantity, s.cost, s.price)); got != "" {
				t.Errorf("%s, step %d again: %s", c.name, i, got)
			}
			if s.quantity == "0" && !w.balance.IsZero() {
				t.Errorf("%s: %s is left of %s", c.name, w.balance, before.balance)
			}
		}
	}
}

func TestAnAdjustmentFollowsWhatALotBecame(t *testing.T) {
	t.Parallel()
	state := []measure.State{{Lot: "a", Quantity: d("3"), Adjustment: d("10.00")}}
	for _, c := range []struct {
		name    string
		lots    []measure.Lot
		carried string
		want    string
	}{
		{"moved in three, nothing is released", []measure.Lot{
			{ID: "a", Predecessor: "a", Quantity: d("1"), Units: d("1"), Cost: d("1"), Price: d("4.34")},
			{ID: "b", Predecessor: "a", Quantity: d("1"), Units: d("1"), Cost: d("1"), Price: d("4.34")},
			{ID: "c", Predecessor: "a", Quantity: d("1"), Units: d("1"), Cost: d("1"), Price: d("4.34")},
		}, "3.33 3.34 3.33", "Dr adjustment 0.02, Cr revaluation_surplus 0.02"},
		{"converted one to a thousand", []measure.Lot{{ID: "b", Predecessor: "a", Quantity: d("1500"), Units: d("1.5"), Cost: d("1.50"),
			Price: d("0.004334")}},
			"5", "Cr adjustment 5.00, Dr realized_loss 5.00, Dr revaluation_surplus 5.00, Cr retained_earnings_posted 5.00"},
		{"a disposal was taken back, and each unit has what the others have", []measure.Lot{{ID: "a", Predecessor: "a", Quantity: d("4"),
			Units: d("4"), Cost: d("4.00"), Price: d("3.50")}}, "13.33", ""},
		{"a lot that is new has nothing", []measure.Lot{
			{ID: "a", Predecessor: "a", Quantity: d("3"), Units: d("3"), Cost: d("2.00"), Price: d("4")},
			{ID: "n", Quantity: d("1"), Cost: d("5.00"), Price: d("4")},
		}, "10 0", "Cr adjustment 1.00, Dr unrealized_loss 1.00"},
		{"the asset left with all it had", nil, "",
			"Cr adjustment 10.00, Dr realized_loss 10.00, Dr revaluation_surplus 10.00, Cr retained_earnings_posted 10.00"},
	} {
		measured, effect := measure.Revalued.Lots(state, c.lots, d("10"), 2)
		var carried []string
		for _, m := range measured {
			carried = append(carried, m.Carried.String())
		}
		if got := strings.Join(carried, " "); got != c.carried || formatLines(effect) != c.want {
			t.Errorf("%s: %s: %s, want %s: %s", c.name, got, formatLines(effect), c.carried, c.want)
		}
	}
}

// One of two units was sold in a month that is closed. Now the sale consumed another lot, and both are held.
func TestUnitsComeBackAsTheyLeft(t *testing.T) {
	t.Parallel()
	sold := func(units, share string) measure.Release { return measure.Release{Units: d(units), Share: d(share)} }
	held := func(quantity, cost, price string) []measure.Lot {
		return []measure.Lot{{ID: "a", Predecessor: "a", Quantity: d(quantity), Units: d(quantity), Cost: d(cost), Price: d(price)}}
	}
	for _, c := range []struct {
		name    string
		model   measure.Model
		state   measure.State
		lots    []measure.Lot
		balance string
		want    string
	}{
		// It was carried at 150 when it was sold, and at 170 after that: the sale releases 50 less, and 20 are a surplus.
		{"IAS 38", measure.Revalued, measure.State{Lot: "a", Quantity: d("1"), Adjustment: d("70"),
			Released: []measure.Release{sold("-1", "-50")}}, held("2", "200", "155"), "70",
			"Dr adjustment 40.00, Cr realized_gain 50.00, Cr revaluation_surplus 40.00, Dr retained_earnings_posted 50.00"},
		// It was carried at 70 when it was sold, and the other one at 60 after that: 30 come back, and 10 are an impairment.
		{"US GAAP impairment", measure.WrittenOff, measure.State{Lot: "a", Quantity: d("1"), Adjustment: d("-40"),
			Released: []measure.Release{sold("-1", "30")}}, held("2", "200", "65"), "-40",
			"Cr adjustment 40.00, Dr impairment_loss 10.00, Dr realized_loss 30.00"},
		{"US GAAP impairment of a lot of which nothing was left", measure.WrittenOff, measure.State{Lot: "a", Quantity: d("1"),
			Adjustment: d("-30"), Gone: true, Released: []measure.Release{sold("-1", "30")}}, held("1", "100", "90"), "0",
			"Cr adjustment 30.00, Dr realized_loss 30.00"},
		{"held again and sold again", measure.WrittenOff, measure.State{Lot: "a", Quantity: d("1"), Adjustment: d("-30"), Gone: true,
			Released: []measure.Release{sold("-1", "30"), sold("1", "-30")}}, nil, "0", ""},
		{"sold in two parts", measure.Impaired, measure.State{Lot: "a", Quantity: d("3"), Adjustment: d("-10"),
			Released: []measure.Release{sold("1", "-3.34"), sold("1", "-3.33")}}, held("1", "10", "6.67"), "-10",
			"Dr adjustment 6.67, Cr realized_gain 6.67"},
	} {
		if _, effect := c.model.Lots([]measure.State{c.state}, c.lots, d(c.balance), 2); formatLines(effect) != c.want {
			t.Errorf("%s: %s, want %s", c.name, formatLines(effect), c.want)
		}
	}
	moved := []measure.State{{Lot: "a", Quantity: d("1"), Adjustment: d("-40")}, {Lot: "gone", Quantity: d("1"), Adjustment: d("-40")}}
	if _, effect := measure.WrittenOff.Lots(moved, held("2", "200", "65"), d("-80"), 2); formatLines(effect) != "" {
		t.Errorf("a lot took the place of another one that had moved: %s", formatLines(effect))
	}
}

func TestSharesOfDisposalsAddUpToWhatIsNotHeldAnyMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state    measure.State
		disposed []string
		want     string
	}{
		{measure.State{Quantity: d("3"), Adjustment: d("-10")}, []string{"1", "1", "1"}, "-3.33 -3.34 -3.33"},
		{measure.State{Quantity: d("3"), Adjustment: d("-10")}, []string{"1", "1"}, "-3.34 -3.33"}, // -3.33 stays
		{measure.State{Quantity: d("3"), Adjustment: d("-10")}, []string{"1", "-1"}, "-3.33 3.33"},
		{measure.State{Quantity: d("2"), Adjustment: d("-60"), Gone: true}, []string{"-1"}, "30"},
		{measure.State{Quantity: d("0"), Adjustment: d("-60")}, []string{"1"}, "0"},
	} {
		var disposed []money.Decimal
		for _, text := range c.disposed {
			disposed = append(disposed, d(text))
		}
		var shares []string
		for _, s := range c.state.Shares(disposed, 2) {
			shares = append(shares, s.Share.String())
		}
		if got := strings.Join(shares, " "); got != c.want {
			t.Errorf("%v of %+v: %s, want %s", c.disposed, c.state, got, c.want)
		}
	}
}

func TestWhatOtherEntriesBookedIsReversed(t *testing.T) {
	t.Parallel()
	lot := []measure.Lot{{ID: "a", Predecessor: "a", Quantity: d("1"), Units: d("1"), Cost: d("100"), Price: d("130")}}
	state := []measure.State{{Lot: "a", Quantity: d("1"), Adjustment: d("30")}}
	if _, effect := measure.Revalued.Lots(state, lot, d("37"), 2); formatLines(effect) != "Cr adjustment 7.00, Dr unrealized_loss 7.00" {
		t.Error(formatLines(effect))
	}
	if _, effect := measure.Impaired.Lots(nil, nil, d("-7"), 2); formatLines(effect) != "Dr adjustment 7.00, Cr impairment_loss 7.00" {
		t.Error(formatLines(effect))
	}
}

func TestAnAssetNoLongerMeasuredByLotIsAtCostAgain(t *testing.T) {
	t.Parallel()
	lots := []measure.Lot{{ID: "a", Predecessor: "a", Quantity: d("1"), Units: d("1"), Cost: d("100")},
		{ID: "b", Predecessor: "b", Quantity: d("1"),
			Units: d("1"), Cost: d("100")}}
	states := []measure.State{{Lot: "a", Quantity: d("1"), Adjustment: d("30")}, {Lot: "b", Quantity: d("2"), Adjustment: d("-8")}}
	if _, effect := measure.NotMeasured.Lots(states, lots, d("22"),
		2); formatLines(effect) != "Cr adjustment 22.00, Cr unrealized_gain 4.00, Cr realized_gain 4.00, Dr revaluation_surplus 30.00" {
		t.Error(formatLines(effect))
	}
}

func TestACostWithMoreDigitsThanItsCurrencyIsMeasuredToo(t *testing.T) {
	t.Parallel()
	w := walk{model: measure.Revalued}
	w.at("3", "10.00005", "4")
	w.at("2", "6.66670", "4")
	if !w.balance.Equal(d("1.3333")) {
		t.Error(w.balance)
	}
}

func TestWhatBecameAnotherAssetTakesItsShareAlong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, adjustment, price string
		model                   measure.Model
		want                    string // of what is left, and of what it became
	}{
		{"a surplus stays a surplus", "20", "60", measure.Revalued, ""},
		{"a loss is neither a gain there nor a loss here", "-20", "40", measure.Revalued, ""},
		{"what is worth more has a surplus", "20", "65", measure.Revalued, "Dr adjustment 5.00, Cr revaluation_surplus 5.00"},
		{"a loss that is reversed comes first", "-20", "55", measure.Revalued,
			"Dr adjustment 15.00, Cr unrealized_gain 10.00, Cr revaluation_surplus 5.00"},
		{"an impairment stays", "-20", "70", measure.WrittenOff, ""},
		{"an impairment grows", "-20", "35", measure.WrittenOff, "Cr adjustment 5.00, Dr impairment_loss 5.00"},
		{"an impairment is reversed under IFRS", "-20", "70", measure.Impaired, "Dr adjustment 10.00, Cr impairment_loss 10.00"},
		{"what was at fair value is not written up", "20", "70", measure.WrittenOff, ""},
		{"what was at fair value is written down", "20", "45", measure.WrittenOff, "Cr adjustment 15.00, Dr impairment_loss 15.00"},
	} {
		left := measure.State{Lot: "eth", Quantity: d("2"), Adjustment: d(c.adjustment)}
		became := measure.State{Lot: "weth", Quantity: d("1000"), Adjustment: left.HandOver(d("1"), 2).Share}
		half := measure.Lot{ID: "eth", Predecessor: "eth", Quantity: d("1"), Units: d("1"), Cost: d("50"), Price: d(c.price)}
		wrapped := measure.Lot{ID: "weth", Predecessor: "weth", Quantity: d("1000"), Units: d("1000"), Cost: d("50"),
			Price: d(c.price).Quo(d("1000"), 6)}
		for _, half := range []struct {
			state measure.State
			lot   measure.Lot
		}{{left, half}, {became, wrapped}} {
			_, effect := c.model.Lots([]measure.State{half.state}, []measure.Lot{half.lot}, half.state.Adjustment, 2)
			if got := formatLines(effect); got != c.want {
				t.Errorf("%s, %s: %s, want %s", c.name, half.lot.ID, got, c.want)
			}
		}
	}
}

func TestHandoversOfAStateAddUp(t *testing.T) {
	t.Parallel()
	s := measure.State{Lot: "a", Quantity: d("3"), Adjustment: d("-10.00")}
	var shares []string
	for range 3 {
		shares = append(shares, s.HandOver(d("1"), 2).Share.String())
	}
	if got := strings.Join(shares, " "); got != "-3.33 -3.34 -3.33" || !s.Quantity.IsZero() || !s.Adjustment.IsZero() {
		t.Errorf("%s, and %s of %s are left", got, s.Adjustment, s.Quantity)
	}
}

// A positive adjustment of what is never written up was in earnings before: no equity is involved when it is sold.
func TestTheGainOnWhatWasAtFairValueBeforeIsReleasedWithoutASurplus(t *testing.T) {
	t.Parallel()
	w := walk{model: measure.WrittenOff, balance: d("40"), state: []measure.State{{Lot: "lot", Quantity: d("2"), Adjustment: d("40")}}}
	if got := formatLines(w.at("1", "50", "90")); got != "Cr adjustment 20.00, Dr realized_loss 20.00" {
		t.Error(got)
	}
}

// A lot that cost 100 was taken over at 150 or 60 from where it was measured in another way.
func TestWhatALotWasTakenOverWithIsInNoSurplus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		model      measure.Model
		adjustment string
		sold       string // of 1
		price      string
		want       string
	}{
		{"kept at cost", measure.Kept, "50", "0", "90", ""},
		{"kept below cost", measure.Kept, "-40", "0", "90", ""},
		{"half of it sold", measure.Kept, "50", "0.5", "90", "Cr adjustment 25.00, Dr realized_loss 25.00"},
		{"not written up", measure.Impaired, "50", "0", "180", ""},
		{"impaired above cost", measure.Impaired, "50", "0", "120", "Cr adjustment 30.00, Dr impairment_loss 30.00"},
		{"impaired below cost", measure.Impaired, "50", "0", "90", "Cr adjustment 60.00, Dr impairment_loss 60.00"},
		{"an impairment is reversed up to cost", measure.Impaired, "-40", "0", "180", "Dr adjustment 40.00, Cr impairment_loss 40.00"},
		{"revalued above it", measure.Revalued, "50", "0", "180", "Dr adjustment 30.00, Cr revaluation_surplus 30.00"},
		{"revalued below it", measure.Revalued, "50", "0", "120", "Cr adjustment 30.00, Dr unrealized_loss 30.00"},
		{"revalued below cost", measure.Revalued, "50", "0", "90", "Cr adjustment 60.00, Dr unrealized_loss 60.00"},
		{"half of it sold at its value", measure.Revalued, "50", "0.5", "150", "Cr adjustment 25.00, Dr realized_loss 25.00"},
		{"no longer measured", measure.NotMeasured, "50", "0", "150", "Cr adjustment 50.00, Dr unrealized_loss 50.00"},
	} {
		left := d("1").Sub(d(c.sold))
		state := measure.State{Lot: "a", Quantity: d("1"), Adjustment: d(c.adjustment), TakenOver: d(c.adjustment)}
		state.Released = state.Shares([]money.Decimal{d(c.sold)}, 2)
		lot := measure.Lot{ID: "a", Predecessor: "a", Quantity: left, Units: left, Cost: left.Mul(d("100")), Price: d(c.price)}
		_, effect := c.model.Lots([]measure.State{state}, []measure.Lot{lot}, state.Adjustment, 2)
		if got := formatLines(effect); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

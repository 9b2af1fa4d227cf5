package booking_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// step is a transaction on a day, the expected lines of its entry, and optionally the lots that remain.
type step struct{ day, leg, lines, left string }

// runSteps books steps: inflows are paid for with capital, and outflows pay contractors.
func (w *world) runSteps(steps ...step) {
	w.Helper()
	for _, s := range steps {
		kind, target := "DEPOSIT", "Paid-in capital"
		if strings.Contains(s.leg, " out ") {
			kind, target = "EXPENSE", "Contractors"
		}
		made := w.book(w.add(s.day, s.leg), kind, target)
		if s.lines != "" {
			w.expect(s.leg, made, s.lines)
		}
		if s.left != "" {
			w.expectLots(s.leg, s.left)
		}
	}
}

func TestMethods(t *testing.T) {
	bought := []step{{day: "2025-01-10", leg: "A in 2 ETH = 3000.00"}, {day: "2025-02-10", leg: "A in 1 ETH = 2600.00"},
		{day: "2025-03-10", leg: "A in 1 ETH = 1000.00"}}
	each(t, func(t *testing.T, world *world) {
		for method, steps := range map[string][]step{
			"fifo": {{"2025-09-15", "A out 2.5 ETH = 6000.00", "Dr Contractors 6000.00; Cr A 4300.00; Cr Realized gains 1700.00",
				"A 0.5 ETH 1300.00 2025-02-10; A 1 ETH 1000.00 2025-03-10"}},
			"lifo": {{"2025-09-15", "A out 2.5 ETH = 6000.00", "Dr Contractors 6000.00; Cr A 4350.00; Cr Realized gains 1650.00",
				"A 1.5 ETH 2250.00 2025-01-10"}},
			"hifo": {{"2025-09-15", "A out 2.5 ETH = 6000.00", "Dr Contractors 6000.00; Cr A 4850.00; Cr Realized gains 1150.00",
				"A 0.5 ETH 750.00 2025-01-10; A 1 ETH 1000.00 2025-03-10"}},
			"lofo": {{"2025-09-15", "A out 2.5 ETH = 6000.00", "Dr Contractors 6000.00; Cr A 3250.00; Cr Realized gains 2750.00",
				"A 0.5 ETH 750.00 2025-01-10; A 1 ETH 2600.00 2025-02-10"}},
			"weighted_average": {{"2025-09-15", "A out 2.5 ETH = 6000.00", "Dr Contractors 6000.00; Cr A 4125.00; Cr Realized gains 1875.00",
				"A 0.5 ETH 825.00 2025-02-10; A 1 ETH 1650.00 2025-03-10"},
				{"2025-09-16", "A out 1.5 ETH = 1000.00", "Dr Contractors 1000.00; Cr A 2475.00; Dr Realized losses 1475.00", ""}},
		} {
			w := world.newEntities(t, entity.CreateParams{CostBasisMethod: method})
			w.runSteps(append(bought, steps...)...)
			w.verifyBooks()
		}
		w := world.newEntities(t, entity.CreateParams{CostBasisMethod: "lifo"})
		w.runSteps(append(bought[:2:2], step{"2025-02-20", "A out 1 ETH = 3000.00",
			"Dr Contractors 3000.00; Cr A 2600.00; Cr Realized gains 400.00", "A 2 ETH 3000.00 2025-01-10"}, bought[2])...)
		w.verifyBooks()
	})
}

// Published examples of pools at average cost.
func TestWeightedAverage(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, entity.CreateParams{CostBasisMethod: "weighted_average"})
		w.runSteps(step{"2025-01-01", "A in 100 BTC = 1000.00", "", ""}, step{"2025-02-01", "A in 50 BTC = 125000.00", "", ""},
			step{"2025-03-01", "A out 50 BTC = 300000.00", "Dr Contractors 300000.00; Cr A 42000.00; Cr Realized gains 258000.00",
				"A 50 BTC 42000.00 2025-01-01; A 50 BTC 42000.00 2025-02-01"})
		w.verifyBooks()

		w = world.newEntities(t, entity.CreateParams{CostBasisMethod: "weighted_average"})
		w.runSteps(step{"2025-01-01", "A in 2 BTC = 20.00", "", ""}, step{"2025-01-02", "A out 1 BTC = 15.00",
			"Dr Contractors 15.00; Cr A 10.00; Cr Realized gains 5.00", "A 1 BTC 10.00 2025-01-01"},
			step{"2025-01-03", "A in 1 BTC = 30.00", "", ""}, step{"2025-01-04", "A out 1.5 BTC = 15.00",
				"Dr Contractors 15.00; Cr A 30.00; Dr Realized losses 15.00", ""},
			step{"2025-01-05", "A in 3 BTC = 60.00", "", ""}, step{"2025-01-06", "A out 2 BTC = 60.00",
				"Dr Contractors 60.00; Cr A 40.00; Cr Realized gains 20.00", ""},
			step{"2025-01-07", "A out 1.5 BTC = 15.00", "Dr Contractors 15.00; Cr A 30.00; Dr Realized losses 15.00", ""},
			step{"2025-01-08", "A in 1 BTC = 10.00", "", ""}, step{"2025-01-09", "A out 0.5 BTC = 2.50",
				"Dr Contractors 2.50; Cr A 5.00; Dr Realized losses 2.50", "A 0.5 BTC 5.00 2025-01-08"})
		w.verifyBooks()
		// Late: the average of everything after it is another one.
		late := w.book(w.add("2025-01-01T18:00:00Z", "A in 1 BTC = 40.00"), "DEPOSIT", "Paid-in capital")
		if len(late.Changes) != 5 {
			t.Errorf("changes: %+v", late.Changes)
		}
		w.verifyBooks()
	})
}

// Parts equal the whole.
func TestRounding(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.runSteps(step{"2025-01-01", "A in 3 ETH = 10.00", "", ""}, step{"2025-02-01", "A out 1 ETH = 5.00",
			"Dr Contractors 5.00; Cr A 3.33; Cr Realized gains 1.67", ""},
			step{"2025-02-02", "A out 1 ETH = 5.00", "Dr Contractors 5.00; Cr A 3.34; Cr Realized gains 1.66", ""},
			step{"2025-02-03", "A out 1 ETH = 5.00", "Dr Contractors 5.00; Cr A 3.33; Cr Realized gains 1.67", ""})
		w.verifyBooks()
	})
}

func (w *world) lotID(sourceName, day string) (found string) {
	w.Helper()
	open := true
	all, err := w.picks.List(w.ctx, lots.Filter{LegalEntityIDs: []string{w.us, w.sub}, Open: &open}, page.Request{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	for _, l := range all.Items {
		if l.SourceID == w.source(sourceName).ID && l.AcquiredAt.Format("2006-01-02") == day {
			found = l.ID
		}
	}
	if found == "" {
		w.Fatalf("no lot of %s of %s", sourceName, day)
	}
	return found
}

// expectRefused fails the test unless an error is of a kind and contains texts.
func (w *world) expectRefused(what string, err error, kind fault.Kind, says ...string) {
	w.Helper()
	if fault.KindOf(err) != kind {
		w.Errorf("%s: %v", what, err)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			w.Errorf("%s: %q does not say %q", what, err, s)
		}
	}
}

func TestSpecificLots(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, entity.CreateParams{CostBasisMethod: "specific_id"})
		w.base()
		sale := w.add(eventDay, "A out 1.5 ETH = 3600.00")
		first, second := w.lotID("A", "2025-01-10"), w.lotID("A", "2025-06-01")
		choose := func(of transaction.Transaction, picks ...lot.Pick) error {
			_, err := w.picks.SelectLots(w.ctx, of.ID, picks)
			return err
		}
		w.expectRefused("too little", choose(sale, lot.Pick{Lot: second, Quantity: money.MustParse("1")}), fault.Invalid, "selections")
		if err := choose(sale, lot.Pick{Lot: second, Quantity: money.MustParse("1.2")},
			lot.Pick{Lot: first, Quantity: money.MustParse("0.3")}); err != nil {
			t.Fatal(err)
		}
		w.expect("chosen", w.book(sale, "EXPENSE", "Contractors"), "Dr Contractors 3600.00; Cr A 2850.00; Cr Realized gains 750.00")
		w.expectLots("chosen", "A 1.7 ETH 2550.00 2025-01-10; A 1.8 ETH 3600.00 2025-06-01")
		// Also what moves is chosen, the fee from the first of it.
		out, in := w.add("2025-09-16", "A out 1 ETH = 2400.00 fee 2.40 (0.001)"), w.add("2025-09-16", "B in 0.999 ETH = 2397.60")
		w.link(out, in)
		if err := choose(out, lot.Pick{Lot: second, Quantity: money.MustParse("0.8")},
			lot.Pick{Lot: first, Quantity: money.MustParse("0.2")}); err != nil {
			t.Fatal(err)
		}
		w.expect("moved", w.book(out, "INTERNAL TRANSFER", ""), "Dr B 1898.00; Dr Network fees 2.40; Cr A 1900.00; Cr Realized gains 0.40")
		w.expectLots("moved",
			"A 1 ETH 2000.00 2025-06-01; A 1.5 ETH 2250.00 2025-01-10; B 0.2 ETH 300.00 2025-01-10; B 0.799 ETH 1598.00 2025-06-01")
		// Where nobody chose, the oldest go.
		w.expect("not chosen", w.book(w.add("2025-09-17", "A out 1 ETH = 2400.00"), "EXPENSE", "Contractors"),
			"Dr Contractors 2400.00; Cr A 1500.00; Cr Realized gains 900.00")
		// What was chosen is gone by the time of posting.
		sale = w.add("2025-09-18", "A out 1 ETH = 2400.00")
		if err := choose(sale, lot.Pick{Lot: second, Quantity: money.MustParse("1")}); err != nil {
			t.Fatal(err)
		}
		rival := w.add("2025-09-17T18:00:00Z", "A out 0.5 ETH = 1200.00")
		if err := choose(rival, lot.Pick{Lot: second, Quantity: money.MustParse("0.5")}); err != nil {
			t.Fatal(err)
		}
		w.book(rival, "EXPENSE", "Contractors")
		_, err := w.tryBook(sale, "EXPENSE", "Contractors", true)
		w.expectRefused("chosen by another", err, fault.Conflict, "selections[0]", sale.SequenceNumber())
		w.verifyBooks()
	})
}

// With one pool for a legal entity a transfer moves no lots, and what is sold anywhere takes the oldest.
func TestEntityScope(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, entity.CreateParams{CostBasisScope: entity.ScopeLegalEntity})
		w.base()
		out, in := w.add("2025-09-01", "A out 2.5 ETH = 6000.00 fee 12.00 (0.005)"), w.add("2025-09-01", "B in 2.495 ETH = 5988.00")
		w.link(out, in)
		made := w.book(out, "INTERNAL TRANSFER", "")
		w.expectBooked(made.Entry, out, in)
		w.verifyBooks()
		w.runSteps(step{"2025-09-15", "B out 1 ETH = 2400.00", "Dr Contractors 2400.00; Cr A 1500.00; Cr Realized gains 900.00", ""},
			step{"2025-09-16", "A out 1 ETH = 2400.00", "Dr Contractors 2400.00; Cr A 1502.50; Cr Realized gains 897.50", ""})
		w.verifyBooks()
		w.runSteps(step{"2025-01-05", "B in 1 ETH = 1000.00", "", ""})
		w.verifyBooks()
	})
}

func TestShortDisposal(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.runSteps(step{"2025-01-01", "A in 0.5 ETH = 5.00", "", ""})
		sale := w.add("2025-02-01", "A out 0.6 ETH = 3.00")
		draft, err := w.tryBook(sale, "EXPENSE", "Contractors", false)
		if err != nil {
			t.Fatal(err)
		}
		w.expect("draft", draft, "Dr Contractors 3.00; Cr A 5.00; Dr Realized losses 2.00")
		if shown := w.entry(draft.ID); len(shown.Guidance.Warnings) == 0 || !strings.Contains(strings.Join(shown.Guidance.Warnings, " "),
			"0.1 ETH are missing") {
			t.Errorf("warnings: %q", shown.Guidance.Warnings)
		}
		if !strings.Contains(strings.Join(draft.Guidance.Warnings, " "), "0.1 ETH are missing") {
			t.Errorf("warnings when made: %q", draft.Guidance.Warnings)
		}
		_, err = w.journal.Post(w.ctx, draft.ID)
		w.expectRefused("posting", err, fault.Conflict, "0.1", "ETH", w.source("A").Name, sale.SequenceNumber())
		w.expectLots("nothing was written", "A 0.5 ETH 5.00 2025-01-01")
		w.expectBooked(draft.Entry, sale)
		if err := w.journal.Delete(w.ctx, draft.ID); err != nil {
			t.Fatal(err)
		}
		_, err = w.tryBook(sale, "EXPENSE", "Contractors", true)
		w.expectRefused("posting at once", err, fault.Conflict, "0.1", "ETH", w.source("A").Name)
		w.expectUnbooked(sale)
		w.runSteps(step{"2025-01-02", "A in 0.1 ETH = 1.00", "", ""})
		w.expect("with what was missing", w.book(sale, "EXPENSE", "Contractors"), "Dr Contractors 3.00; Cr A 6.00; Dr Realized losses 3.00")
		w.verifyBooks()

		w = world.newEntities(t, entity.CreateParams{ShortDisposal: entity.ShortAtZeroBasis})
		w.runSteps(step{"2025-01-01", "A in 0.5 ETH = 5.00", "", ""}, step{"2025-02-01", "A out 0.6 ETH = 3.00",
			"Dr Contractors 3.00; Cr A 5.00; Dr Realized losses 2.00", ""})
		w.expectLots("nothing", "")
		w.verifyBooks()
		w.runSteps(step{"2025-01-02", "A in 0.2 ETH = 3.00", "", "A 0.1 ETH 1.50 2025-01-02"})
		w.verifyBooks()
	})
}

// What is missing by the rounding of a feed is not missed.
func TestFeedRounding(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.runSteps(step{"2025-01-01", "A in 1 ETH = 5.00", "", ""}, step{"2025-02-01", "A out 1.000000001 ETH = 3.00",
			"Dr Contractors 3.00; Cr A 5.00; Dr Realized losses 2.00", ""})
		w.verifyBooks()
	})
}

// The pool has a basis as a whole; what rounding leaves of one lot passes on to the next, so that lists add up to the ledger.
func TestTheLotsOfAWeightedAverageAddUpToTheLedgerOverAllPages(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, scope := range []string{entity.ScopeSource, entity.ScopeLegalEntity} {
			w := world.newEntities(t, entity.CreateParams{CostBasisMethod: "weighted_average", CostBasisScope: scope})
			for i := range 40 {
				leg := fmt.Sprintf("%s in 1 ETH = 10.%02d", []string{"A", "B"}[i%2], 16*max(0, 1-i/2))
				w.book(w.add(fmt.Sprintf("2025-03-%02d", 1+i/2), leg), "DEPOSIT", "Paid-in capital")
			}
			w.expectBasis(scope+", after the first days", "2025-03-10", "200.32")
			w.expectBasis(scope, "", "400.32")
			w.book(w.add("2025-04-01", "A out 3.5 ETH = 50.00"), "EXPENSE", "Contractors")
			left := money.MustParse(w.balance("A")).Add(money.MustParse(w.balance("B")))
			w.expectBasis(scope+", after a disposal", "", left.Fixed("USD"))
			w.expectBasis(scope+", before it", "2025-03-31", "400.32")
		}
	})
}

// expectBasis compares what the lots cost that were held at the end of a day, by report and, if no day is given, by the list of assets,
// with an amount.
func (w *world) expectBasis(name, day, want string) {
	w.Helper()
	var listed, reported money.Decimal
	for p := (page.Request{Limit: 7}); day == ""; {
		all, err := w.picks.List(w.ctx, lots.Filter{LegalEntityIDs: []string{w.us}}, p)
		if err != nil {
			w.Fatal(err)
		}
		for _, l := range all.Items {
			listed = listed.Add(l.RemainingBasis)
		}
		if p.Cursor = all.NextCursor; p.Cursor == "" {
			break
		}
	}
	for p := (page.Request{Limit: 7}); ; {
		all, err := holdings.NewService(w.db).AssetTaxLots(w.ctx, holdings.TaxLotsParams{
			Filter: holdings.Filter{LegalEntityIDs: []string{w.us}}, AsOf: day}, p)
		if err != nil {
			w.Fatal(err)
		}
		for _, l := range all.Items {
			reported = reported.Add(l.RemainingBasis)
			if one, _, err := holdings.NewService(w.db).TaxLot(w.ctx, l.ID, day); err != nil || !one.RemainingBasis.Equal(l.RemainingBasis) {
				w.Errorf("%s: a lot alone has a basis of %s, in the list of %s: %v", name, one.RemainingBasis, l.RemainingBasis, err)
			}
		}
		if p.Cursor = all.NextCursor; p.Cursor == "" {
			break
		}
	}
	if got := reported.Fixed("USD"); got != want {
		w.Errorf("%s: the lots of the report add up to %s, want %s", name, got, want)
	}
	if got := listed.Fixed("USD"); day == "" && got != want {
		w.Errorf("%s: the assets add up to %s, want %s", name, got, want)
	}
}

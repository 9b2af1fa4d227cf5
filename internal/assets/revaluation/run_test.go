package revaluation_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// refused fails unless an error is of a kind and says everything it should.
func (w *world) refused(what string, err error, kind fault.Kind, says ...string) {
	w.t.Helper()
	if fault.KindOf(err) != kind || err == nil {
		w.t.Errorf("%s: %v", what, err)
		return
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			w.t.Errorf("%s: %v does not say %s", what, err, text)
		}
	}
}

func TestARunIsReplacedByALaterOneWhereItDiffers(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.buy("L2 BTC 2025-09-10 1 50000")
		w.closing("ETH", "2025-09", "2000")
		w.closing("BTC", "2025-09", "60000")
		first, err := w.try("2025-09", nil)
		if err != nil {
			t.Fatal(err)
		}
		w.say("first", told(first), "BTC fair_value 0 to 10000: posted, ETH fair_value 0 to 1000: posted")
		before := w.counts()
		w.say("again", w.run("2025-09"), "BTC fair_value 0 to 10000: kept, ETH fair_value 0 to 1000: kept")
		if after := w.counts(); after[0] != before[0] || after[1] != before[1] || after[2] != before[2]+1 {
			t.Errorf("%v became %v", before, after)
		}
		w.price("ETH 2025-09-30T23:59:00Z 2100")
		third, err := w.try("2025-09", nil)
		if err != nil {
			t.Fatal(err)
		}
		w.say("another price", told(third), "BTC fair_value 0 to 10000: kept, ETH fair_value 0 to 1200: replaced")
		w.say("September", w.moved("2025-09"), "fair_value_adjustment:BTC 10000, fair_value_adjustment:ETH 1200, unrealized_gain 11200")
		if n := w.entries(); n != 2 {
			t.Errorf("%d entries stand", n)
		}
		eth := third.Items[1]
		w.read(func(ctx context.Context, tx *db.Tx) error {
			last, err := journal.Find(ctx, tx, eth.EntryID)
			if err != nil {
				return err
			}
			undo, err := journal.Find(ctx, tx, last.PreviousID)
			if err != nil {
				return err
			}
			if undo.PreviousID != first.Items[1].EntryID || eth.ReplacedID != undo.PreviousID || undo.OriginatedBy != journal.ByReversal ||
				last.OriginatedBy != journal.ByRevaluation ||
				!last.AccountingDate.Equal(third.AsOf) || last.PeriodID != third.PeriodID {
				t.Errorf("%+v %+v", undo, last)
			}
			return nil
		})
		w.sell("L1 2025-09-20 2 4000")
		w.say("all is sold within the month", w.run("2025-09"), "BTC fair_value 0 to 10000: kept, ETH fair_value 0 to 0: reversed")
		w.say("once more", w.run("2025-09"), "BTC fair_value 0 to 10000: kept")
	})
}

func TestADryRunWritesNothingAndReportsWhatARunWouldDo(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.foreign("1010 2025-09-05 EUR 1000 1.08")
		w.closing("ETH", "2025-09", "2000")
		w.closing("EUR", "2025-09", "1.10")
		before := w.counts()
		dry, err := w.try("2025-09", func(p *revaluation.RunParams) { p.Dry = true })
		if err != nil || !slices.Equal(w.counts(), before) || dry.ID != "" {
			t.Fatalf("%v, %v became %v", err, before, w.counts())
		}
		real, err := w.try("2025-09", nil)
		if err != nil || told(real) != told(dry) || !reflect.DeepEqual(real.Rows, dry.Rows) || real.RowCount != 2 ||
			!reflect.DeepEqual(real.Parts, dry.Parts) {
			t.Fatalf("%v\n%+v\n%+v", err, real, dry)
		}
		kept, err := w.s.Get(w.ctx, real.ID)
		if err != nil {
			t.Fatal(err)
		}
		if told(kept) != told(real) || len(kept.Rows) != 2 || kept.Rows[0].SubjectID != "ast_L1" || kept.Rows[0].Price == nil ||
			kept.Rows[0].Price.Value.String() != "2000" ||
			kept.Items[0].Price.PriceID == "" || kept.Items[0].Lines[0].Role != "fair_value_adjustment:ETH" ||
			kept.Items[0].Lines[0].AccountID == "" || kept.Status() != revaluation.Posted {
			t.Errorf("%+v", kept)
		}
		w.refused("a price that was used", price.NewService(w.d).Delete(w.ctx, kept.Items[0].Price.PriceID), fault.Conflict,
			"is used by 1 revaluation")
	})
}

func TestEveryPriceAndRateThatIsMissingIsNamedAndNothingIsWritten(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.buy("L2 BTC 2025-09-10 2 3000")
		w.buy("L3 SOL 2025-09-10 2 3000")
		w.foreign("1010 2025-09-05 EUR 1000 1.08")
		w.closing("SOL", "2025-09", "2000")
		before := w.counts()
		for _, dry := range []bool{true, false} {
			_, err := w.try("2025-09", func(p *revaluation.RunParams) { p.Dry = dry })
			w.refused("missing", err, fault.Conflict, "BTC/USD has no price at 2025-09-30T23:59:59.999Z", "ETH/USD has no price",
				"EUR/USD has no rate of 2025-09-30: store it with POST /v1/fx-rates")
		}
		if !slices.Equal(w.counts(), before) {
			t.Errorf("%v became %v", before, w.counts())
		}
		w.closing("EUR", "2025-09", "1.10")
		r, err := w.try("2025-09", func(p *revaluation.RunParams) { p.Kinds = []revaluation.Kind{revaluation.Exchange} })
		if err != nil || told(r) != "EUR fx 1080 to 1100: posted" || len(r.Parts) != 1 {
			t.Errorf("%v %s", err, told(r))
		}
	})
}

func TestAClosedPeriodAndOneThatIsNotOverAreNotMeasured(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.closing("ETH", "2025-09", "2000")
		first, err := w.try("2025-09", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := period.NewService(w.d).WithTransit(holdings.InTransit).Close(w.ctx, w.period("2025-09").ID, ""); err != nil {
			t.Fatal(err)
		}
		before := w.counts()
		_, err = w.try("2025-09", nil)
		w.refused("closed for all", err, fault.Conflict, "2025-09 is closed")
		_, err = w.try("2025-09", func(p *revaluation.RunParams) { p.LegalEntityIDs = []string{w.entity} })
		w.refused("closed", err, fault.Conflict, "legal_entity_ids[0]")
		_, err = w.s.Reverse(w.ctx, first.ID)
		w.refused("reversed when closed", err, fault.Conflict, "is closed")
		var now string
		w.read(func(_ context.Context, tx *db.Tx) error { now = tx.Now().Format("2006-01"); return nil })
		_, err = w.try(now, nil)
		w.refused("not over", err, fault.Conflict, "is not over")
		_, err = w.s.Run(w.ctx, revaluation.RunParams{PeriodID: "ap_none"})
		w.refused("no such period", err, fault.NotFound, "accounting_period_id")
		_, err = w.try("2025-10", func(p *revaluation.RunParams) {
			p.LegalEntityIDs, p.Kinds = []string{w.entity, w.entity}, []revaluation.Kind{"x", revaluation.Exchange, revaluation.Exchange}
		})
		w.refused("faults", err, fault.Invalid, "kinds[0]", "kinds[2]", "legal_entity_ids[1]")
		if !slices.Equal(w.counts(), before) {
			t.Errorf("%v became %v", before, w.counts())
		}
	})
}

// A later run has measured what an earlier one left: they are reversed in the opposite order.
func TestARunIsNotReversedWhileOneOfALaterPeriodStands(t *testing.T) {
	t.Parallel()
	for _, measured := range []string{"us_gaap fair_value", "us_gaap impairment", "ifrs fair_value"} {
		t.Run(measured, func(t *testing.T) {
			each(t, measured, func(t *testing.T, w *world) {
				w.buy("L1 ETH 2025-09-10 2 3000")
				w.closing("ETH", "2025-09", "1200")
				w.closing("ETH", "2025-10", "1100")
				first, err := w.try("2025-09", nil)
				if err != nil {
					t.Fatal(err)
				}
				second, err := w.try("2025-10", nil)
				if err != nil {
					t.Fatal(err)
				}
				before := w.counts()
				_, err = w.s.Reverse(w.ctx, first.ID)
				w.refused("a later one stands", err, fault.Conflict, "the revaluation of 2025-10 builds on that of 2025-09",
					"reverse "+second.ID+" first")
				if !slices.Equal(w.counts(), before) {
					t.Errorf("%v became %v", before, w.counts())
				}
				for _, r := range []revaluation.Run{second, first} {
					if _, err := w.s.Reverse(w.ctx, r.ID); err != nil {
						t.Fatal(err)
					}
				}
				w.say("nothing is left", w.moved("2025-09")+w.moved("2025-10"), "")
			})
		})
	}
}

func TestTheLastRunOfAPeriodCanBeReversed(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.closing("ETH", "2025-09", "2000")
		first, err := w.try("2025-09", nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := w.try("2025-09", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.s.Reverse(w.ctx, first.ID)
		w.refused("not the last", err, fault.Conflict, "replaced")
		undone, err := w.s.Reverse(w.ctx, second.ID)
		if err != nil || undone.Status() != revaluation.Reversed || undone.ReversedAt == nil {
			t.Fatalf("%v %+v", err, undone)
		}
		w.say("nothing is left", w.moved("2025-09"), "")
		_, err = w.s.Reverse(w.ctx, second.ID)
		w.refused("twice", err, fault.Conflict, "reversed")
		w.say("again", w.run("2025-09"), "ETH fair_value 0 to 1000: posted")
		for status, want := range map[revaluation.Status]int{"": 3, revaluation.Posted: 1, revaluation.Replaced: 1, revaluation.Reversed: 1} {
			listed, err := w.s.List(w.ctx, revaluation.Filter{Status: status, PeriodID: first.PeriodID, LegalEntityID: w.entity},
				page.Request{Limit: 10})
			if err != nil || len(listed.Items) != want || want == 1 && listed.Items[0].Status() != status {
				t.Errorf("%s: %d %v", status, len(listed.Items), err)
			}
		}
	})
}

func TestTheNextRunCorrectsWhatWasBookedOrReversedByHand(t *testing.T) {
	each(t, "ifrs fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 1 100")
		w.closing("ETH", "2025-09", "130")
		r, err := w.try("2025-09", nil)
		if err != nil {
			t.Fatal(err)
		}
		w.write(func(ctx context.Context, tx *db.Tx) error { // as earlier versions let users do
			e, err := journal.FindUnchecked(ctx, tx, r.Items[0].EntryID)
			if err != nil {
				return err
			}
			_, err = w.journal.ReverseInTx(ctx, tx, e)
			return err
		})
		w.say("its entry was reversed by hand", w.run("2025-09"), "ETH revaluation 0 to 30: posted")
		w.post("2025-10-05", "fair_value_adjustment:ETH +7", "3010 -7")
		w.closing("ETH", "2025-10", "130")
		w.say("somebody booked on the adjustment", w.run("2025-10"), "ETH revaluation 37 to 30: posted")
		w.say("October", w.moved("2025-10"), "unrealized_loss -7")
		w.closing("ETH", "2025-11", "120")
		w.say("November", w.run("2025-11"), "ETH revaluation 30 to 20: posted")
		w.say("November", w.moved("2025-11"), "fair_value_adjustment:ETH -10, revaluation_surplus -10")
	})
}

// Unposting the entry of a run, running the period again and posting the old entry would book the adjustment twice.
func TestAnEntryThatARunMadeIsUndoneOnlyThroughTheRun(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.closing("ETH", "2025-09", "2000")
		first, err := w.try("2025-09", nil)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := w.try("2025-09", nil) // a later run keeps the entry, and is then the one to reverse
		if err != nil || kept.Items[0].EntryID != first.Items[0].EntryID {
			t.Fatalf("%v %+v", err, kept)
		}
		entry, memo := first.Items[0].EntryID, "by hand"
		_, unposted := w.journal.Unpost(w.ctx, entry)
		_, reversed := w.journal.Reverse(w.ctx, entry, journal.ReverseParams{})
		_, corrected := w.journal.Correct(w.ctx, entry, journal.UpdateParams{Memo: &memo})
		for what, err := range map[string]error{"unpost": unposted, "reverse": reversed, "correct": corrected} {
			w.refused(what, err, fault.Conflict, kept.ID, "2025-09", "POST /v1/revaluations/"+kept.ID+"/reverse")
		}
		w.say("the adjustment is there once", w.moved("2025-09"), "fair_value_adjustment:ETH 1000, unrealized_gain 1000")
		w.say("nothing to do", w.run("2025-09"), "ETH fair_value 0 to 1000: kept")
		w.guides(entry, "reverse the revaluation")
	})
}

// Earlier versions let users unpost the entry of a run.
func TestTheDraftThatWasTheEntryOfARunCanOnlyBeDeleted(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.closing("ETH", "2025-09", "2000")
		var draft journal.Entry
		w.write(func(ctx context.Context, tx *db.Tx) error {
			made, err := w.journal.CreateInTx(ctx, tx, []journal.CreateParams{{LegalEntityID: w.entity, AccountingDate: "2025-09-30",
				OriginatedBy: journal.ByRevaluation, Status: journal.Draft, Lines: []journal.LineParams{
					{LedgerAccountID: w.account("1010").ID, Side: book.Debit, Amount: "1000"},
					{LedgerAccountID: w.account("3010").ID, Side: book.Credit, Amount: "1000"},
				}}}, func(int) string { return "" })
			if err == nil {
				draft = made[0]
			}
			return err
		})
		w.say("run", w.run("2025-09"), "ETH fair_value 0 to 1000: posted")
		w.guides(draft.ID, "delete it", "delete")
		memo := "by hand"
		_, posted := w.journal.Post(w.ctx, draft.ID)
		w.refused("post", posted, fault.Conflict, "revaluation")
		_, edited := w.journal.Update(w.ctx, draft.ID, journal.UpdateParams{Memo: &memo})
		w.refused("edit", edited, fault.Conflict, "revaluation")
		if err := w.journal.Delete(w.ctx, draft.ID); err != nil {
			t.Error(err)
		}
		w.say("the adjustment is there once", w.moved("2025-09"), "fair_value_adjustment:ETH 1000, unrealized_gain 1000")
	})
}

// guides compares the guidance of an entry: part of a warning, and the actions that are allowed.
func (w *world) guides(entryID, warning string, allowed ...string) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		e, _, err := journal.FindGuided(ctx, tx, entryID)
		if got := e.Guidance; !slices.Equal(got.Allowed, allowed) || !strings.Contains(strings.Join(got.Warnings, " "), warning) {
			w.t.Errorf("%+v, want %q and %v", got, warning, allowed)
		}
		return err
	})
}

func TestAnEntryThatAChangeOfTimeZoneMovedCountsWhereItIs(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.price("ETH 2025-09-30T10:00:00Z 2000")
		w.say("September", w.run("2025-09"), "ETH fair_value 0 to 1000: posted")
		zone := "Asia/Tokyo"
		if _, err := organization.NewService(w.d, lots.MovePeriods).Update(w.ctx, organization.UpdateParams{Timezone: &zone}); err != nil {
			t.Fatal(err)
		}
		w.say("September has none now", w.run("2025-09"), "ETH fair_value 0 to 1000: posted")
		w.closing("ETH", "2025-10", "2000")
		w.say("October has both", w.run("2025-10"), "ETH fair_value 2000 to 1000: posted")
		w.say("October again", w.run("2025-10"), "ETH fair_value 2000 to 1000: kept")
	})
}

func TestVerifyFindsInconsistentRuns(t *testing.T) {
	each(t, "ifrs fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.closing("ETH", "2025-09", "2000")
		w.run("2025-09")
		w.price("ETH 2025-09-30T23:59:00Z 2100")
		w.run("2025-09")
		for statement, says := range map[string]string{
			"UPDATE revaluation_parts SET status = 'posted' WHERE organization_id = @org":                                     "is marked as posted, but is replaced",
			"UPDATE revaluation_items SET journal_entry_id = 'je_none' WHERE organization_id = @org AND outcome = 'replaced'": "je_none for ETH does not exist",
			"UPDATE revaluation_rows SET after = '1' WHERE organization_id = @org": "is 1200, but " +
				"its rows add up to 1",
			"DELETE FROM revaluation_rows WHERE organization_id = @org": "its rows add up to 0",
		} {
			err := w.d.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
				found := dbtest.Damage(ctx, t, tx, revaluation.Verify, statement)
				if !slices.ContainsFunc(found, func(text string) bool { return strings.Contains(text, says) }) {
					t.Errorf("%s: %q does not say %q", statement, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Error("the damage was kept")
			}
		}
	})
}

func TestARunThatIsMissingOrTooOldIsFound(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		stale := func(says string) {
			t.Helper()
			month := w.period("2025-09")
			w.read(func(ctx context.Context, tx *db.Tx) error {
				found, err := revaluation.Inspect(ctx, tx, month, w.entity)
				if err != nil || (found.Stale != "") != (says != "") || !strings.Contains(found.Stale, says) {
					t.Errorf("%+v %v, want %s", found, err, says)
				}
				return nil
			})
		}
		w.post("2025-09-05", "1010 +10", "3010 -10")
		stale("") // there is nothing to measure
		w.buy("L1 ETH 2025-09-10 2 3000")
		stale("ETH/USD has no price")
		w.closing("ETH", "2025-09", "1500")
		stale("") // worth what it cost
		w.price("ETH 2025-09-30T23:30:00Z 1600")
		stale("was run; one would adjust 2 ETH in the holdings by 200.00 USD. Run it with POST /v1/revaluations")
		w.run("2025-09")
		stale("")
		w.sell("L1 2025-09-20 1 1600")
		stale("is out of date; running it again would adjust 1 ETH in the holdings to 100.00 USD")
		w.run("2025-09")
		stale("")
		w.foreign("1010 2025-09-05 EUR 1000 1.08")
		w.closing("EUR", "2025-09", "1.10")
		stale("1000 EUR on 1010 Bank accounts by 20.00 USD")
	})
}

// Impairment goes by the lowest price of the month, which there may be although there is none at its end.
func TestAMonthWithPricesButNoneAtItsEndIsReportedAsStale(t *testing.T) {
	each(t, "us_gaap impairment", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-08-10 2 3000")
		w.price("ETH 2025-09-02T00:00:00Z 1000")
		month := w.period("2025-09")
		w.read(func(ctx context.Context, tx *db.Tx) error {
			found, err := revaluation.Inspect(ctx, tx, month, w.entity)
			if err != nil || !slices.Equal(found.Unpriced, []string{"ETH"}) || !strings.Contains(found.Stale, "ETH/USD has no price") {
				t.Errorf("%+v %v", found, err)
			}
			return nil
		})
	})
}

func TestAKeySeesTheRunsOfItsLegalEntitiesOnly(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.buy("L1 ETH 2025-09-10 2 3000")
		w.closing("ETH", "2025-09", "2000")
		other, err := entity.NewService(w.d).Create(w.ctx, entity.CreateParams{Name: "Other", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		both, err := w.try("2025-09", nil)
		if err != nil || len(both.Parts) != 4 {
			t.Fatalf("%v %+v", err, both.Parts)
		}
		limited := actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{other.ID}})
		seen, err := w.s.Get(limited, both.ID)
		if err != nil || len(seen.Items) != 0 || len(seen.Rows) != 0 || len(seen.Parts) != 1 {
			t.Errorf("%v %+v", err, seen)
		}
		_, err = w.s.Reverse(limited, both.ID)
		w.refused("not all of it", err, fault.Forbidden)
		alone, err := w.try("2025-09", func(p *revaluation.RunParams) { p.LegalEntityIDs = []string{w.entity} })
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.s.Get(limited, alone.ID)
		w.refused("none of it", err, fault.NotFound)
		listed, err := w.s.List(limited, revaluation.Filter{}, page.Request{Limit: 10})
		if err != nil || len(listed.Items) != 1 || listed.Items[0].ID != both.ID {
			t.Errorf("%v %+v", err, listed)
		}
		_, err = w.s.Run(limited, revaluation.RunParams{PeriodID: both.PeriodID, LegalEntityIDs: []string{w.entity}})
		w.refused("another's", err, fault.NotFound, "legal_entity_ids[0]")
		mine, err := w.s.Run(limited, revaluation.RunParams{PeriodID: both.PeriodID})
		if err != nil || len(mine.Parts) != 1 || mine.Parts[0].LegalEntityID != other.ID {
			t.Errorf("%v %+v", err, mine)
		}
	})
}

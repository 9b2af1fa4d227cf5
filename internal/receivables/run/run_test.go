package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/receivables/run"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestARunAppliesWhatIsCertainAndListsTheRest(t *testing.T) {
	each(t, func(w *world) {
		w.bill("INV-1 Northwind 100.00", "INV-2 Northwind 250.00", "INV-3 Contoso 80.00", "INV-4 Contoso 90.00", "INV-5 Fabrikam 70.00",
			"INV-6 Fabrikam 70.00", "INV-7 Globex 35.00")
		ids := w.pay("Northwind 100.00 INV-1", "Contoso 80.00", "Contoso 80.00", "Fabrikam 70.00", "Stranger 35.00", "Nobody 12.34",
			"Northwind 300.00 INV-2", "Northwind -20.00", "Contoso 90.00 spam", "Initech 5.00 booked")
		_, err := w.Transactions.Update(w.Ctx, ids[8], transaction.UpdateParams{Status: new(transaction.Spam)})
		w.Must(err)
		w.Book(ids[9], "INCOME", w.sales)
		want := []string{
			"OT-1 certain exact INV-1:100.00",
			"OT-2 certain customer_exact INV-3:80.00",
			"OT-3 unmatched",
			"OT-4 suggested customer_exact INV-5:70.00 but low_confidence",
			"OT-5 suggested exact INV-7:35.00 but low_confidence",
			"OT-6 unmatched",
			"OT-7 suggested overpayment INV-2:250.00 but low_confidence",
		}
		before := w.due()
		dry := w.execute(run.CreateParams{Dry: true})
		w.says("dry", w.lines(dry.ID), want...)
		w.says("a dry run writes nothing", w.due(), before...)
		for n := range want {
			want[n] = strings.Replace(want[n], "certain", "applied", 1)
		}
		r := w.execute(run.CreateParams{})
		w.says("applied", w.lines(r.ID), want...)
		w.says("due", w.due(), "INV-2:250.00", "INV-4:90.00", "INV-5:70.00", "INV-6:70.00", "INV-7:35.00")
		if r.Counts[run.Applied] != 2 || r.Counts[run.Suggested] != 3 || r.Counts[run.Unmatched] != 2 || r.Total != 7 || r.Percent() != 100 {
			w.Errorf("%+v", r)
		}
		all := w.results(r.ID, "")
		if len(all[0].Suggestions) != 1 || all[0].ApplicationID == "" || all[0].Customer == nil || all[0].Customer.Name != "Northwind" {
			w.Errorf("%+v", all[0])
		}
		if notes := all[2].Notes; len(notes) != 1 || notes[0].Code != "second_payment" {
			w.Errorf("the second payment of an invoice that the run itself paid: %+v", notes)
		}
		a, err := w.applications.Get(w.Ctx, all[1].ApplicationID)
		if err != nil || a.Status != application.Applied || a.MatchType != "customer_exact" || a.AppliedBy != w.OwnerID || a.EntryID == "" {
			w.Errorf("%+v %v", a, err)
		}
		named := w.execute(run.CreateParams{TransactionIDs: ids})
		got := w.lines(named.ID)
		for at, says := range map[int]string{0: "skipped because OT-1 is applied already", 7: "skipped because OT-8 is a payment that left",
			8: "skipped because OT-9 is spam", 9: "skipped because OT-10 has the journal entry"} {
			if !strings.Contains(got[at], says) {
				w.Errorf("%s, want %s", got[at], says)
			}
		}
		if w.applied() != 2 {
			w.Errorf("%d applications", w.applied())
		}
	})
}

func TestACallerMayAskForMoreConfidenceButNotForLess(t *testing.T) {
	each(t, func(w *world) {
		w.bill("INV-1 Northwind 100.00", "INV-2 Contoso 80.00")
		w.pay("Northwind 100.00 INV-1", "Contoso 80.00")
		r := w.execute(run.CreateParams{MinConfidence: "0.98"})
		w.says("0.98", w.lines(r.ID), "OT-1 applied exact INV-1:100.00", "OT-2 suggested customer_exact INV-2:80.00")
		for _, wrong := range []string{"0.9499", "1.01", "-1", "much"} {
			_, err := w.Create(w.Ctx, run.CreateParams{Filter: &transaction.Filter{}, MinConfidence: wrong})
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 1 || f.Fields[0].Name != "min_confidence" {
				w.Errorf("%s: %v", wrong, err)
			}
		}
	})
}

func TestWhatARuleDemandsAReviewOfIsLeftToAPerson(t *testing.T) {
	each(t, func(w *world) {
		w.rules = []application.Rule{{ID: "rul_1", Name: "Hardware", Matcher: "Hardware", Review: true}}
		w.bill("INV-1 Northwind 100.00 Hardware", "INV-2 Contoso 80.00")
		w.pay("Northwind 100.00 INV-1", "Contoso 80.00 INV-2")
		w.says("reviewed", w.lines(w.execute(run.CreateParams{}).ID), "OT-1 suggested exact INV-1:100.00 but review_required",
			"OT-2 applied exact INV-2:80.00")
	})
}

// What cannot be applied stays open, so that a later deposit for the same invoice must not be certain because of it.
func TestADepositThatCannotBeAppliedIsRefusedAndTheRestIsDecidedWithoutIt(t *testing.T) {
	each(t, func(w *world) {
		w.SetBatch(4)
		w.rules = []application.Rule{{ID: "rul_1", Name: "Nowhere", Matcher: "Hardware", LedgerAccountID: "lac_none"}}
		w.bill("INV-1 Northwind 100.00 Hardware", "INV-2 Northwind 100.00", "INV-3 Contoso 80.00", "INV-4 Globex 70.00")
		w.pay("Northwind 100.00 INV-1", "Northwind 100.00", "Contoso 80.00", "Globex 70.00 INV-4")
		got := w.lines(w.execute(run.CreateParams{}).ID)
		if !strings.HasPrefix(got[0], "OT-1 refused exact INV-1:100.00 because the rule Nowhere routes payments to a ledger account") {
			w.Error(got[0])
		}
		w.says("the rest", got[1:], "OT-2 suggested customer_exact INV-1:100.00 but low_confidence", "OT-3 applied customer_exact INV-3:80.00",
			"OT-4 applied exact INV-4:70.00")
	})
}

func TestADepositThatBlocksItsBatchIsFoundAndRefused(t *testing.T) {
	each(t, func(w *world) {
		var want []string
		for n := range 9 {
			w.bill(fmt.Sprintf("INV-%d Customer%c %d.00", n, 'A'+n, 100+n))
			w.pay(fmt.Sprintf("Customer%c %d.00 INV-%d", 'A'+n, 100+n, n))
			want = append(want, fmt.Sprintf("OT-%d applied exact INV-%d:%d.00", n+1, n, 100+n))
		}
		blocked := "OT-6"
		w.AfterApply(func(all []*application.Decision) error {
			if slices.ContainsFunc(all, func(d *application.Decision) bool { return d.Deposit.SequenceNumber() == blocked }) {
				return fault.Conflictf("no")
			}
			return nil
		})
		want[5] = "OT-6 refused exact INV-5:105.00 because no"
		got := w.lines(w.execute(run.CreateParams{}).ID)
		slices.Sort(got)
		w.says("blocked", got, want...)
	})
}

// An invoice that is opened while a run works makes a suggestion ambiguous that was certain.
func TestDecisionsThatAreOutdatedAreMadeAgain(t *testing.T) {
	for _, times := range []int{1, 3} { // more often, deposits are decided while others wait
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			each(t, func(w *world) {
				w.bill("INV-1 Northwind 100.00")
				w.pay("Northwind 100.00")
				decided := 0
				w.AfterDecide(func(int) {
					if decided++; decided < times {
						w.bill(fmt.Sprintf("INV-%d Contoso 7.00", 1+decided))
					} else if decided == times {
						w.bill(fmt.Sprintf("INV-%d Northwind 100.00", 1+decided))
					}
				})
				r := w.execute(run.CreateParams{})
				w.says("outdated", w.lines(r.ID), "OT-1 suggested customer_exact INV-1:100.00 but low_confidence")
				if decided != times+1 {
					w.Errorf("decided %d times", decided)
				}
			})
		})
	}
}

// Deposits are also outdated if they were decided while those before them were saved, and what these pay is paid for them.
func TestDecisionsThatAreMadeAheadAreOutdatedByOthersOnly(t *testing.T) {
	const batch, deposits = 4, 30 // 12 deposits are decided at a time
	for _, outdated := range []bool{false, true} {
		t.Run(fmt.Sprint(outdated), func(t *testing.T) {
			each(t, func(w *world) {
				w.SetBatch(batch)
				var want []string
				for n := range deposits {
					w.bill(fmt.Sprintf("INV-%02d Customer%02d %d.00", n, n, 100+n))
					w.pay(fmt.Sprintf("Customer%02d %d.00", n, 100+n))
					want = append(want, fmt.Sprintf("OT-%d applied customer_exact INV-%02d:%d.00", len(want)+1, n, 100+n))
					if n == 11 { // the last of the deposits that are decided first is paid again by the first of the next ones
						w.pay("Customer11 111.00")
						want = append(want, "OT-13 unmatched")
					}
				}
				decided := 0
				w.AfterDecide(func(int) {
					if decided++; decided == 2 && outdated {
						w.bill("INV-99 Customer20 120.00")
					}
				})
				times := 3
				if outdated {
					want[21], times = "OT-22 suggested customer_exact INV-20:120.00 but low_confidence", 4
				}
				w.says("made ahead", w.lines(w.execute(run.CreateParams{}).ID), want...)
				if decided < times || !outdated && decided > times {
					w.Errorf("decided %d times", decided)
				}
			})
		})
	}
}

// Nobody but the run itself recovers from a panic while deposits are decided ahead, and it would end the service.
func TestAPanicWhileDepositsAreDecidedAheadIsAnErrorOfTheRun(t *testing.T) {
	each(t, func(w *world) {
		w.SetBatch(1)
		for n := range 8 {
			w.bill(fmt.Sprintf("INV-%02d Customer%02d %d.00", n, n, 100+n))
			w.pay(fmt.Sprintf("Customer%02d %d.00", n, 100+n))
		}
		r, err := w.Create(w.Ctx, run.CreateParams{Filter: &transaction.Filter{}})
		w.Must(err)
		decided := 0
		w.AfterDecide(func(int) {
			if decided++; decided == 2 { // the first time that it is ahead
				panic("a test")
			}
		})
		so, err := w.Service.Run(w.Context(), w.OrganizationID, r.ID, nil)
		if err == nil || !strings.Contains(err.Error(), "panic: a test") || so.Done() != 3 {
			w.Errorf("%d are done: %v", so.Done(), err)
		}
	})
}

// Somebody who writes all the time must not make a run decide the same deposits again and again.
func TestABatchBecomesSmallerWhileOthersWrite(t *testing.T) {
	each(t, func(w *world) {
		const deposits = 40
		for n := range deposits {
			w.bill(fmt.Sprintf("INV-%02d Customer%02d %d.00", n, n, 100+n))
			w.pay(fmt.Sprintf("Customer%02d %d.00 INV-%02d", n, 100+n, n))
		}
		outdated, changes := 0, 0
		w.AfterDecide(func(n int) {
			if outdated > 0 && n >= outdated {
				w.Errorf("%d deposits are decided after decisions about %d were outdated", n, outdated)
			}
			if outdated = 0; n > 10 { // only a small batch is decided before somebody writes
				outdated = n
				changes++
				w.bill(fmt.Sprintf("X-%d Nobody 7.00", changes))
			}
		})
		r := w.execute(run.CreateParams{})
		if r.Counts[run.Applied] != deposits || changes == 0 {
			w.Errorf("there were %d changes: %+v", changes, r.Counts)
		}
	})
}

func TestADepositWhoseMemoIsEditedIsDecidedAgain(t *testing.T) {
	each(t, func(w *world) {
		w.bill("INV-1 Northwind 100.00", "INV-2 Northwind 100.00")
		paid := w.pay("Northwind 100.00 INV-1")
		decided := 0
		w.AfterDecide(func(int) {
			if decided++; decided == 1 {
				_, err := w.Transactions.Update(w.Ctx, paid[0], transaction.UpdateParams{Memo: new("for INV-2, not INV-1")})
				w.Must(err)
			}
		})
		got := w.lines(w.execute(run.CreateParams{}).ID)
		if decided != 2 || len(got) != 1 || !strings.HasPrefix(got[0], "OT-1 suggested") {
			w.Errorf("decided %d times: %v", decided, got)
		}
	})
}

// prepare adds deposits that depend on each other, and returns what a dry run says about them.
func (w *world) prepare() []string {
	w.Helper()
	for n := range 12 {
		w.bill(fmt.Sprintf("INV-%02d Customer%c %d.00", n, 'A'+n%4, 100+n))
		w.pay(fmt.Sprintf("Customer%c %d.50", 'A'+n%4, n+1), fmt.Sprintf("Customer%c %d.00 INV-%02d", 'A'+n%4, 100+n, n),
			fmt.Sprintf("Customer%c %d.00", 'A'+n%4, 100+n))
	}
	want := w.lines(w.execute(run.CreateParams{Dry: true}).ID)
	if text := strings.Join(want, "\n"); !strings.Contains(text, "certain") || !strings.Contains(text, "suggested") {
		w.Fatal(text)
	}
	return want
}

// killed executes a run that is killed after every batch.
func (w *world) killed(runID string) {
	w.Helper()
	stop := errors.New("killed")
	for kills := 0; ; kills++ {
		ctx, kill := context.WithCancelCause(w.Context())
		done, err := w.Service.Run(ctx, w.OrganizationID, runID, func(so run.Run) {
			if so.Done() < so.Total {
				kill(stop)
			}
		})
		kill(nil)
		if err == nil && done.Status == batchrun.Completed {
			if kills < 2 {
				w.Errorf("killed only %d times", kills)
			}
			return
		}
		if kills > 40 {
			w.Fatal("it never ends:", err)
		}
		w.Clock.Advance(2 * task.Lease)
	}
}

func TestAnInterruptedRunEndsAsIfItHadNotBeen(t *testing.T) {
	each(t, func(w *world) {
		w.SetBatch(5)
		want := w.prepare()
		dry, err := w.Create(w.Ctx, run.CreateParams{Filter: &transaction.Filter{}, Dry: true})
		w.Must(err)
		w.killed(dry.ID)
		w.says("a dry run", w.lines(dry.ID), want...)
		r, err := w.Create(w.Ctx, run.CreateParams{Filter: &transaction.Filter{}})
		w.Must(err)
		w.killed(r.ID)
		for n := range want {
			want[n] = strings.Replace(want[n], "certain", "applied", 1)
		}
		w.says("killed again and again", w.lines(r.ID), want...)
		if got := len(w.results(r.ID, run.Applied)); got != w.applied() || got != 12 {
			w.Errorf("%d results, %d applications", got, w.applied())
		}
		undo, err := w.Undo(w.Ctx, r.ID, "Wrong bank")
		w.Must(err)
		w.killed(undo.ID)
		if w.applied() != 0 || len(w.results(undo.ID, run.Voided)) != 12 || len(w.due()) != 12 {
			w.Errorf("%d applications, due %v", w.applied(), w.due())
		}
	})
}

func TestUndoingARunVoidsWhatNobodyHasChangedAndSaysWhyItKeepsTheRest(t *testing.T) {
	each(t, func(w *world) {
		w.bill("INV-1 Northwind 100.00", "INV-2 Contoso 80.00", "INV-3 Globex 70.00", "INV-4 Initech 60.00")
		w.pay("Northwind 100.00 INV-1", "Contoso 80.00 INV-2", "Globex 70.00 INV-3", "Initech 60.00 INV-4", "Nobody 1.00")
		r := w.execute(run.CreateParams{})
		all := w.results(r.ID, run.Applied)
		_, err := w.applications.Confirm(w.Ctx, all[1].ApplicationID, "")
		w.Must(err)
		_, err = w.applications.Void(w.Ctx, all[2].ApplicationID, "", "")
		w.Must(err)
		made, err := w.Undo(w.Ctx, r.ID, "Wrong bank")
		w.Must(err)
		if _, err := w.Undo(w.Ctx, r.ID, ""); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), made.ID) {
			w.Error("undone twice at a time:", err)
		}
		undo := w.finish(made.ID)
		got := w.lines(undo.ID)
		for n, says := range []string{"OT-1 voided", "OT-2 kept because the cash application was confirmed",
			"OT-3 kept because the cash application is voided already", "OT-4 voided"} {
			if !strings.HasPrefix(got[n], says) {
				w.Errorf("%s, want %s", got[n], says)
			}
		}
		if undo.UndoesID != r.ID || undo.Counts[run.Voided] != 2 || undo.Counts[run.Kept] != 2 || undo.Total != 4 || len(got) != 4 {
			w.Errorf("%+v", undo)
		}
		a, err := w.applications.Get(w.Ctx, all[0].ApplicationID)
		if err != nil || a.Status != application.Voided || a.VoidReason != "Wrong bank" {
			w.Errorf("%+v %v", a, err)
		}
		w.says("due", w.due(), "INV-1:100.00", "INV-3:70.00", "INV-4:60.00")
		_, err = w.applications.Void(w.Ctx, all[1].ApplicationID, "", "")
		w.Must(err)
		again, err := w.Undo(w.Ctx, r.ID, "")
		w.Must(err)
		if last := w.finish(again.ID); last.Counts[run.Kept] != 4 {
			w.Errorf("%+v", last)
		}
		found, err := w.List(w.Ctx, run.Filter{UndoesID: r.ID}, page.Request{Limit: 10})
		if err != nil || len(found.Items) != 2 || found.Items[0].ID != again.ID {
			w.Errorf("%+v %v", found, err)
		}
		w.says("applied again", w.lines(w.execute(run.CreateParams{}).ID), "OT-1 applied exact INV-1:100.00", "OT-2 applied exact INV-2:80.00",
			"OT-3 applied exact INV-3:70.00", "OT-4 applied exact INV-4:60.00", "OT-5 unmatched")
	})
}

func TestAnApplicationThatCannotBeVoidedIsKeptAndTheOthersAreVoided(t *testing.T) {
	each(t, func(w *world) {
		for n := range 5 {
			w.bill(fmt.Sprintf("INV-%d Customer%c %d.00", n, 'A'+n, 100+n))
			w.pay(fmt.Sprintf("Customer%c %d.00 INV-%d", 'A'+n, 100+n, n))
		}
		r := w.execute(run.CreateParams{})
		refused := w.results(r.ID, "")[3].ApplicationID
		w.BeforeUndo(func(applicationID string) error {
			if applicationID == refused {
				return fault.Conflictf("the invoice is settled otherwise")
			}
			return nil
		})
		made, err := w.Undo(w.Ctx, r.ID, "")
		w.Must(err)
		w.says("kept", w.lines(w.finish(made.ID).ID), "OT-1 voided", "OT-2 voided", "OT-3 voided",
			"OT-4 kept because the invoice is settled otherwise", "OT-5 voided")
	})
}

func TestWhatCannotBeUndoneOrResumedIsRefused(t *testing.T) {
	each(t, func(w *world) {
		w.bill("INV-1 Northwind 100.00")
		w.pay("Northwind 100.00 INV-1")
		refused := func(name, says string, err error) {
			w.Helper()
			if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), says) {
				w.Errorf("%s: %v, want %s", name, err, says)
			}
		}
		dry := w.execute(run.CreateParams{Dry: true})
		_, err := w.Undo(w.Ctx, dry.ID, "")
		refused("a dry run", "applied nothing", err)
		r, err := w.Create(w.Ctx, run.CreateParams{Filter: &transaction.Filter{}})
		w.Must(err)
		_, err = w.Undo(w.Ctx, r.ID, "")
		refused("one that is not over", "cancel it", err)
		_, err = w.Cancel(w.Ctx, r.ID)
		w.Must(err)
		_, err = w.Resume(w.Ctx, r.ID)
		w.Must(err)
		w.finish(r.ID)
		_, err = w.Cancel(w.Ctx, r.ID)
		refused("one that is over", "can no longer be canceled", err)
		_, err = w.Undo(w.Ctx, r.ID, strings.Repeat("x", 501))
		if fault.KindOf(err) != fault.Invalid {
			w.Error(err)
		}
		undo, err := w.Undo(w.Ctx, r.ID, "")
		w.Must(err)
		w.finish(undo.ID)
		_, err = w.Undo(w.Ctx, undo.ID, "")
		refused("a run that undoes another", "undoes another one", err)

		w.pay("Northwind 100.00 INV-1")
		other, err := w.Create(w.Ctx, run.CreateParams{Filter: &transaction.Filter{}})
		w.Must(err)
		_, err = w.Cancel(w.Ctx, other.ID)
		w.Must(err)
		guided := func(name, id, want string) {
			w.Helper()
			got, err := w.Get(w.Ctx, id)
			w.Must(err)
			if allowed, warnings := got.Guidance(); !strings.Contains(fmt.Sprint(allowed, warnings), want) {
				w.Errorf("%s: %v %v, want %s", name, allowed, warnings, want)
			}
		}
		guided("cancelled", other.ID, "[resume] []")
		_, err = w.Undo(w.Ctx, other.ID, "")
		w.Must(err)
		guided("cancelled and undone", other.ID, "[] [the run is undone by the run car_")
		again, err := w.Undo(w.Ctx, r.ID, "")
		w.Must(err)
		guided("being undone", r.ID, "[] [the run "+again.ID+" is undoing the run")
		_, err = w.Resume(w.Ctx, other.ID)
		refused("one that is undone", "undone by the run", err)
	})
}

func TestAFaultyRunIsRefused(t *testing.T) {
	each(t, func(w *world) {
		ids := w.pay("Northwind 100.00")
		for name, c := range map[string]struct {
			p     run.CreateParams
			kind  fault.Kind
			field string
		}{
			"nothing is named": {run.CreateParams{}, fault.Invalid, "transaction_ids"},
			"both are named":   {run.CreateParams{TransactionIDs: ids, Filter: &transaction.Filter{}}, fault.Invalid, "transaction_ids"},
			"none are named":   {run.CreateParams{TransactionIDs: []string{}}, fault.Invalid, "transaction_ids"},
			"a faulty filter":  {run.CreateParams{Filter: &transaction.Filter{Status: "open"}}, fault.Invalid, "filter.status"},
			"payments":         {run.CreateParams{Filter: &transaction.Filter{Direction: "debit"}}, fault.Invalid, "filter.direction"},
			"another number": {run.CreateParams{Filter: &transaction.Filter{}, Expected: new(int64(2))}, fault.Conflict,
				"expected_count"},
			"a foreign transaction": {run.CreateParams{TransactionIDs: []string{"txn_none"}}, fault.NotFound, "transaction_ids"},
		} {
			_, err := w.Create(w.Ctx, c.p)
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != c.kind || len(f.Fields) == 0 || !strings.HasPrefix(f.Fields[0].Name, c.field) {
				w.Errorf("%s: %v %+v", name, err, f)
			}
		}
	})
}

func TestARunCoversTheLegalEntitiesOfItsKey(t *testing.T) {
	each(t, func(w *world) {
		w.AddSubsidiary()
		w.bill("INV-1 Northwind 100.00")
		w.pay("Northwind 100.00 INV-1")
		whole := w.execute(run.CreateParams{Dry: true})
		limited := w.Limited(w.SubsidiaryID)
		if _, err := w.Get(limited, whole.ID); fault.KindOf(err) != fault.NotFound {
			w.Error("a limited key sees a run over everything:", err)
		}
		r, err := w.Create(limited, run.CreateParams{Filter: &transaction.Filter{}})
		w.Must(err)
		if done := w.finish(r.ID); done.Total != 0 {
			w.Errorf("%+v", done)
		}
		got, err := w.List(limited, run.Filter{}, page.Request{Limit: 10})
		if err != nil || len(got.Items) != 1 || got.Items[0].ID != r.ID {
			w.Errorf("%+v %v", got.Items, err)
		}
	})
}

func TestADepositOfAClosedMonthIsSkipped(t *testing.T) {
	each(t, func(w *world) {
		w.bill("INV-1 Northwind 100.00")
		w.pay("Northwind 100.00 INV-1")
		got, err := w.periods.List(w.Ctx, period.Filter{}, page.Request{Limit: 100})
		w.Must(err)
		for _, p := range slices.Backward(got.Items) {
			if p.Key <= "2025-11" {
				_, err := w.periods.CloseWithOverride(w.Ctx, p.ID, "", "a test")
				w.Must(err)
			}
		}
		w.says("closed", w.lines(w.execute(run.CreateParams{}).ID),
			"OT-1 skipped because the month 2025-11 is closed: apply OT-1 with POST /v1/cash-applications")
	})
}

func TestVerifyFindsEveryKindOfDamage(t *testing.T) {
	each(t, func(w *world) {
		w.bill("INV-1 Northwind 100.00")
		w.pay("Northwind 100.00 INV-1")
		w.execute(run.CreateParams{})
		for _, damage := range []struct{ do, undo, says string }{
			{"UPDATE cash_application_runs SET status = 'gone'", "UPDATE cash_application_runs SET status = 'completed'",
				`its status "gone" is not a valid one`},
			{"UPDATE cash_application_runs SET total_count = 7", "UPDATE cash_application_runs SET total_count = 1", "1 of 7"},
			{"UPDATE cash_application_runs SET min_confidence = '0.5'", "UPDATE cash_application_runs SET min_confidence = '0.95'", "0.5"},
			{"UPDATE cash_application_runs SET error_message = 'x'", "UPDATE cash_application_runs SET error_message = NULL", "only if, it failed"},
			{"UPDATE cash_application_results SET outcome = 'kept'", "UPDATE cash_application_results SET outcome = 'applied'",
				"but its count is"},
			{"UPDATE cash_application_results SET position = 9", "UPDATE cash_application_results SET position = 1", "last result"},
			{"UPDATE cash_application_results SET transaction_id = 'x', cash_application_id = 'x'", "UPDATE cash_application_results SET " +
				"transaction_id = (SELECT a.deposit_transaction_id FROM cash_applications a WHERE a.organization_id = @org), cash_application_id = " +
				"(SELECT a.cash_application_id FROM cash_applications a WHERE a.organization_id = @org)", "no such cash application"},
		} {
			w.exec(damage.do)
			found := w.findings()
			if !strings.Contains(strings.Join(found, "\n"), damage.says) {
				w.Errorf("after %s: %v", damage.do, found)
			}
			w.exec(damage.undo)
		}
	})
}

// exec changes stored data directly, with an audit record so that it commits.
func (w *world) exec(statement string) {
	w.Helper()
	w.Must(w.DB.Write(w.Ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		audit.Record(ctx, tx, audit.Change{Action: "test.done", ResourceType: "test", ResourceID: "x", After: map[string]any{}})
		_, err := tx.Exec(ctx, statement+" WHERE organization_id = @org")
		return err
	}))
}

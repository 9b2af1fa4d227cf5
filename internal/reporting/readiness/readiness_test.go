package readiness_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/readiness"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

const postThem = ". Post or apply them, mark them as spam, or close with an override_reason"

func TestUnpostedTransactionsOfThePeriodAreCountedAndTheFirstFiveNamed(t *testing.T) {
	each(t, func(w *world) {
		w.passes("2025-10", readiness.CodeUnposted)
		var ids, numbers []string
		for i := range 7 {
			made, _ := w.Transact(fmt.Sprintf("2025-10-%02d A in 1 ETH = 100.00", i+1))
			ids, numbers = append(ids, made.ID), append(numbers, transaction.SequenceNumber(made.Number))
			if i == 0 {
				w.fails("2025-10", readiness.CodeUnposted, 1, "transactions of the period are not posted: "+numbers[0]+postThem, ids...)
			}
		}
		w.Transact("2025-11-01 A in 1 ETH = 100.00")                     // of the next period
		w.Transact("2025-10-05 A in 1 ETH = 100.00 : SWAP against Bank") // posted
		w.fails("2025-10", readiness.CodeUnposted, 7, "transactions of the period are not posted: "+strings.Join(numbers[:5], ", ")+
			" and 2 more"+postThem, ids[:5]...)
		if !w.result(w.Ctx, "2025-10", readiness.CodeUnposted, w.EntityID).Overridable {
			w.Error("unposted transactions may not be overridden")
		}
		w.Transact("2025-10-06 SubA in 1 ETH = 100.00")
		if v := w.result(w.Ctx, "2025-10", readiness.CodeUnposted, w.SubsidiaryID); v.Count != 1 {
			w.Errorf("the other legal entity: %+v", v)
		}
	})
}

func TestADisposalWithoutLotsFailsUntilTheMissingAcquisitionIsPosted(t *testing.T) {
	each(t, func(w *world) {
		zero := entity.ShortAtZeroBasis
		w.policy(entity.UpdateParams{ShortDisposal: &zero})
		w.Transact("2025-10-01 A in 1 ETH = 2000.00 : SWAP against Bank")
		_, entry := w.Transact("2025-11-10 A out 1.5 ETH = 3900.00 : SWAP against Bank")
		w.passes("2025-10", readiness.CodeLotDeficit)
		const message = "disposals exceed the lots held: 0.5 ETH on 2025-11-10. Import and post the missing acquisitions"
		w.fails("2025-11", readiness.CodeLotDeficit, 1, message, entry)
		w.fails("2025-12", readiness.CodeLotDeficit, 1, message, entry)
		w.Transact("2025-09-01 A in 0.5 ETH = 700.00 : SWAP against Bank")
		w.passes("2025-11", readiness.CodeLotDeficit)
	})
}

func TestALotWaitingForTheOtherHalfOfATransferFails(t *testing.T) {
	each(t, func(w *world) {
		w.passes("2025-11", readiness.CodeBasisPending)
		w.Transact("2025-11-02 B in 0.25 ETH = 750.00 : INTERNAL TRANSFER")
		v := w.result(w.Ctx, "2025-11", readiness.CodeBasisPending, w.EntityID)
		w.fails("2025-11", readiness.CodeBasisPending, 1, "the cost basis of lots is unknown until the other half of their transfer is "+
			"booked or their value is stated: 0.25 ETH of 2025-11-02. Post the other transaction, state the value "+
			"(of an opening balance with PATCH /v1/assets/{asset_id}), or book these as something else", v.SampleIDs...)
		if len(v.SampleIDs) != 1 || !strings.HasPrefix(v.SampleIDs[0], "ast_") {
			w.Errorf("the samples are %v", v.SampleIDs)
		}
		w.passes("2025-10", readiness.CodeBasisPending)
	})
}

// nextAfterUnitsDiffer says what to do about amounts that contradict units. The samples of the check are the accounts.
const nextAfterUnitsDiffer = ". Look at the entries of these accounts (GET /v1/journal-entries?ledger_account_id=…, with the ids in " +
	"sample_ids) and correct those at fault: book what was paid in the unit that is owed, and wallets by their transactions"

func TestWhatIsOwedInUnitsMustBeSettledInThem(t *testing.T) {
	each(t, func(w *world) {
		loan := w.Account("2210")
		w.Transact("2025-10-01 Bank in 90000 USD : DEPOSIT against 3010")
		w.Transact("2025-10-01 A in 20 ETH = 40000.00 : SWAP against Bank")
		_, borrowed := w.Transact("2025-10-02 A in 10 ETH = 20000.00 : BORROW against 2210")
		w.passes("2025-10", readiness.CodeUnitsDiffer)
		_, paid := w.Transact("2025-11-03 Bank out 20000 USD : REPAYMENT against 2210")
		w.passes("2025-10", readiness.CodeUnitsDiffer)
		w.fails("2025-11", readiness.CodeUnitsDiffer, 1, "amounts contradict units: on "+loan.String()+", 10 ETH are outstanding, but 20000.00 "+
			"was settled without units"+nextAfterUnitsDiffer, loan.ID)
		_, err := w.Journal.Reverse(w.Ctx, paid, journal.ReverseParams{})
		w.Must(err)
		w.Transact("2025-11-04 A out 10 ETH = 21000.00 : REPAYMENT against 2210")
		w.passes("2025-12", readiness.CodeUnitsDiffer)
		_, err = w.Journal.Reverse(w.Ctx, borrowed, journal.ReverseParams{})
		w.Must(err)
		w.fails("2025-12", readiness.CodeUnitsDiffer, 1, "amounts contradict units: more was settled on "+loan.String()+
			" than was owed, by 10 ETH"+nextAfterUnitsDiffer, loan.ID)
	})
}

// A loan in the base currency has no units. One that is reversed after it was repaid leaves a balance on the wrong side all the same.
func TestMoreThanWasBorrowedMustNotBeRepaid(t *testing.T) {
	each(t, func(w *world) {
		loan := w.Account("2210")
		w.Transact("2025-10-01 Bank in 9000 USD : DEPOSIT against 3010")
		_, borrowed := w.Transact("2025-10-02 Bank in 1000 USD : BORROW against 2210")
		w.Transact("2025-11-03 Bank out 600 USD : REPAYMENT against 2210")
		w.Transact("2025-11-03 Bank out 50 USD : BILL against 2010") // a prepayment of a supplier is none
		w.passes("2025-11", readiness.CodeUnitsDiffer)
		_, err := w.Journal.Reverse(w.Ctx, borrowed, journal.ReverseParams{})
		w.Must(err)
		w.passes("2025-10", readiness.CodeUnitsDiffer)
		w.fails("2025-11", readiness.CodeUnitsDiffer, 1, "amounts contradict units: more was settled on "+loan.String()+
			" than was owed, by 600.00 USD"+nextAfterUnitsDiffer, loan.ID)
	})
}

func TestMoneyThatIsOwedInAnotherCurrencyAndSettledOtherwiseIsAWarning(t *testing.T) {
	each(t, func(w *world) {
		loan, cost := w.Account("2210").ID, w.Account("6020").ID
		for _, lines := range [][]journal.LineParams{
			{{LedgerAccountID: cost, Side: book.Debit, Amount: "1000", Currency: "EUR", Base: new(money.MustParse("1100"))},
				{LedgerAccountID: loan, Side: book.Credit, Amount: "1000", Currency: "EUR", Base: new(money.MustParse("1100"))}},
			{{LedgerAccountID: loan, Side: book.Debit, Amount: "1100"}, {LedgerAccountID: cost, Side: book.Credit, Amount: "1100"}},
		} {
			_, err := w.Journal.Create(w.Ctx, journal.CreateParams{LegalEntityID: w.EntityID, AccountingDate: "2025-10-05",
				Status: journal.Posted, OriginatedBy: journal.ByHand, Lines: lines})
			w.Must(err)
		}
		v := w.result(w.Ctx, "2025-10", readiness.CodeUnitsDiffer, w.EntityID)
		const says = "1000 EUR are outstanding, but 1100.00 was settled without units"
		if v.Status != period.Warn || v.Count != 1 || !strings.Contains(v.Message, says) {
			w.Errorf("it is %+v", v)
		}
	})
}

func TestAWalletHasNoAmountsWithoutAnAsset(t *testing.T) {
	each(t, func(w *world) {
		w.Transact("2025-10-01 A in 1 ETH = 2000.00 : SWAP against Bank")
		w.passes("2025-10", readiness.CodeUnitsDiffer)
		wallet := w.Account("A")
		_, err := w.Journal.Create(w.Ctx, journal.CreateParams{LegalEntityID: w.EntityID, AccountingDate: "2025-10-05",
			Status: journal.Posted, OriginatedBy: journal.ByHand, Lines: []journal.LineParams{
				{LedgerAccountID: w.Account("6020").ID, Side: book.Debit, Amount: "800"},
				{LedgerAccountID: wallet.ID, Side: book.Credit, Amount: "800"}}})
		w.Must(err)
		w.fails("2025-10", readiness.CodeUnitsDiffer, 1, "amounts contradict units: "+wallet.String()+" has -800.00 without an asset"+
			nextAfterUnitsDiffer, wallet.ID)
	})
}

func TestAMeasuredAssetNeedsAPriceAndAnUpToDateRevaluation(t *testing.T) {
	each(t, func(w *world) {
		w.Transact("2025-10-01 A in 1 ETH = 2000.00 : SWAP against Bank")
		w.Transact("2025-10-02 A in 1 BTC = 9000.00 : SWAP against Bank")
		w.passes("2025-10", readiness.CodeMissingPrice) // carried at cost
		w.passes("2025-10", readiness.CodeRevaluation)
		fair := entity.MeasuredAtFairValue
		w.policy(entity.UpdateParams{Measurement: &fair, MeasurementFrom: new("2025-01-01")})
		w.fails("2025-10", readiness.CodeMissingPrice, 2,
			"no price in USD at the end of the period: BTC, ETH. Add the prices, then run the revaluation")
		w.AddPrice("ETH", "2025-10-31", "2100")
		w.fails("2025-10", readiness.CodeMissingPrice, 1,
			"no price in USD at the end of the period: BTC. Add the prices, then run the revaluation")
		w.AddPrice("BTC", "2025-10-31", "9000")
		w.passes("2025-10", readiness.CodeMissingPrice)
		w.passes("2025-09", readiness.CodeMissingPrice) // nothing was held
		if v := w.result(w.Ctx, "2025-10", readiness.CodeRevaluation, w.EntityID); v.Status != period.Fail || v.Count != 1 ||
			!strings.Contains(v.Message, "1 ETH in the holdings by 100.00 USD") {
			w.Errorf("%+v", v)
		}
		w.revalue("2025-10")
		w.passes("2025-10", readiness.CodeRevaluation)
	})
}

func TestALegalEntityWithoutAnEntryOfItsOwnIsMeasuredToo(t *testing.T) {
	each(t, func(w *world) {
		fair := entity.MeasuredAtFairValue
		params := entity.UpdateParams{Measurement: &fair, MeasurementFrom: new("2025-01-01")}
		_, err := entity.NewService(w.DB).Update(w.Ctx, w.SubsidiaryID, params)
		w.Must(err)
		w.Transact("2025-10-01 A in 1 ETH = 2000.00 : SWAP against Bank")
		out, _ := w.Transact("2025-10-02 A out 1 ETH = 2000.00")
		in, _ := w.Transact("2025-10-02 SubA in 1 ETH = 2000.00")
		_, err = transfers.NewService(w.DB).Link(w.Ctx, transfers.LinkParams{TransactionIDs: []string{out.ID, in.ID}})
		w.Must(err)
		w.Book(out.ID, "INTERCOMPANY TRANSFER", "")
		if v := w.result(w.Ctx, "2025-10", readiness.CodeMissingPrice, w.SubsidiaryID); v.Status != period.Fail || v.Count != 1 {
			w.Errorf("without a price: %+v", v)
		}
		w.AddPrice("ETH", "2025-10-31", "2100")
		if v := w.result(w.Ctx, "2025-10", readiness.CodeRevaluation, w.SubsidiaryID); v.Status != period.Fail || v.Count != 1 {
			w.Errorf("without a revaluation: %+v", v)
		}
	})
}

func TestDamagedLotsFailTheCheckThatComparesThemWithTheBooks(t *testing.T) {
	each(t, func(w *world) {
		w.Transact("2025-10-01 A in 1 ETH = 2000.00 : SWAP against Bank")
		w.passes("2025-10", readiness.CodeLotsDiffer)
		for statement, want := range map[string]string{
			"UPDATE lot_positions SET basis = '1990' WHERE organization_id = @org":  "(2000.00 in the books, 1990.00 in lots)",
			"UPDATE account_units SET amount = '2010' WHERE organization_id = @org": "(2010.00 in the books, 2000.00 in lots)",
			"DELETE FROM account_units WHERE organization_id = @org":                "(0.00 in the books, 2000.00 in lots)",
		} {
			w.Damage(statement, func(ctx context.Context) {
				v := w.result(ctx, "2025-10", readiness.CodeLotsDiffer, w.EntityID)
				if v.Status != period.Fail || v.Count != 1 || !strings.Contains(v.Message, want) || len(v.SampleIDs) != 1 ||
					v.SampleIDs[0] != w.Source("A").LedgerAccountID {
					w.Errorf("%s: %+v", statement, v)
				}
			})
		}
	})
}

func TestOnlyLegalEntitiesThatTheKeyMaySeeAreInspected(t *testing.T) {
	each(t, func(w *world) {
		w.Transact("2025-10-01 A in 1 ETH = 2000.00")
		w.Transact("2025-10-01 SubA in 1 ETH = 2000.00")
		ctx := actor.With(w.T.Context(), actor.Actor{OrganizationID: w.OrganizationID, LegalEntityIDs: []string{w.SubsidiaryID}})
		r, err := w.periods.Readiness(ctx, w.Period("2025-10").ID, "")
		w.Must(err)
		for _, v := range r.Checks {
			if v.LegalEntityID != w.SubsidiaryID && v.LegalEntityID != "" {
				w.Errorf("a check of another legal entity: %+v", v)
			}
		}
		if v := w.result(ctx, "2025-10", readiness.CodeUnposted, w.SubsidiaryID); v.Count != 1 {
			w.Errorf("%+v", v)
		}
		if _, err := w.periods.Readiness(ctx, w.Period("2025-10").ID, w.EntityID); fault.KindOf(err) != fault.NotFound {
			w.Errorf("another legal entity by name: %v", err)
		}
	})
}

func TestADatabaseErrorNeverMakesAPeriodReady(t *testing.T) {
	each(t, func(w *world) {
		fair := entity.MeasuredAtFairValue
		w.policy(entity.UpdateParams{Measurement: &fair, MeasurementFrom: new("2025-01-01")})
		w.Transact("2025-10-01 A in 1 ETH = 2000.00 : SWAP against Bank")
		w.Transact("2025-10-02 A in 1 ETH = 2000.00")
		id := w.Period("2025-10").ID
		whole, err := w.periods.Readiness(w.Ctx, id, "")
		w.Must(err)
		dbtest.EachInterrupt(w.Ctx, w.T, w.DB, func(ctx context.Context) (period.Readiness, error) {
			return w.periods.Readiness(ctx, id, "")
		}, func(r period.Readiness) bool { return fmt.Sprint(r.Checks) == fmt.Sprint(whole.Checks) })
		for _, table := range []string{"transactions", "lot_uses", "lots", "lot_positions", "account_units", "account_balances",
			"sources", "prices", "journal_entries"} {
			restore := dbtest.HideTable(w.T, w.DB, table)
			if r, err := w.periods.Readiness(w.Ctx, id, ""); fault.KindOf(err) != fault.Internal || err == nil {
				w.Errorf("without %s: %+v %v", table, r, err)
			}
			restore()
		}
	})
}

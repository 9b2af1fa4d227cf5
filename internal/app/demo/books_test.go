package demo_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// holding is an asset of a source.
type holding struct{ source, asset string }

func (w *world) holdsWhatSourcesDo(t *testing.T) {
	want, got := map[holding]money.Decimal{}, map[holding]money.Decimal{}
	for _, x := range w.transactions {
		if x.Status != transaction.Posted || money.IsFiat(x.Currency) {
			continue
		}
		change := *x.Quantity
		if !transaction.IsInflow(x.Direction) {
			change = change.Neg()
		}
		h := holding{x.Source.ID, x.Currency}
		want[h] = want[h].Add(change)
	}
	manual, open := 0, true
	for _, l := range everything(t, func(p page.Request) (page.Page[lots.Held], error) {
		return w.app.Lots.List(w.ctx, lots.Filter{Open: &open}, p)
	}) {
		h := holding{l.SourceID, l.AssetType}
		got[h] = got[h].Add(l.RemainingQuantity)
		if l.RemainingQuantity.Sign() <= 0 || l.RemainingBasis.Sign() < 0 {
			t.Errorf("%s of %s %s cost %s", l.RemainingQuantity, l.ID, l.AssetType, l.RemainingBasis)
		}
	}
	for _, h := range everything(t, func(p page.Request) (page.Page[lots.Held], error) {
		return w.app.Lots.List(w.ctx, lots.Filter{}, p)
	}) {
		if h.Origin == lots.Manual {
			manual++
			at := holding{h.SourceID, h.AssetType}
			want[at] = want[at].Add(h.Quantity)
		}
	}
	for h, q := range want {
		if !got[h].Equal(q) {
			t.Errorf("%v: the lots are %s, the source has %s", h, got[h], q)
		}
	}
	if len(got) < 10 || manual != 3 {
		t.Errorf("%d holdings, %d opening assets", len(got), manual)
	}
}

func (w *world) balances(t *testing.T) {
	for _, e := range []string{w.sources[0].LegalEntityID, w.sources[len(w.sources)-1].LegalEntityID} {
		trial, err := w.app.Reports.TrialBalance(w.ctx, statements.Params{FromInception: true,
			EndDate: w.app.DB.Clock().Now().Format(time.DateOnly), LegalEntityIDs: []string{e}})
		if err != nil || len(trial.Unbalanced) > 0 || len(trial.Totals) < activity.Months {
			t.Errorf("%v %+v", err, trial.Unbalanced)
		}
		for _, total := range trial.Totals {
			if !total.Balanced() {
				t.Errorf("%+v", total)
			}
		}
	}
	sheet, err := w.app.Reports.BalanceSheet(w.ctx, statements.Params{PresentationCurrency: "USD"})
	if err != nil || len(sheet.Negative)+len(sheet.Unbalanced) > 0 {
		t.Errorf("%v %+v %+v", err, sheet.Negative, sheet.Unbalanced)
	}
}

// agreesBetweenCompanies compares what each legal entity is owed by the other with what the other owes, in dollars, at the end of every
// closed month.
func (w *world) agreesBetweenCompanies(t *testing.T) {
	compared := 0
	ids := []string{w.sources[0].LegalEntityID, w.sources[len(w.sources)-1].LegalEntityID}
	for _, p := range w.periods(t) {
		if p.Status() != period.StatusClosed {
			continue
		}
		closing := func(legalEntityID, role string) (sum money.Decimal) {
			sheet, err := w.app.Reports.BalanceSheet(w.ctx, statements.Params{PeriodIDs: []string{p.ID}, LegalEntityIDs: []string{legalEntityID},
				PresentationCurrency: "USD"})
			if err != nil {
				t.Fatal(err)
			}
			for n, a := range sheet.Accounts {
				if a.Role == role {
					sum = sum.Add(sheet.Rows[n].Cells[0].Closing)
				}
			}
			return sum
		}
		for i, creditor := range ids {
			debtor := ids[1-i]
			from, to := closing(creditor, account.RoleDueFrom(debtor)), closing(debtor, account.RoleDueTo(creditor))
			if from.Sub(to).Abs().Cmp(money.MustParse("0.01")) > 0 {
				t.Errorf("at the end of %s, %s are due from a company that has %s due", p.Key, from, to)
			}
			if !from.IsZero() {
				compared++
			}
		}
	}
	if compared < 12 {
		t.Errorf("only %d balances were compared", compared)
	}
}

func (w *world) hasPositions(t *testing.T) {
	for _, p := range w.periods(t) {
		all := everything(t, func(r page.Request) (page.Page[holdings.Closing], error) {
			return w.app.Holdings.ClosingPositions(w.ctx, holdings.ClosingParams{PeriodID: p.ID}, r)
		})
		if len(all) == 0 {
			t.Errorf("nothing is held at the end of %s", p.Key)
		}
		for _, c := range all {
			if c.Quantity.Sign() <= 0 || c.Basis.Sign() < 0 || c.Carrying.Sign() < 0 {
				t.Errorf("%s: %+v", p.Key, c)
			}
		}
	}
}

func (w *world) periods(t *testing.T) []period.State {
	t.Helper()
	return everything(t, func(r page.Request) (page.Page[period.State], error) {
		return w.app.Periods.List(w.ctx, period.Filter{}, r)
	})
}

func (w *world) isCleared(t *testing.T) {
	var clearing []account.Account
	w.read(t, func(ctx context.Context, tx *db.Tx) (err error) {
		clearing, err = account.All(ctx, tx)
		return err
	})
	clearing = slices.DeleteFunc(clearing, func(a account.Account) bool { return !a.Clearing })
	if len(clearing) < 3 {
		t.Errorf("%d clearing accounts", len(clearing))
	}
	for _, a := range clearing {
		left := map[string]money.Decimal{} // by legal entity
		for _, l := range everything(t, func(r page.Request) (page.Page[journal.AccountLine], error) {
			return w.app.Journal.Lines(w.ctx, journal.LineFilter{LedgerAccountID: a.ID}, r)
		}) {
			amount := *l.Base
			if l.Side == book.Credit {
				amount = amount.Neg()
			}
			left[l.LegalEntityID] = left[l.LegalEntityID].Add(amount)
		}
		for entityID, amount := range left {
			if !amount.IsZero() {
				t.Errorf("%s of %s has %s", a, entityID, amount)
			}
		}
	}
}

func (w *world) isClosed(t *testing.T) {
	closed := 0
	for _, p := range w.periods(t) {
		if p.Status() == period.StatusClosed {
			closed++
		}
	}
	if closed != activity.LateMonth+1 { // opening balances have no month of their own
		t.Errorf("%d months are closed", closed)
	}
}

func (w *world) showsActivity(t *testing.T) {
	accounts := map[string]account.Account{}
	w.read(t, func(ctx context.Context, tx *db.Tx) error {
		all, err := account.All(ctx, tx)
		for _, a := range all {
			accounts[a.ID] = a
		}
		return err
	})
	seen := map[string]int{}
	for _, e := range everything(t, func(r page.Request) (page.Page[journal.Guided], error) {
		return w.app.Journal.List(w.ctx, journal.Filter{}, r)
	}) {
		seen[e.OriginatedBy]++
		seen[e.Classification]++
		codes, memos := map[string]bool{}, map[string]bool{}
		between := map[string]int{} // by legal entity, lines on intercompany accounts
		for _, l := range e.Lines {
			if account.IsIntercompany(accounts[l.LedgerAccountID].Role) {
				between[l.LegalEntityID]++
			}
			codes[accounts[l.LedgerAccountID].Code], memos[l.Memo] = true, true
		}
		if e.OriginatedBy != journal.ByRevaluation && len(between) == 1 {
			t.Errorf("%s books what is due between legal entities in the books of one only", e.SequenceNumber())
		}
		switch {
		case e.Classification == "WITHDRAWAL" && codes["1010"] && len(codes) == 3: // the bank account, the wallet's account and the gain
			seen["sale to a bank account"]++
		case e.Classification == "EXPENSE" && memos["Desks of Engineering"] && memos["Desks of Sales"]:
			seen["split"]++
		}
	}
	for _, what := range []string{
		journal.ByTrueUp, journal.ByReversal, journal.ByCorrection, journal.ByOpening, journal.ByRevaluation, "NFT", "STAKING_REWARD",
		"CLAIM REWARD", "BRIDGE", "INTERCOMPANY TRANSFER",
		"INTERNAL TRANSFER", "NON_TAXABLE_CONVERSION", "BORROW", "REPAYMENT", "SWAP", "INVOICE", "BILL", "FEE", "REFUND", "CHARGEBACK",
		"sale to a bank account", "split",
	} {
		if seen[what] == 0 {
			t.Errorf("there is no %s in %v", what, seen)
		}
	}
}

func (w *world) isSound(t *testing.T) {
	found, err := w.app.Verify(t.Context(), nil)
	if err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
}

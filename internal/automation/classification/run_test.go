package classification_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

func TestTheMostSpecificRuleDecidesAndIsNamed(t *testing.T) {
	each(t, func(w *world) {
		w.rule("aws", "memo=Amazon_Web to=Software")
		w.rule("amazon", "memo=amazon to=Rent priority=9")
		w.rule("card", "merchant=Delta_Air to=Travel")
		w.rule("chain", "address=0xBBBB to=Sales direction=DEPOSIT")
		w.rule("eth", "asset=ETH to=Loans")
		w.rule("low", "category=saas to=Rent")
		w.rule("high", "category=saas to=Software priority=2")
		w.rule("off", "memo=nothing to=Rent enabled=false")
		w.rule("fee", "memo=monthly_fee to=Rent type=FEE")
		w.addTransactions(
			"Bank 2025-11-03 -10 USD text=AMAZON_WEB__SERVICES",
			"Bank 2025-11-02 -11 USD payee=Amazon_Store",
			"Card 2025-11-04 -12 USD merchant=DELTA_AIR",
			"Wallet 2025-11-05 +13 ETH from=0xbbbb to=0xaaaa",
			"Wallet 2025-11-06 -14 ETH from=0xaaaa to=0xbbbb",
			"Bank 2025-11-07 -15 USD category=SaaS",
			"Bank 2025-11-08 +16 USD text=amazon_web_services_refund",
			"Bank 2025-11-09 -17 USD text=nothing",
			"Bank 2025-11-10 -18 USD text=Monthly_Fee",
		)
		r := w.classify(classification.CreateParams{Dry: true})
		w.says("results", w.resultLines(r.ID),
			"OT-2 classified EXPENSE Rent by amazon.1",
			"OT-1 classified EXPENSE Software by aws.1 not amazon",
			"OT-3 classified EXPENSE Travel by card.1",
			"OT-4 classified INCOME Sales by chain.1 not eth",
			"OT-5 classified WITHDRAWAL Loans by eth.1",
			"OT-6 classified EXPENSE Software by high.1 not low",
			"OT-7 classified REFUND Software by aws.1 not amazon",
			"OT-8 unmatched",
			"OT-9 classified FEE Rent by fee.1",
		)
		if again := w.resultLines(w.classify(classification.CreateParams{Dry: true}).ID); !slices.Equal(again, w.resultLines(r.ID)) {
			w.Errorf("again: %v", again)
		}
		if r.Percent() != 100 || r.Total != 9 || r.Counts[classification.Classified] != 8 || r.Counts[classification.Unmatched] != 1 {
			w.Errorf("%+v", r)
		}
		for _, one := range w.list() {
			if one.Suggested != nil || one.Status != transaction.Pending {
				w.Errorf("a dry run changed %s", one.SequenceNumber())
			}
		}
	})
}

func TestARuleMaySplitByPercent(t *testing.T) {
	each(t, func(w *world) {
		for line, want := range map[string]string{
			"memo=rent split=Rent:60+Travel:30":           "splits add up to 90 percent",
			"memo=rent to=Rent split=Rent:60+Travel:40":   "splits cannot be combined with ledger_account_id",
			"memo=rent split=Rent:100":                    "splits must have 2 to 100 items",
			"memo=rent split=Rent:-1+Travel:x":            "splits[1].percent",
			"memo=rent split=Rent:50+lac_none:50":         "splits[1].ledger_account_id",
			"memo=rent direction=WITHDRAWAL type=EXPENSE": "ledger_account_id is required, or splits",
		} {
			if _, err := w.memory.PutRule(w.Ctx, memory.PutRuleParams{Rule: w.ruleParams(line)}); err == nil ||
				!strings.Contains(err.Error(), want) {
				w.Errorf("%s: %v, want %s", line, err, want)
			}
		}
		w.rule("shared", "memo=rent split=Rent:66.6667+Travel:33.3333")
		ids := w.addTransactions("Bank 2025-11-03 -100 USD text=rent")
		w.classify(classification.CreateParams{Action: classification.Suggest})
		if s := w.list()[0].Suggested; s == nil || len(s.Splits) != 2 || s.Splits[0].Percent != "66.6667" || s.Type != "EXPENSE" {
			w.Errorf("suggested %+v", s)
		}
		w.classify(classification.CreateParams{Action: classification.Post})
		var lines []string
		err := w.DB.Read(w.Ctx, actor.From(w.Ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			paid, err := transaction.Find(ctx, tx, ids[0])
			if err != nil {
				return err
			}
			e, err := journal.Find(ctx, tx, paid.JournalEntryID)
			for _, l := range e.Lines {
				lines = append(lines, fmt.Sprint(l.Side, " ", w.names[l.LedgerAccountID], " ", l.Amount.Fixed("USD"), " ", l.Memo))
			}
			return err
		})
		if w.Must(err); len(lines) != 3 || lines[0] != "DEBIT Rent 66.67 share" || lines[1] != "DEBIT Travel 33.33 share" {
			w.Errorf("lines %q", lines)
		}
	})
}

// list returns every transaction, the earliest first.
func (w *world) list() []transaction.Transaction {
	w.Helper()
	got, err := w.Transactions.List(w.Ctx, transaction.ListParams{Sort: transaction.Sort{Order: "asc"}, Request: page.Request{Limit: 100},
		Filter: transaction.Filter{IncludeSpam: true}})
	w.Must(err)
	return got.Items
}

func TestADecisionIsBookedWithItsTagAndPayee(t *testing.T) {
	each(t, func(w *world) {
		rule := w.rule("aws", "memo=aws to=Software payee=Amazon_Web_Services tag=IT")
		ids := w.addTransactions("Bank 2025-11-03 -10 USD text=AWS_EMEA", "Bank 2025-11-04 -20 USD text=other")
		for i, action := range []classification.Action{classification.Draft, classification.Post} {
			if i == 1 {
				w.Must(w.Journal.Delete(w.Ctx, w.get(ids[0]).JournalEntryID))
			}
			r := w.classify(classification.CreateParams{Action: action})
			outcome := map[classification.Action]string{classification.Draft: "drafted", classification.Post: "posted"}[action]
			w.says(string(action), w.resultLines(r.ID), "OT-1 "+outcome+" EXPENSE Software by aws.1", "OT-2 unmatched")
			one := w.get(ids[0])
			if one.Vendor != "Amazon Web Services" || !slices.Equal(one.TagIDs, []string{w.tag("IT")}) || one.Type != "EXPENSE" ||
				(one.Status == transaction.Posted) != (action == classification.Post) {
				w.Errorf("%s: %+v", action, one)
			}
			if got := w.results(r.ID)[0]; got.JournalEntryID != one.JournalEntryID || got.JournalEntryID == "" {
				w.Errorf("%s: the result has the entry %q, the transaction %q", action, got.JournalEntryID, one.JournalEntryID)
			}
			tag := w.tag("IT")
			w.Read(func(ctx context.Context, tx *db.Tx) error {
				e, err := journal.Find(ctx, tx, one.JournalEntryID)
				if err != nil || !slices.Contains(e.TagIDs, tag) {
					w.Errorf("%s: %+v %v", action, e.TagIDs, err)
				}
				o, err := booking.OriginOf(ctx, tx, one.JournalEntryID)
				if err == nil && (o == nil || o.RuleID != rule || o.RuleVersion != 1) {
					w.Errorf("%s: the entry follows from %+v", action, o)
				}
				return err
			})
		}
	})
}

func TestARunSkipsTransactionsThatAreNotEligible(t *testing.T) {
	each(t, func(w *world) {
		w.rule("all", "memo=x to=Rent")
		ids := w.addTransactions("Bank 2025-09-03 -10 USD text=x", "Bank 2025-11-03 -11 USD text=x", "Bank 2025-11-04 -12 USD text=x",
			"Bank 2025-11-05 -13 USD text=x", "Bank 2025-11-06 -14 USD text=x")
		_, err := w.Transactions.Update(w.Ctx, ids[1], transaction.UpdateParams{Status: new(transaction.Spam)})
		w.Must(err)
		w.book(ids[2], "EXPENSE", "Software")
		made, err := w.Bookings.Create(w.Ctx, []booking.Params{{TransactionID: ids[3], Type: "EXPENSE",
			LedgerAccountID: w.accounts["Travel"]}}, func(int) string { return "" })
		w.Must(err)
		w.book(w.addTransactions("Bank 2025-09-01 -15 USD text=y")[0], "EXPENSE", "Rent")
		w.closeThrough("2025-09")
		r := w.classify(classification.CreateParams{TransactionIDs: ids, Action: classification.Post})
		w.says("by ids", w.resultLines(r.ID),
			"OT-1 skipped because the month 2025-09 is closed", "OT-2 skipped because it is spam", "OT-3 skipped because it is posted",
			"OT-4 skipped because it has the draft entry "+made[0].ID, "OT-5 posted EXPENSE Rent by all.1")
		r = w.classify(classification.CreateParams{Action: classification.Post})
		w.says("by filter", w.resultLines(r.ID), "OT-1 skipped because the month 2025-09 is closed",
			"OT-4 skipped because it has the draft entry "+made[0].ID)
		r = w.classify(classification.CreateParams{Filter: &transaction.Filter{StartDate: "2025-11-06", Status: "posted"}})
		w.says("posted ones", w.resultLines(r.ID), "OT-5 skipped because it is posted")
		for i, want := range []transaction.Status{transaction.Pending, transaction.Spam, transaction.Posted, transaction.Pending,
			transaction.Posted} {
			if got := w.get(ids[i]); got.Status != want || got.Suggested != nil {
				w.Errorf("OT-%d is %s with %+v", i+1, got.Status, got.Suggested)
			}
		}
	})
}

// closeThrough closes every month up to one.
func (w *world) closeThrough(key string) {
	w.Helper()
	got, err := w.periods.List(w.Ctx, period.Filter{}, page.Request{Limit: 100})
	w.Must(err)
	for _, p := range slices.Backward(got.Items) {
		if p.Key > key {
			continue
		}
		_, err := w.periods.CloseWithOverride(w.Ctx, p.ID, "", "a test")
		w.Must(err)
	}
}

func TestATransactionThatCannotBeBookedIsRefusedAndTheRestIsBooked(t *testing.T) {
	each(t, func(w *world) {
		w.rule("wages", "memo=x to=Rent")
		w.rule("swap", "memo=swap to=Rent type=BORROW")
		ids := w.addTransactions("Bank 2025-11-03 -10 USD text=x", "Wallet 2025-11-04 -1 ETH memo=x", "Bank 2025-11-05 -11 USD text=x")
		archived := w.rule("archived", "memo=gone to=Travel")
		w.addTransactions("Bank 2025-11-06 -1 USD text=gone")
		w.archive("Travel")
		if got := w.resultLines(w.classify(classification.CreateParams{Dry: true}).ID)[3]; !strings.HasPrefix(got,
			"OT-4 refused EXPENSE Travel by archived.1 because the ledger account") {
			w.Error("before it is tried:", got)
		}
		r := w.classify(classification.CreateParams{Action: classification.Post})
		got := w.resultLines(r.ID)
		if len(got) != 4 || got[0] != "OT-1 posted EXPENSE Rent by wages.1" || got[2] != "OT-3 posted EXPENSE Rent by wages.1" {
			w.Fatal(strings.Join(got, "\n"))
		}
		if !strings.HasPrefix(got[3], "OT-4 refused EXPENSE Travel by archived.1 because the ledger account") ||
			w.get(ids[2]).Status != transaction.Posted {
			w.Error(strings.Join(got, "\n"))
		}
		if s := w.list()[3].Suggested; s == nil || s.RuleID != archived || s.Confidence != 100 || s.LedgerAccountID != w.accounts["Travel"] {
			w.Errorf("what was refused is suggested as %+v", s)
		}
	})
}

func TestARunUsesTheRulesOfItsCreation(t *testing.T) {
	each(t, func(w *world) {
		rule := w.rule("one", "memo=x to=Rent")
		w.addTransactions("Bank 2025-11-03 -10 USD text=x")
		before, err := w.Create(w.Ctx, classification.CreateParams{Filter: &transaction.Filter{}, Action: classification.Suggest})
		w.Must(err)
		_, err = w.memory.PutRule(w.Ctx, memory.PutRuleParams{RuleID: rule, ExpectedVersion: new("1"), Rule: w.ruleParams("memo=x to=Software")})
		w.Must(err)
		w.rule("other", "memo=x direction=WITHDRAWAL to=Travel")
		w.addTransactions("Bank 2025-11-01 -11 USD text=x") // it came after the run was made
		_, err = w.Service.Run(w.T.Context(), w.OrganizationID, before.ID, nil)
		w.Must(err)
		w.says("before", w.resultLines(before.ID), "OT-1 classified EXPENSE Rent by one.1")
		w.says("after", w.resultLines(w.classify(classification.CreateParams{}).ID), "OT-2 classified EXPENSE Travel by other.1 not one",
			"OT-1 classified EXPENSE Travel by other.1 not one")
		w.Must(w.memory.DeleteRule(w.Ctx, rule, "2", ""))
		if got := w.resultLines(w.classify(classification.CreateParams{}).ID)[1]; got != "OT-1 classified EXPENSE Travel by other.1" {
			w.Error(got)
		}
	})
}

func TestACancelledRunStopsAndContinuesWhenResumed(t *testing.T) {
	each(t, func(w *world) {
		w.SetBatch(2)
		w.rule("x", "memo=x to=Rent")
		var lines []string
		for range 5 {
			lines = append(lines, "Bank 2025-11-03 -10 USD text=x")
		}
		w.addTransactions(lines...)
		r, err := w.Create(w.Ctx, classification.CreateParams{Filter: &transaction.Filter{}, Action: classification.Post})
		w.Must(err)
		_, err = w.Service.Run(w.T.Context(), w.OrganizationID, r.ID, func(classification.Run) {
			_, err := w.Cancel(w.Ctx, r.ID)
			w.Must(err)
		})
		if !errors.Is(err, task.ErrClaimed) {
			w.Fatal(err)
		}
		r, err = w.Get(w.Ctx, r.ID)
		if err != nil || r.Status != batchrun.Cancelled || r.Done() != 2 || r.FinishedAt == nil || r.Percent() != 40 {
			w.Fatalf("%+v %v", r, err)
		}
		if again, err := w.Cancel(w.Ctx, r.ID); err != nil || again.Status != batchrun.Cancelled {
			w.Error(again.Status, err)
		}
		if _, err := w.Service.Run(w.T.Context(), w.OrganizationID, r.ID, nil); !errors.Is(err, task.ErrClaimed) {
			w.Error("a cancelled run was done:", err)
		}
		if r, err = w.Resume(w.Ctx, r.ID); err != nil || r.Status != batchrun.Pending || r.FinishedAt != nil {
			w.Fatal(r.Status, err)
		}
		if r, err = w.Service.Run(w.T.Context(), w.OrganizationID, r.ID, nil); err != nil || r.Status != batchrun.Completed ||
			r.Counts[classification.Posted] != 5 {
			w.Fatalf("%+v %v", r, err)
		}
		for _, turn := range []func(context.Context, string) (classification.Run, error){w.Cancel, w.Resume} {
			if _, err := turn(w.Ctx, r.ID); fault.KindOf(err) != fault.Conflict {
				w.Error(err)
			}
			if _, err := turn(w.Ctx, "cls_none"); fault.KindOf(err) != fault.NotFound {
				w.Error(err)
			}
		}
	})
}

func TestAnInterruptedRunEndsAsIfItHadNotBeen(t *testing.T) {
	each(t, func(w *world) {
		w.SetBatch(3)
		w.rule("x", "memo=x to=Rent payee=Landlord tag=HQ")
		w.rule("y", "memo=y to=Sales")
		for i := range 6 {
			w.book(w.addTransactions("Bank 2025-10-0" + string(rune('1'+i)) + " -7 USD payee=Known")[0], "EXPENSE", "Travel")
		}
		// entries that a run makes are not precedents for it
		lines := []string{"Bank 2025-11-01 -5 USD text=y payee=Fresh", "Bank 2025-12-01 -5 USD payee=Fresh"}
		for i := range 17 {
			lines = append(lines, "Bank 2025-11-"+string(rune('1'+i%2))+string(rune('0'+i%9))+" -10 USD "+[]string{"text=x", "text=y",
				"payee=Known", "text=z"}[i%4])
		}
		w.addTransactions(lines...)
		want := w.resultLines(w.classify(classification.CreateParams{Dry: true}).ID)
		if !strings.Contains(strings.Join(want, "\n"), "suggested EXPENSE Travel") || !strings.HasSuffix(want[len(want)-1], "OT-8 unmatched") {
			w.Fatal(want)
		}
		r, err := w.Create(w.Ctx, classification.CreateParams{Filter: &transaction.Filter{}, Action: classification.Post})
		w.Must(err)
		killed := errors.New("killed")
		for kills := 0; ; kills++ {
			ctx, kill := context.WithCancelCause(w.T.Context())
			done, err := w.Service.Run(ctx, w.OrganizationID, r.ID, func(so classification.Run) {
				if so.Done() < so.Total {
					kill(killed)
				}
			})
			kill(nil)
			if err == nil && done.Status == batchrun.Completed {
				break
			}
			if kills > 20 {
				w.Fatal("it never ends:", err)
			}
			w.Clock.Advance(2 * task.Lease)
		}
		got := w.resultLines(r.ID)
		for i := range want {
			want[i] = strings.Replace(want[i], "classified", "posted", 1)
		}
		w.says("killed again and again", got, want...)
	})
}

func TestAProcessThatHasLostARunToAnotherStoresNothingMore(t *testing.T) {
	each(t, func(w *world) {
		w.SetBatch(1)
		w.addTransactions("Bank 2025-11-03 -10 USD", "Bank 2025-11-04 -10 USD")
		r, err := w.Create(w.Ctx, classification.CreateParams{Filter: &transaction.Filter{}, Action: classification.Suggest})
		w.Must(err)
		_, err = w.Service.Run(w.T.Context(), w.OrganizationID, r.ID, func(classification.Run) {
			w.Clock.Advance(2 * task.Lease)
			_, err := classification.Kind.Claim(w.T.Context(), w.DB, w.OrganizationID, r.ID)
			w.Must(err)
		})
		if r, _ := w.Get(w.Ctx, r.ID); !errors.Is(err, task.ErrClaimed) || r.Status != batchrun.Running || r.Done() != 1 {
			w.Errorf("%v; the run is %s with %d results", err, r.Status, r.Done())
		}
	})
}

func TestARunCoversTheLegalEntitiesOfItsKey(t *testing.T) {
	each(t, func(w *world) {
		w.rule("x", "memo=x to=Rent")
		w.AddSubsidiary()
		ids := w.addTransactions("Bank 2025-11-03 -10 USD text=x", "SubBank 2025-11-04 -10 USD text=x")
		whole := w.classify(classification.CreateParams{})
		limited := w.Limited(w.SubsidiaryID)
		if _, err := w.Get(limited, whole.ID); fault.KindOf(err) != fault.NotFound {
			w.Error("a limited key sees a run over everything:", err)
		}
		if _, err := w.Create(limited, classification.CreateParams{TransactionIDs: ids,
			Action: classification.Suggest}); fault.KindOf(err) != fault.NotFound {
			w.Error("a limited key named what it does not see:", err)
		}
		r, err := w.Create(limited, classification.CreateParams{Filter: &transaction.Filter{}, Action: classification.Suggest})
		w.Must(err)
		_, err = w.Service.Run(w.T.Context(), w.OrganizationID, r.ID, nil)
		w.Must(err)
		w.says("limited", w.resultLines(r.ID), "OT-2 classified EXPENSE Rent by x.1")
		got, err := w.List(limited, batchrun.Filter{}, page.Request{Limit: 10})
		if err != nil || len(got.Items) != 1 || got.Items[0].ID != r.ID {
			w.Errorf("%+v %v", got.Items, err)
		}
	})
}

func TestAFaultyRunIsRefused(t *testing.T) {
	each(t, func(w *world) {
		ids := w.addTransactions("Bank 2025-11-03 -10 USD text=x")
		for name, c := range map[string]struct {
			p    classification.CreateParams
			kind fault.Kind
		}{
			"nothing is named": {classification.CreateParams{Action: classification.Suggest}, fault.Invalid},
			"both are named": {classification.CreateParams{Action: classification.Suggest, TransactionIDs: ids,
				Filter: &transaction.Filter{}}, fault.Invalid},
			"an unknown action": {classification.CreateParams{Action: "book", TransactionIDs: ids}, fault.Invalid},
			"a faulty filter": {classification.CreateParams{Action: classification.Draft, Filter: &transaction.Filter{Status: "open"}},
				fault.Invalid},
			"another number": {classification.CreateParams{Action: classification.Draft, Filter: &transaction.Filter{},
				Expected: new(int64(2))}, fault.Conflict},
			"a foreign transaction": {classification.CreateParams{Action: classification.Draft, TransactionIDs: []string{"txn_none"}},
				fault.NotFound},
			"a foreign source": {classification.CreateParams{Action: classification.Draft,
				Filter: &transaction.Filter{SourceID: "src_none"}}, fault.NotFound},
		} {
			if _, err := w.Create(w.Ctx, c.p); fault.KindOf(err) != c.kind {
				w.Errorf("%s: %v", name, err)
			}
		}
		got, err := w.List(w.Ctx, batchrun.Filter{}, page.Request{Limit: 10})
		if err != nil || len(got.Items) != 0 {
			w.Errorf("%+v %v", got.Items, err)
		}
	})
}

// archive archives an account.
func (w *world) archive(name string) {
	w.Helper()
	_, err := account.NewService(w.DB).Archive(w.Ctx, w.accounts[name])
	w.Must(err)
}

func TestTheTypeFollowsFromRuleSourceAccountAndDirection(t *testing.T) {
	each(t, func(w *world) {
		w.rule("said", "memo=said to=Rent type=EXPENSE")
		w.rule("open", "memo=open to=Sales")
		w.rule("owed", "memo=owed to=Loans")
		w.addTransactions(
			"Bank 2025-11-01 -1 USD text=said",
			"Bank 2025-11-02 +1 USD text=said", // nothing comes in as an expense
			"Bank 2025-11-03 -1 USD text=said type=FEE",
			"Bank 2025-11-04 +1 USD text=open",
			"Bank 2025-11-05 -1 USD text=open",
			"Bank 2025-11-06 +1 USD text=open type=STAKING_REWARD",
			"Bank 2025-11-07 +1 USD text=open type=DEPOSIT",
			"Bank 2025-11-08 -1 USD text=open type=STAKING_REWARD", // nor does a reward go out
			"Bank 2025-11-09 +1 USD text=owed",
			"Bank 2025-11-10 -1 USD text=owed",
		)
		w.says("types", w.resultLines(w.classify(classification.CreateParams{Dry: true}).ID),
			"OT-1 classified EXPENSE Rent by said.1", "OT-2 classified REFUND Rent by said.1", "OT-3 classified EXPENSE Rent by said.1",
			"OT-4 classified INCOME Sales by open.1",
			"OT-5 classified REFUND Sales by open.1", "OT-6 classified STAKING_REWARD Sales by open.1",
			"OT-7 classified INCOME Sales by open.1", "OT-8 classified REFUND Sales by open.1",
			"OT-9 classified DEPOSIT Loans by owed.1", "OT-10 classified WITHDRAWAL Loans by owed.1")
	})
}

func TestASideOfATransferIsNotClassifiedByRules(t *testing.T) {
	each(t, func(w *world) {
		w.rule("x", "memo=x to=Rent")
		ids := w.addTransactions("Bank 2025-11-03 -10 USD text=x", "Card 2025-11-03 +10 USD text=x", "Bank 2025-11-04 -11 USD text=x")
		_, err := transfers.NewService(w.DB).Link(w.Ctx, transfers.LinkParams{TransactionIDs: ids[:2]})
		w.Must(err)
		r := w.classify(classification.CreateParams{Action: classification.Post})
		w.says("linked", w.resultLines(r.ID), "OT-1 suggested INTERNAL TRANSFER  not x", "OT-2 suggested INTERNAL TRANSFER  not x",
			"OT-3 posted EXPENSE Rent by x.1")
		if s := w.get(ids[0]).Suggested; s == nil || s.Type != "INTERNAL TRANSFER" || s.LedgerAccountID != "" || s.Confidence != 95 ||
			s.RuleID != "" {
			w.Errorf("%+v", s)
		}
	})
}

func TestOnlySomeOfTheMatchingRulesAreListed(t *testing.T) {
	each(t, func(w *world) {
		for i := range 25 {
			w.rule(fmt.Sprint(i), "memo=x to=Rent")
		}
		w.addTransactions("Bank 2025-11-03 -10 USD text=x")
		got := w.results(w.classify(classification.CreateParams{Dry: true}).ID)[0]
		if len(got.Others) != 20 || got.OthersCount != 24 || w.names[got.RuleID] != "0" || w.names[got.Others[0].RuleID] != "1" {
			w.Errorf("%+v", got)
		}
	})
}

func TestVerifyFindsEveryKindOfDamage(t *testing.T) {
	each(t, func(w *world) {
		w.book(w.addTransactions("Bank 2025-10-01 -10 USD payee=Github")[0], "EXPENSE", "Software")
		w.addTransactions("Bank 2025-11-03 -10 USD payee=Github")
		w.classify(classification.CreateParams{})
		for _, damage := range []struct{ do, undo, says string }{
			{"UPDATE classification_runs SET status = 'gone'", "UPDATE classification_runs SET status = 'completed'",
				`its status "gone" is not a valid one`},
			{"UPDATE classification_runs SET total_count = 7", "UPDATE classification_runs SET total_count = 1", "1 of 7"},
			{"UPDATE classification_results SET outcome = 'posted'", "UPDATE classification_results SET outcome = 'suggested'", "but its count is"},
			{"UPDATE classification_results SET position = 9", "UPDATE classification_results SET position = 1", "last result"},
		} {
			w.exec(damage.do)
			found := w.findings()
			if !strings.Contains(strings.Join(found, "\n"), damage.says) {
				w.Errorf("after %s: %v", damage.do, found)
			}
			w.exec(damage.undo)
		}
		w.exec("DELETE FROM precedent_features")
		if found := w.findings(); !strings.Contains(strings.Join(found, "\n"), "but it lists none") {
			w.Errorf("features without precedents: %v", found)
		}
		w.exec("DELETE FROM precedents")
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

func (w *world) findings() (found []string) {
	w.Helper()
	w.Read(func(ctx context.Context, tx *db.Tx) (err error) {
		found, err = classification.Verify(ctx, tx)
		return err
	})
	return found
}

// An entry that cannot change blocks everything that is booked in the same batch; in the end only the transaction that
// would change it is refused.
func TestATransactionThatBlocksItsBatchIsFoundAndRefused(t *testing.T) {
	each(t, func(w *world) {
		w.rule("x", "memo=x to=Rent")
		var lines []string
		for i := range 7 {
			lines = append(lines, fmt.Sprintf("Bank 2025-11-%02d -10 USD text=x", i+1))
		}
		ids := w.addTransactions(lines...)
		w.Before(func(ps []booking.Params) error {
			if slices.ContainsFunc(ps, func(p booking.Params) bool { return p.TransactionID == ids[4] }) {
				return fault.Conflictf("the entry JE-1 cannot be changed")
			}
			return nil
		})
		r := w.classify(classification.CreateParams{Action: classification.Post})
		got := w.resultLines(r.ID)
		if r.Counts[classification.Posted] != 6 || r.Counts[classification.Refused] != 1 ||
			got[4] != "OT-5 refused EXPENSE Rent by x.1 because the entry JE-1 cannot be changed" {
			w.Error(strings.Join(got, "\n"))
		}
		if one := w.get(ids[4]); one.Status != transaction.Pending || one.JournalEntryID != "" || one.Suggested == nil {
			w.Errorf("%+v", one)
		}
	})
}

func TestARunThatCannotContinueSaysWhyAndCanBeResumed(t *testing.T) {
	each(t, func(w *world) {
		entities := entity.NewService(w.DB)
		other, err := entities.Create(w.Ctx, entity.CreateParams{Name: "Other", BaseCurrency: "USD"})
		w.Must(err)
		r, err := w.Create(w.Ctx, classification.CreateParams{Filter: &transaction.Filter{LegalEntityIDs: []string{other.ID}},
			Action: classification.Suggest})
		w.Must(err)
		w.Must(entities.Delete(w.Ctx, other.ID))
		for range 2 {
			r, err = w.Service.Run(w.T.Context(), w.OrganizationID, r.ID, nil)
			if err != nil || r.Status != batchrun.Failed || !strings.Contains(r.Error, "legal entity") || r.FinishedAt == nil {
				w.Fatalf("%+v %v", r, err)
			}
			w.sound()
			if r, err = w.Resume(w.Ctx, r.ID); err != nil || r.Status != batchrun.Pending || r.Error != "" {
				w.Fatalf("%+v %v", r, err)
			}
		}
	})
}

func TestAnOrganizationHasALimitedNumberOfUnfinishedRuns(t *testing.T) {
	each(t, func(w *world) {
		p := classification.CreateParams{Filter: &transaction.Filter{}, Action: classification.Suggest}
		var last classification.Run
		for range 20 {
			var err error
			last, err = w.Create(w.Ctx, p)
			w.Must(err)
		}
		if _, err := w.Create(w.Ctx, p); fault.KindOf(err) != fault.RateLimited || !strings.Contains(err.Error(), "20 classification runs") {
			w.Errorf("one more run: %v", err)
		}
		_, err := w.Cancel(w.Ctx, last.ID)
		w.Must(err)
		_, err = w.Create(w.Ctx, p)
		w.Must(err)
	})
}

// What is added after a run was prepared is not part of it, even if it is there when the run is created.
func TestARunIsOverTheTransactionsThatWereCounted(t *testing.T) {
	each(t, func(w *world) {
		w.addTransactions("Bank 2025-10-01 -1 USD text=a")
		prepared, err := w.Prepare(w.Ctx, classification.CreateParams{Filter: &transaction.Filter{}, Action: classification.Suggest,
			Expected: new(int64(1))})
		w.Must(err)
		w.addTransactions("Bank 2025-10-02 -1 USD text=b")
		r, err := w.CreatePrepared(w.Ctx, prepared)
		w.Must(err)
		done, err := w.Service.Run(w.T.Context(), w.OrganizationID, r.ID, nil)
		w.Must(err)
		if r.Total != 1 || done.Total != 1 || done.Done() != 1 {
			w.Errorf("%d were counted, %d processed", r.Total, done.Done())
		}
	})
}

package classification_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestARuleIsTestedOnHistory(t *testing.T) {
	each(t, func(w *world) {
		cloud := w.rule("cloud", "memo=cloud to=Rent")
		narrow := w.rule("narrow", "memo=aws_cloud_x direction=WITHDRAWAL to=Travel")
		ids := w.addTransactions(
			"Bank 2025-10-01 -1 USD text=AWS_cloud",       // posted as the rule says
			"Bank 2025-10-02 -2 USD text=AWS_cloud",       // posted otherwise
			"Bank 2025-10-03 -3 USD text=aws__cloud",      // decided by another rule so far
			"Bank 2025-10-04 -4 USD payee=AWS",            // decided by nothing so far
			"Bank 2025-10-05 -5 USD text=AWS_Cloud_X",     // decided by a narrower rule
			"Bank 2025-10-06 -6 USD text=nothing",         //
			"Bank 2025-12-01 -7 USD text=aws",             // after the days
			"Bank 2025-10-07 -8 USD text=aws_but_it_is_x", // spam
		)
		w.book(ids[0], "EXPENSE", "Software")
		w.book(ids[1], "EXPENSE", "Travel")
		_, err := w.Transactions.Update(w.Ctx, ids[7], transaction.UpdateParams{Status: new(transaction.Spam)})
		w.Must(err)
		p := w.ruleParams("memo=aws direction=WITHDRAWAL to=Software")
		got, err := w.Test(w.Ctx, classification.TestParams{Rule: &p, StartDate: "2025-10-01", EndDate: "2025-10-31"})
		w.Must(err)
		if got.Matched != 5 || got.Decided != 4 || got.Agreeing != 1 || got.Differing != 1 || got.Pending != 2 || got.Changed != 2 ||
			got.Truncated || got.Examined < 5 {
			w.Errorf("%+v", got)
		}
		var changes []string
		for _, c := range got.Changes {
			changes = append(changes, fmt.Sprintf("%s %s: %s %s by %s becomes %s %s", transaction.SequenceNumber(c.Number), c.Status,
				c.Before.Type, w.names[c.Before.LedgerAccountID], w.names[c.Before.RuleID], c.After.Type, w.names[c.After.LedgerAccountID]))
		}
		w.says("changes", changes, "OT-2 posted: EXPENSE Travel by  becomes EXPENSE Software",
			"OT-3 pending: EXPENSE Rent by cloud becomes EXPENSE Software", "OT-4 pending:   by  becomes EXPENSE Software")
		var conflicts []string
		for _, c := range got.Conflicts {
			conflicts = append(conflicts, fmt.Sprintf("%s.%d matches %d, loses %d, wins %d, differs %t", w.names[c.RuleID], c.Version,
				c.Matched, c.Wins, c.Loses, c.Differs))
		}
		w.says("conflicts", conflicts, "cloud.1 matches 4, loses 4, wins 0, differs true", "narrow.1 matches 1, loses 0, wins 1, differs true")

		saved, err := w.Test(w.Ctx, classification.TestParams{RuleID: cloud})
		w.Must(err)
		if saved.Matched != 4 || saved.Decided != 3 || len(saved.Conflicts) != 1 || saved.Conflicts[0].RuleID != narrow {
			w.Errorf("a saved rule: %+v", saved)
		}
		instead := w.ruleParams("memo=aws_cloud to=Software")
		edited, err := w.Test(w.Ctx, classification.TestParams{RuleID: cloud, Rule: &instead})
		w.Must(err)
		if edited.Matched != 4 || len(edited.Conflicts) != 1 || edited.Changed != 1 || edited.Changes[1].After.RuleID != cloud {
			w.Errorf("a saved rule as it would be: %+v", edited)
		}
		for name, c := range map[string]struct {
			p    classification.TestParams
			kind fault.Kind
		}{
			"nothing":            {classification.TestParams{}, fault.Invalid},
			"an unknown rule":    {classification.TestParams{RuleID: "rul_none"}, fault.NotFound},
			"a faulty rule":      {classification.TestParams{Rule: &memory.RuleParams{Type: memory.Classification}}, fault.Invalid},
			"days the wrong way": {classification.TestParams{RuleID: cloud, StartDate: "2025-11-01", EndDate: "2025-10-01"}, fault.Invalid},
		} {
			if _, err := w.Test(w.Ctx, c.p); fault.KindOf(err) != c.kind {
				w.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestATestOfARuleEndsWithItsCaller(t *testing.T) {
	each(t, func(w *world) {
		w.addTransactions("Bank 2025-10-01 -1 USD text=AWS")
		p := w.ruleParams("memo=aws to=Software")
		ctx, cancel := context.WithCancel(w.Ctx)
		cancel()
		if _, err := w.Test(ctx, classification.TestParams{Rule: &p}); !errors.Is(err, context.Canceled) {
			w.Errorf("the test of a caller who has left returned %v", err)
		}
		for range 10 { // turns that were not taken are free
			_, err := w.Test(w.Ctx, classification.TestParams{Rule: &p})
			w.Must(err)
		}
	})
}

func TestATestOfARuleReadsManyTransactionsInBatches(t *testing.T) {
	each(t, func(w *world) {
		var lines []string
		for i := range 5203 {
			lines = append(lines, fmt.Sprintf("Bank 2025-10-%02d -1 USD text=AWS_%d", 1+i%28, i))
		}
		w.addTransactions(lines...)
		p := w.ruleParams("memo=aws to=Software")
		got, err := w.Test(w.Ctx, classification.TestParams{Rule: &p})
		w.Must(err)
		if got.Examined != 5203 || got.Matched != 5203 || got.Truncated || len(got.Changes) != 100 {
			w.Errorf("%d examined, %d matched, %d changes", got.Examined, got.Matched, len(got.Changes))
		}
	})
}

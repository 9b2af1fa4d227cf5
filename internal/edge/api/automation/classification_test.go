package automation_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// payments adds a bank payment for each text, one per day.
func payments(t *testing.T, n *apitest.Tenant, source string, texts ...string) (out []client.Transaction) {
	t.Helper()
	amount := "40.00"
	for i, text := range texts {
		made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: source,
			ExternalID: client.NewIdempotencyKey(), External: client.CreateTransactionExternal{
				Timestamp: time.Date(2026, 2, 1+i, 12, 0, 0, 0, time.UTC), Description: text, Direction: "debit", Quantity: &amount, Currency: "USD",
			}})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, made.Data...)
	}
	return out
}

// classified creates a run and runs it, as the service does in the background.
func classified(t *testing.T, n *apitest.Tenant, r client.CreateClassificationRun) client.ClassificationRun {
	t.Helper()
	made, err := n.Client.CreateClassificationRun(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if made.Status != "pending" || made.Progress.Percent != 0 {
		t.Errorf("%+v", made)
	}
	if _, err := n.Service().App.Classification.Run(t.Context(), n.Organization.ID, made.ID, nil); err != nil {
		t.Fatal(err)
	}
	done, err := n.Client.ClassificationRun(t.Context(), made.ID)
	if err != nil || done.Status != "completed" || done.Progress.Percent != 100 {
		t.Fatalf("%+v %v", done, err)
	}
	return done
}

func TestAMonthIsClassifiedInOneCallAndEveryDecisionIsExplained(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		cloud, fees := n.NewExpenseAccount(t, "Cloud"), n.NewExpenseAccount(t, "Fees")
		rule := func(text, account string) client.MemoryRule {
			r, err := n.Client.PutMemoryRule(t.Context(), "", client.PutMemoryRule{RuleType: "classification", MemoContains: &text,
				LedgerAccountID: &account, PayeeName: new("Hetzner Online"), Rationale: new("contract")})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		broad, narrow := rule("hetz", fees.ID), rule("hetzner", cloud.ID)
		bank := n.NewSource(t, client.CreateSource{}).ID
		all := payments(t, n, bank, "HETZNER 4711", "hetz fee", "somebody", "")
		filter := map[string]any{"source_id": bank, "end_date": "2026-02-03"}
		dry := classified(t, n, client.CreateClassificationRun{Filter: filter, Action: "post", DryRun: true, ExpectedCount: new(int64(3))})
		if dry.Counts["classified"] != 2 || dry.Counts["unmatched"] != 1 || dry.Filter["end_date"] != "2026-02-03" || !dry.DryRun ||
			dry.CreatedBy == nil || dry.FinishedAt == nil {
			t.Errorf("%+v", dry)
		}
		if got, err := n.Client.Transaction(t.Context(), all[0].ID); err != nil || got.Suggested != nil || got.Vendor != nil {
			t.Errorf("a dry run left %+v %v", got, err)
		}
		hinted := classified(t, n, client.CreateClassificationRun{TransactionIDs: []string{all[0].ID}, Action: "suggest"})
		got, err := n.Client.Transaction(t.Context(), all[0].ID)
		if x := got.Suggested; err != nil || x == nil || *x.LedgerAccountID != cloud.ID || *x.TransactionType != "EXPENSE" ||
			x.Confidence != "1" || *x.RuleID != narrow.RuleID || *x.RuleVersion != "1" ||
			x.ClassificationRunID != hinted.ID || len(x.Reasons) != 1 || !strings.Contains(x.Reasons[0], "hetzner") {
			t.Errorf("%+v %v", x, err)
		}
		run := classified(t, n, client.CreateClassificationRun{Filter: filter, Action: "post"})
		var results []client.ClassificationResult
		for r, err := range n.Client.ClassificationResults(t.Context(), run.ID, url.Values{"limit": {"2"}}) {
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		if len(results) != 3 || results[0].Outcome != "posted" || *results[0].RuleID != narrow.RuleID || *results[0].Specificity != 8 ||
			results[0].OtherRulesCount != 1 || results[0].OtherRules[0].RuleID != broad.RuleID ||
			results[1].Outcome != "posted" || *results[1].RuleID != broad.RuleID || results[2].Outcome != "unmatched" ||
			results[2].RuleID != nil || results[2].Confidence != nil {
			t.Fatalf("%+v", results)
		}
		for r, err := range n.Client.ClassificationResults(t.Context(), run.ID, url.Values{"rule_id": {broad.RuleID}, "outcome": {"posted"}}) {
			if err != nil || r.TransactionID != all[1].ID {
				t.Errorf("%+v %v", r, err)
			}
		}
		got, err = n.Client.Transaction(t.Context(), all[0].ID)
		if err != nil || got.Suggested != nil || *got.Vendor != "Hetzner Online" || got.Internal.Status != "posted" ||
			*got.Internal.JournalEntryID != *results[0].JournalEntryID {
			t.Errorf("%+v %v", got, err)
		}
		var classifiedIDs []string
		for e, err := range n.Client.AuditLog(t.Context(), url.Values{"action": {"transaction.classified"}}) {
			if err != nil {
				t.Fatal(err)
			}
			classifiedIDs = append(classifiedIDs, e.ResourceID)
		}
		if slices.Sort(classifiedIDs); !slices.Equal(classifiedIDs, []string{all[0].ID, all[1].ID}) {
			t.Errorf("%v were classified", classifiedIDs)
		}
	})
}

func TestARuleIsTriedBeforeItIsTrusted(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		cloud := n.NewExpenseAccount(t, "Cloud")
		all := payments(t, n, n.NewSource(t, client.CreateSource{}).ID, "hetzner 1", "hetzner 2", "else")
		if _, err := n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: all[0].ID, TransactionType: "EXPENSE",
			LedgerAccountID: cloud.ID, AutoPost: true}); err != nil {
			t.Fatal(err)
		}
		rule := client.PutMemoryRule{RuleType: "classification", MemoContains: new("hetzner"), LedgerAccountID: &cloud.ID}
		got, err := n.Client.TestMemoryRule(t.Context(), client.TestMemoryRule{Rule: &rule, StartDate: "2026-02-01", EndDate: "2026-02-28"})
		if err != nil || got.Matched != 2 || got.Decided != 2 || got.PostedAgreeing != 1 || got.Pending != 1 || got.Changed != 1 ||
			len(got.Changes) != 1 || got.Changes[0].TransactionID != all[1].ID ||
			*got.Changes[0].After.LedgerAccountID != cloud.ID || got.Changes[0].Before.LedgerAccountID != nil ||
			got.Changes[0].After.RuleID != nil || len(got.Conflicts) != 0 {
			t.Errorf("%+v %v", got, err)
		}
		reader := client.New(s.URL, n.Member(t, actor.Viewer, actor.ScopeRead))
		if _, err := reader.TestMemoryRule(t.Context(), client.TestMemoryRule{Rule: &rule}); err != nil {
			t.Errorf("who reads may not try: %v", err)
		}
		faulty := client.PutMemoryRule{RuleType: "classification", LedgerAccountID: new("lac_none"), Direction: new("DEPOSIT")}
		_, err = n.Client.TestMemoryRule(t.Context(), client.TestMemoryRule{Rule: &faulty})
		var e *client.Error
		if !errors.As(err, &e) || e.Status != 400 || !strings.Contains(fmt.Sprint(e.Fields), "rule.memo_contains") {
			t.Errorf("%v", err)
		}
	})
}

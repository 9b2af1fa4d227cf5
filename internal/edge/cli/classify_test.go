package cli_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// A run that posts is killed repeatedly, and must end with the result of a dry run.
func TestSoakAClassificationRunThatIsKilledEndsAsIfItWasNot(t *testing.T) {
	t.Parallel()
	count, kills := dbtest.Repeats(2_000, 20_000), dbtest.Repeats(2, 8)
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		b := withSource(t, c)
		p := serve(t, c)
		service := once(p.ready(t), b.APIKey)
		bringPayments(t, service, b.source, count)
		want := decisions(t, service, finished(t, service, classifyAll(t, service, true)).ID)
		run := classifyAll(t, service, false)
		for left, done := kills, int64(0); left > 0; left-- {
			eventually(t, "some more of the run", func(ctx context.Context) error {
				now, err := service.ClassificationRun(ctx, run.ID)
				if err == nil && now.Progress.Done <= done && now.FinishedAt == nil {
					err = fmt.Errorf("%d of %d", now.Progress.Done, now.Progress.Total)
				}
				done = now.Progress.Done
				return err
			})
			p.kill()
			service.HTTP.CloseIdleConnections()
			b.verify(t)
			p = serve(t, c)
			service = once(p.ready(t), b.APIKey)
		}
		finished(t, service, run)
		got := decisions(t, service, run.ID)
		for i, line := range want {
			want[i] = strings.Replace(line, "classified", "posted", 1)
		}
		if !slices.Equal(got, want) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("%d results of %d; the first that differs: %s, want %s", len(got), len(want), got[i], want[i])
				}
			}
			t.Fatalf("%d results of %d", len(got), len(want))
		}
		b.verify(t)
	})
}

// bringPayments adds payments to ten suppliers, of which five have rules.
func bringPayments(t *testing.T, service *client.Client, source string, count int) {
	t.Helper()
	accounts := map[string]string{}
	for a, err := range service.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		accounts[a.Name] = a.ID
	}
	for i := range 5 {
		text := fmt.Sprintf("supplier %d", i)
		rule := client.PutMemoryRule{RuleType: "classification", MemoContains: &text, LedgerAccountID: new(accounts["Contractors"])}
		if _, err := service.PutMemoryRule(t.Context(), "", rule); err != nil {
			t.Fatal(err)
		}
	}
	for from := 0; from < count; from += 1000 {
		all := make([]client.CreateTransaction, 1000)
		for i := range all {
			amount := "12.50"
			all[i] = client.CreateTransaction{SourceID: source, ExternalID: fmt.Sprint("p", from+i), External: client.CreateTransactionExternal{
				Timestamp: time.Date(2026, 1, 1, 0, (from+i)*7919%count, 0, 0, time.UTC), Description: fmt.Sprintf("To Supplier %d",
					i%10), Direction: "debit", Quantity: &amount, Currency: "USD",
			}}
		}
		if _, err := service.CreateTransactions(t.Context(), all...); err != nil {
			t.Fatal(err)
		}
	}
}

func classifyAll(t *testing.T, service *client.Client, dry bool) client.ClassificationRun {
	t.Helper()
	r, err := service.CreateClassificationRun(t.Context(), client.CreateClassificationRun{Filter: map[string]any{}, Action: "post",
		DryRun: dry})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// finished waits for the end of a run, for as long as it makes progress: how long a large one takes depends on what else the machine does.
func finished(t *testing.T, service *client.Client, r client.ClassificationRun) client.ClassificationRun {
	t.Helper()
	for r.Status != "completed" {
		done := r.Progress.Done
		eventually(t, "the end of the run", func(ctx context.Context) error {
			now, err := service.ClassificationRun(ctx, r.ID)
			switch {
			case err != nil:
				return err
			case now.Status != "completed" && now.Progress.Done <= done:
				return fmt.Errorf("it is %s with %+v", now.Status, now.Progress)
			}
			r = now
			return nil
		})
	}
	return r
}

// decisions returns the results of a run as lines.
func decisions(t *testing.T, service *client.Client, runID string) (out []string) {
	t.Helper()
	for r, err := range service.ClassificationResults(t.Context(), runID, url.Values{"limit": {"100"}}) {
		if err != nil {
			t.Fatal(err)
		}
		rule := ""
		if r.RuleID != nil {
			rule = *r.RuleID + "." + *r.RuleVersion
		}
		out = append(out, strings.Join([]string{r.SequenceNumber, r.Outcome, rule}, " "))
	}
	return out
}

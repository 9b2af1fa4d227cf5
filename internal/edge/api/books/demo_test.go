package books_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// controller closes the months of the demo company by doing what the readiness checks say.
type controller struct {
	*testing.T
	s *apitest.Service
	c *client.Client
}

// The demo company is measured at fair value, and its stablecoins, which are out of scope, are tested for impairment. Its prices end
// with the day before it was created.
func TestSoakTheOpenMonthsOfTheDemoCompanyCloseByWhatTheirChecksSay(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, config db.Config) {
		now := clock.NewManual(time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC))
		config.Clock = now
		s := apitest.Start(t, dbtest.Open(t, config), api.Config{})
		f, err := demo.Found(t.Context(), s.App, func(string, ...any) {})
		if err != nil {
			t.Fatal(err)
		}
		w := &controller{t, s, client.New(s.URL, f.KeyText.Reveal())}
		current := w.month("2026-11")
		w.finds(current, "period_not_over", "is not over")
		now.Advance(20 * 24 * time.Hour)
		w.finds(current, "missing_price", "no price in USD at the end of the period: ")
		for _, dry := range []bool{true, false} {
			_, err := w.c.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: current.ID, DryRun: dry})
			apitest.WantConflict(t, err, "are missing")
		}
		_, err = w.c.CloseAccountingPeriod(t.Context(), current.ID, "")
		apitest.WantConflict(t, err, "no price in USD at the end of the period")
		for _, key := range []string{"2026-09", "2026-10", "2026-11"} {
			if p := w.month(key); p.Status != "closed" {
				w.close(p)
			}
		}
		// Reopened months are measured again after late transactions, of a month that is closed and of one that is open.
		for _, key := range []string{"2026-11", "2026-10"} {
			reason := client.ReopenAccountingPeriod{Reason: "A late report"}
			if _, err := w.c.ReopenAccountingPeriod(t.Context(), w.month(key).ID, reason); err != nil {
				t.Fatal(err)
			}
		}
		for _, late := range []string{"2026-09-10 credit 0.75 ETH 2000 DEPOSIT 3010", "2026-09-11 debit 0.5 ETH 1400 EXPENSE 6020",
			"2026-10-12 debit 0.2 ETH 600 EXPENSE 6020"} {
			w.arrives(late)
		}
		for _, key := range []string{"2026-10", "2026-11"} {
			if _, err := w.c.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: w.month(key).ID}); err != nil {
				t.Fatal(err)
			}
			apitest.Verify(t, s.App)
			w.close(w.month(key))
		}
	})
}

// arrives books a transaction of the wallet Treasury: "2026-09-10 credit 0.75 ETH 2000 DEPOSIT 3010".
func (w *controller) arrives(notation string) {
	w.Helper()
	f := strings.Fields(notation)
	at, err := time.Parse(time.DateOnly, f[0])
	if err != nil {
		w.Fatal(err)
	}
	x := client.CreateTransaction{ExternalID: notation, External: client.CreateTransactionExternal{Timestamp: at, Description: "Late",
		Direction: f[1], Quantity: &f[2], Currency: f[3], ValueFiat: &client.ValuedFiat{Gross: f[4], Fee: "0", Net: f[4], Currency: "USD"}}}
	for source, err := range w.c.Sources(w.Context(), nil) {
		if err != nil {
			w.Fatal(err)
		}
		if source.Name == "Treasury" {
			x.SourceID = source.ID
		}
	}
	made, err := w.c.CreateTransactions(w.Context(), x)
	if err != nil {
		w.Fatal(err)
	}
	for account, err := range w.c.LedgerAccounts(w.Context(), url.Values{"search": {f[6]}}) {
		if err != nil {
			w.Fatal(err)
		}
		if account.Code == nil || *account.Code != f[6] {
			continue
		}
		err := w.c.Do(w.Context(), client.Call{Method: "POST", Path: "/v1/journal-entries", Body: map[string]any{
			"transaction_id": made.Data[0].ID, "transaction_type": f[5], "ledger_account_id": account.ID, "auto_post": true}}, nil)
		if err != nil {
			w.Fatal(err)
		}
	}
}

func (w *controller) month(key string) (out client.AccountingPeriod) {
	w.Helper()
	for p, err := range w.c.AccountingPeriods(w.Context(), url.Values{"limit": {"100"}}) {
		if err != nil {
			w.Fatal(err)
		}
		if p.Key == key {
			out = p
		}
	}
	return out
}

// failing returns the checks of a month that fail.
func (w *controller) failing(p client.AccountingPeriod) []client.ReadinessCheck {
	w.Helper()
	r, err := w.c.AccountingPeriodReadiness(w.Context(), p.ID, "")
	if err != nil {
		w.Fatal(err)
	}
	return slices.DeleteFunc(r.Checks, func(c client.ReadinessCheck) bool { return c.Status != "fail" })
}

// finds fails unless a check of a month fails with a message.
func (w *controller) finds(p client.AccountingPeriod, code, says string) {
	w.Helper()
	failing := w.failing(p)
	if !slices.ContainsFunc(failing, func(c client.ReadinessCheck) bool { return c.Code == code && strings.Contains(c.Message, says) }) {
		w.Errorf("%s: no check %s says %q: %s", p.Key, code, says, apitest.JSON(w.T, failing))
	}
}

// close closes a month, after as many rounds as its checks need.
func (w *controller) close(p client.AccountingPeriod) {
	w.Helper()
	const roundsMax = 100 // a check names five drafts at a time
	for range roundsMax {
		failing := w.failing(p)
		unposted := slices.ContainsFunc(failing, func(c client.ReadinessCheck) bool { return c.Code == "unposted_transactions" })
		if len(failing) == 0 || unposted && !slices.ContainsFunc(failing, func(c client.ReadinessCheck) bool {
			return c.Code != "unposted_transactions"
		}) {
			reason := "" // the message of the check offers to give one
			if unposted {
				reason = "They are in review"
			}
			if _, err := w.c.CloseAccountingPeriodDespite(w.Context(), p.ID, "", reason); err != nil {
				w.Errorf("%s: %v", p.Key, err)
			}
			return
		}
		for _, c := range failing {
			w.follow(p, c)
		}
		if w.Failed() {
			return
		}
	}
	w.Errorf("%s: after %d rounds, these still fail: %s", p.Key, roundsMax, apitest.JSON(w.T, w.failing(p)))
}

var missingRate = regexp.MustCompile(`([A-Z]{3})/([A-Z]{3}) has no rate of ([0-9-]{10})`)

// follow does what the message of a check says.
func (w *controller) follow(p client.AccountingPeriod, c client.ReadinessCheck) {
	w.Helper()
	switch c.Code {
	case "unposted_transactions": // when everything else is done
	case "drafts": // "post or delete them"
		for e, err := range w.c.JournalEntries(w.Context(), url.Values{"status": {"draft"}, "accounting_period_id": {p.ID}}) {
			if err != nil {
				w.Fatal(err)
			}
			if _, err := w.c.PostJournalEntry(w.Context(), e.ID); err != nil {
				w.Errorf("%s: %v", c.Message, err)
			}
		}
	case "missing_price": // "no price in USD at the end of the period: ARB, BTC. Add the prices"
		head, rest, _ := strings.Cut(c.Message, " at the end of the period: ")
		names, _, _ := strings.Cut(rest, ". Add the prices")
		names, _, _ = strings.Cut(names, " and ")
		for name := range strings.SplitSeq(names, ", ") {
			_, err := w.c.CreatePrice(w.Context(), client.CreatePrice{AssetType: name, Currency: strings.TrimPrefix(head, "no price in "),
				Timestamp: p.EndDateUTC.Add(-time.Hour).Format(time.RFC3339), Price: "1.01"})
			if err != nil {
				w.Errorf("%s: %v", c.Message, err)
			}
		}
	case "revaluation":
		if pairs := missingRate.FindAllStringSubmatch(c.Message, -1); len(pairs) > 0 {
			for _, pair := range pairs {
				if _, err := w.c.StoreFXRates(w.Context(), apitest.Rates(strings.Join(pair[1:], " ")+" 1.1")); err != nil {
					w.Errorf("%s: %v", c.Message, err)
				}
			}
		} else if !strings.Contains(c.Message, "has no price") {
			if _, err := w.c.CreateRevaluation(w.Context(), client.CreateRevaluation{AccountingPeriodID: p.ID,
				LegalEntityIDs: []string{*c.LegalEntityID}}); err != nil {
				w.Errorf("%s: %v", c.Message, err)
			}
		}
	default:
		w.Errorf("%s: %s: %s", p.Key, c.Code, c.Message)
	}
}

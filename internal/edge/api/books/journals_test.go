package books_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// ledger adds to the notation what only tests of the books need.
type ledger struct{ *apitest.Ledger }

func openLedger(t *testing.T, n *apitest.Tenant) *ledger {
	t.Helper()
	return &ledger{n.OpenLedger(t)}
}

// written formats an entry in the notation. Dollars and the first legal entity are left out.
func written(l *ledger, e client.JournalEntry) string {
	names := map[string]string{}
	for name, id := range l.Accounts {
		names[id] = name
	}
	for name, id := range l.Names {
		names[id] = name
	}
	var parts []string
	for _, line := range e.Lines {
		text := fmt.Sprint(map[string]string{"DEBIT": "Dr", "CREDIT": "Cr"}[line.CreditOrDebit], " ", names[line.LedgerAccountID], " ",
			line.Amount)
		if line.Currency != "USD" {
			text += " " + line.Currency
		}
		if line.LegalEntityID != l.LegalEntity.ID {
			text += " " + names[line.LegalEntityID]
		}
		for _, tag := range line.TagIDs {
			text += " " + names[tag]
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// booked returns the amounts of an entry's lines in the base currency.
func booked(e client.JournalEntry) string {
	var out []string
	for _, l := range e.Lines {
		if l.BaseAmount == nil {
			out = append(out, "-")
			continue
		}
		out = append(out, *l.BaseAmount)
	}
	return strings.Join(out, " ")
}

// tree returns an entry as decoded JSON, which a test can change.
func tree(e client.CreateJournalEntry) (body map[string]any) {
	text, _ := json.Marshal(e)
	if err := json.Unmarshal(text, &body); err != nil {
		panic(err)
	}
	return body
}

var stepRe = regexp.MustCompile(`[a-z_]+|\[\d+\]`)

// stepsOf parses a place as faults name it, such as lines[0].amount.
func stepsOf(place string) (out []any) {
	for _, step := range stepRe.FindAllString(place, -1) {
		if n, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil {
			out = append(out, n)
			continue
		}
		out = append(out, step)
	}
	return out
}

// eachAt runs a test with a service on each engine, with a clock that only the test advances.
func eachAt(t *testing.T, at string, test func(t *testing.T, s *apitest.Service, now *clock.Manual)) {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(moment)
		c.Clock = now
		test(t, apitest.Start(t, dbtest.Open(t, c), api.Config{}), now)
	})
}

func TestTheLifecycleOfAnEntryFollowsTheRules(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		d := l.Draft(t, "2026-01-05", apitest.Sale)
		if d.Status != "draft" || d.SequenceNumber != "JE-1" || d.PostedAt != nil || written(l, d) != apitest.Sale ||
			d.LegalEntityID != l.LegalEntity.ID {
			t.Errorf("%+v", d)
		}
		p, err := l.Client.PostJournalEntry(t.Context(), d.ID)
		if err != nil || p.Status != "posted" || p.PostedAt == nil || p.AccountingPeriodID == nil || p.PeriodAutoReassigned {
			t.Errorf("%+v %v", p, err)
		}
		r, err := l.Client.ReverseJournalEntry(t.Context(), p.ID, client.ReverseJournalEntry{})
		if err != nil || written(l, r) != "Cr 1010 100.00; Dr 4010 100.00" || *r.ReversalChain.PreviousEntryID != p.ID ||
			r.SequenceNumber != "JE-2" {
			t.Errorf("%+v %v", r, err)
		}
		p = l.Find(t, p.ID)
		if p.ReversalChain.NextEntryID == nil || *p.ReversalChain.NextEntryID != r.ID {
			t.Errorf("%+v", p)
		}
	})
}

func TestAManualEntryHasDefaultsForOmittedFields(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		first := l.Create(t, client.CreateJournalEntry{AccountingDate: "2026-01-05", Lines: l.Lines(apitest.Sale)})
		if first.Status != "draft" || first.Lines[0].Currency != "USD" || first.Lines[1].LegalEntityID != l.LegalEntity.ID ||
			!first.LegalEntityAutoAssigned || first.Memo != nil ||
			first.OriginatedBy != "manual" || first.Classification != "UNKNOWN" || first.TransactionID != nil || len(first.TagIDs) != 0 ||
			first.TagIDs == nil || first.Lines[0].TagIDs == nil ||
			first.OrganizationID != l.Organization.ID || first.ReversalChain.PreviousEntryID != nil ||
			first.ReversalChain.NextEntryID != nil || booked(first) != "- -" || first.AccountingPeriodID != nil {
			t.Errorf("%+v", first)
		}
		if again := l.Find(t, first.ID); fmt.Sprint(again) == "" || written(l, again) != apitest.Sale || again.UpdatedAt != first.UpdatedAt {
			t.Errorf("%+v", again)
		}
		l.AddEntity(t, "DE", "EUR")
		_, err := l.Client.CreateJournalEntry(t.Context(), l.Entry("2026-01-05", "", apitest.Sale))
		apitest.WantError(t, "several legal entities and none named", err, 400, []string{"legal_entity_id"}, "several")
		named := l.Entry("2026-01-05", "", apitest.Sale)
		named.LegalEntityID = l.Names["DE"]
		if e := l.Create(t, named); e.LegalEntityAutoAssigned || written(l, e) != "Dr 1010 100.00 EUR DE; Cr 4010 100.00 EUR DE" {
			t.Errorf("%+v", e)
		}
		follows := l.Create(t, l.Entry("2026-01-05", "", "Dr 1010 5 DE; Cr 4010 5 DE"))
		if !follows.LegalEntityAutoAssigned || follows.LegalEntityID != l.Names["DE"] || follows.Lines[0].Amount != "5.00" {
			t.Errorf("%+v", follows)
		}
		_, err = l.Client.CreateJournalEntry(t.Context(), l.Entry("2026-01-05", "", "Dr 1010 5 DE; Cr 4010 5 DE; Dr 1010 5 US; Cr 4010 5 US"))
		apitest.WantError(t, "lines that name several", err, 400, []string{"legal_entity_id"}, "several")
		for currency, shown := range map[string]string{"USD": "1200.50", "JPY": "1200.5", "ETH": "1200.5", "BHD": "1200.500"} {
			e := l.Entry("2026-01-05", "draft", "Dr 1010 01200.50 "+currency+"; Cr 4010 1200.5000 "+currency)
			e.LegalEntityID = l.Names["US"]
			if made := l.Create(t, e); made.Lines[0].Amount != shown || made.Lines[1].Amount != shown {
				t.Errorf("%s is shown as %s, want %s", currency, made.Lines[0].Amount, shown)
			}
		}
	})
}

func TestAnEntryBalancesPerLegalEntityAndCurrency(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.AddEntity(t, "DE", "EUR")
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2026-01-05 1.0857", "USD EUR 2026-01-05 0.9")); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ lines, base string }{
			{"Dr 1340 1500 US; Cr 1210 1500 US; Dr 1210 1500 DE; Cr 2010 1500 DE", "1500.00 1500.00 1500.00 1500.00"},
			{"Dr 1010 10.00 EUR US; Cr 4010 3.33 EUR US; Cr 4020 3.33 EUR US; Cr 4030 3.34 EUR US; Dr 1020 7 US; Cr 4010 7 US",
				"10.86 3.62 3.61 3.63 7.00 7.00"},
			{"Dr 1010 1 USD DE; Cr 4010 1 USD DE; Dr 1010 0.01 EUR DE; Cr 4010 0.01 EUR DE", "0.90 0.90 0.01 0.01"},
		} {
			e := l.Entry("2026-01-05", "posted", c.lines)
			e.LegalEntityID = l.Names["US"]
			if made := l.Create(t, e); booked(made) != c.base {
				t.Errorf("%s is booked as %s, want %s", c.lines, booked(made), c.base)
			}
		}
		for lines, says := range map[string]string{
			"Dr 1010 100 US; Cr 4010 100 DE": "in EUR of DE, debits are 0.00 and credits 100.00, a " +
				"difference of 100.00",
			"Dr 1010 100 US; Cr 4010 100 EUR US": "in EUR of mine, debits are 0.00 and credits 100.00, " +
				"a difference of 100.00",
			"Dr 1010 100 US; Cr 4010 99.999999999999999999999999999999 US": "a difference of 0.000000000000000000000000000001",
			"Dr 1010 1 US; Cr 4010 1 US; Dr 1010 2 DE; Cr 4010 2 DE; Cr 4010 1 DE": "in EUR of DE, debits are 2.00 and credits 3.00, a " +
				"difference of 1.00",
		} {
			e := l.Entry("2026-01-05", "posted", lines)
			e.LegalEntityID = l.Names["US"]
			_, err := l.Client.CreateJournalEntry(t.Context(), e)
			apitest.WantError(t, lines, err, 400, []string{"lines"}, says)
		}
	})
}

// balance returns the sum of the posted lines of an account, debits less credits, in each legal entity's currency.
func (l *ledger) balance(t *testing.T, code string) string {
	t.Helper()
	sum := new(big.Rat)
	for line, err := range l.Client.LedgerAccountLines(t.Context(), l.Accounts[code], nil) {
		if err != nil {
			t.Fatal(err)
		}
		amount, ok := new(big.Rat).SetString(*line.BaseAmount)
		if !ok {
			t.Fatalf("%q is no amount", *line.BaseAmount)
		}
		if line.CreditOrDebit == "CREDIT" {
			amount.Neg(amount)
		}
		sum.Add(sum, amount)
	}
	return strings.TrimSuffix(strings.TrimRight(sum.FloatString(30), "0"), ".")
}

// countRows counts the rows of a table over all organizations.
func countRows(t *testing.T, s *apitest.Service, table string) (n int64) {
	t.Helper()
	err := s.App.DB.ReadAcross(t.Context(), "a test counts", func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.One[int64](ctx, tx, "count", "SELECT count(*) FROM "+table)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// month returns the key of the period of an entry.
func (l *ledger) month(t *testing.T, e client.JournalEntry) (key string) {
	t.Helper()
	if e.AccountingPeriodID == nil {
		return "none"
	}
	err := l.Service().App.DB.Read(t.Context(), l.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = db.One[string](ctx, tx, "period",
			"SELECT key FROM accounting_periods WHERE organization_id = @org AND accounting_period_id = ?", *e.AccountingPeriodID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

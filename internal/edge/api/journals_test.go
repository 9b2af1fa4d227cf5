package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
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

// ledger creates entries from an accountant's notation: "Dr 1010 100.00; Cr 4010 100.00 EUR DE #rent". Accounts are codes
// of the default chart; legal entities and tags are referred to by name.
type ledger struct {
	*apitest.Tenant
	accounts map[string]string
	names    map[string]string // ids of legal entities and, with #, of tags
}

func openLedger(t *testing.T, n *apitest.Tenant) *ledger {
	t.Helper()
	l := &ledger{n, map[string]string{}, map[string]string{"US": n.LegalEntity.ID}}
	for a, err := range n.Client.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Code != nil {
			l.accounts[*a.Code] = a.ID
		}
	}
	return l
}

// entity creates a legal entity with a name for the notation.
func (l *ledger) entity(t *testing.T, name, currency string) {
	t.Helper()
	l.names[name] = newEntity(t, l.Tenant, client.CreateLegalEntity{Name: name, BaseCurrency: currency}).ID
}

// tag creates a tag with a name for the notation.
func (l *ledger) tag(t *testing.T, name string) string {
	t.Helper()
	l.names[name] = newTag(t, l.Tenant).ID
	return l.names[name]
}

// account creates an asset account with a code.
func (l *ledger) account(t *testing.T, code string) string {
	t.Helper()
	l.accounts[code] = newAccount(t, l.Tenant, client.CreateLedgerAccount{Name: "Account " + code, Code: code}).ID
	return l.accounts[code]
}

var currencyName = regexp.MustCompile(`^[A-Z]{3,}$`)

func (l *ledger) lines(text string) (out []client.CreateJournalLine) {
	for part := range strings.SplitSeq(text, ";") {
		f := strings.Fields(part)
		line := client.CreateJournalLine{LedgerAccountID: f[1], CreditOrDebit: map[string]string{"Dr": "DEBIT", "Cr": "CREDIT"}[f[0]],
			Amount: f[2]}
		if id, ok := l.accounts[f[1]]; ok {
			line.LedgerAccountID = id
		}
		for _, extra := range f[3:] {
			id, named := l.names[extra]
			switch {
			case named && strings.HasPrefix(extra, "#"):
				line.TagIDs = append(line.TagIDs, id)
			case named:
				line.LegalEntityID = id
			case strings.HasPrefix(extra, "tag_"):
				line.TagIDs = append(line.TagIDs, extra)
			case strings.HasPrefix(extra, "le_"):
				line.LegalEntityID = extra
			case currencyName.MatchString(extra):
				line.Currency = extra
			default:
				panic(extra + " is no name of a legal entity, a tag or a currency")
			}
		}
		out = append(out, line)
	}
	return out
}

func (l *ledger) entry(date, status, text string) client.CreateJournalEntry {
	return client.CreateJournalEntry{AccountingDate: date, Status: status, Memo: "test", Lines: l.lines(text)}
}

func (l *ledger) make(t *testing.T, e client.CreateJournalEntry) client.JournalEntry {
	t.Helper()
	made, err := l.Client.CreateJournalEntry(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (l *ledger) post(t *testing.T, date, text string) client.JournalEntry {
	t.Helper()
	return l.make(t, l.entry(date, "posted", text))
}

func (l *ledger) draft(t *testing.T, date, text string) client.JournalEntry {
	t.Helper()
	return l.make(t, l.entry(date, "draft", text))
}

func (l *ledger) get(t *testing.T, id string) client.JournalEntry {
	t.Helper()
	e, err := l.Client.JournalEntry(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// written formats an entry in the notation. Dollars and the first legal entity are left out.
func written(l *ledger, e client.JournalEntry) string {
	names := map[string]string{}
	for name, id := range l.accounts {
		names[id] = name
	}
	for name, id := range l.names {
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

const sale = "Dr 1010 100.00; Cr 4010 100.00"

// fails expects an error with a status that names exactly these fields and has messages.
func fails(t *testing.T, what string, err error, status int, fields []string, says string) {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) {
		t.Errorf("%s: %v, want a refusal", what, err)
		return
	}
	named := map[string]bool{}
	for _, f := range e.Fields {
		named[f.Field] = true
	}
	code := map[int]string{400: "VALIDATION_ERROR", 404: "RESOURCE_NOT_FOUND", 409: "CONFLICT"}[status]
	if e.Status != status || e.Code != code || !slices.Equal(slices.Sorted(maps.Keys(named)), slices.Sorted(slices.Values(fields))) ||
		!strings.Contains(e.Error(), says) {
		t.Errorf("%s: %v, want %d that names %q and says %q", what, err, status, fields, says)
	}
}

// tree returns an entry as decoded JSON, which a test can change.
func tree(e client.CreateJournalEntry) sample {
	var s sample
	text, _ := json.Marshal(e)
	if err := json.Unmarshal(text, &s.body); err != nil {
		panic(err)
	}
	return s
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
		d := l.draft(t, "2026-01-05", sale)
		if d.Status != "draft" || d.SequenceNumber != "JE-1" || d.PostedAt != nil || written(l, d) != sale ||
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
		p = l.get(t, p.ID)
		if p.ReversalChain.NextEntryID == nil || *p.ReversalChain.NextEntryID != r.ID {
			t.Errorf("%+v", p)
		}
	})
}

func TestAManualEntryHasDefaultsForOmittedFields(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		first := l.make(t, client.CreateJournalEntry{AccountingDate: "2026-01-05", Lines: l.lines(sale)})
		if first.Status != "draft" || first.Lines[0].Currency != "USD" || first.Lines[1].LegalEntityID != l.LegalEntity.ID ||
			!first.LegalEntityAutoAssigned || first.Memo != nil ||
			first.OriginatedBy != "manual" || first.Classification != "UNKNOWN" || first.TransactionID != nil || len(first.TagIDs) != 0 ||
			first.TagIDs == nil || first.Lines[0].TagIDs == nil ||
			first.OrganizationID != l.Organization.ID || first.ReversalChain.PreviousEntryID != nil ||
			first.ReversalChain.NextEntryID != nil || booked(first) != "- -" || first.AccountingPeriodID != nil {
			t.Errorf("%+v", first)
		}
		if again := l.get(t, first.ID); fmt.Sprint(again) == "" || written(l, again) != sale || again.UpdatedAt != first.UpdatedAt {
			t.Errorf("%+v", again)
		}
		l.entity(t, "DE", "EUR")
		_, err := l.Client.CreateJournalEntry(t.Context(), l.entry("2026-01-05", "", sale))
		fails(t, "several legal entities and none named", err, 400, []string{"legal_entity_id"}, "several")
		named := l.entry("2026-01-05", "", sale)
		named.LegalEntityID = l.names["DE"]
		if e := l.make(t, named); e.LegalEntityAutoAssigned || written(l, e) != "Dr 1010 100.00 EUR DE; Cr 4010 100.00 EUR DE" {
			t.Errorf("%+v", e)
		}
		follows := l.make(t, l.entry("2026-01-05", "", "Dr 1010 5 DE; Cr 4010 5 DE"))
		if !follows.LegalEntityAutoAssigned || follows.LegalEntityID != l.names["DE"] || follows.Lines[0].Amount != "5.00" {
			t.Errorf("%+v", follows)
		}
		_, err = l.Client.CreateJournalEntry(t.Context(), l.entry("2026-01-05", "", "Dr 1010 5 DE; Cr 4010 5 DE; Dr 1010 5 US; Cr 4010 5 US"))
		fails(t, "lines that name several", err, 400, []string{"legal_entity_id"}, "several")
		for currency, shown := range map[string]string{"USD": "1200.50", "JPY": "1200.5", "ETH": "1200.5", "BHD": "1200.500"} {
			e := l.entry("2026-01-05", "draft", "Dr 1010 01200.50 "+currency+"; Cr 4010 1200.5000 "+currency)
			e.LegalEntityID = l.names["US"]
			if made := l.make(t, e); made.Lines[0].Amount != shown || made.Lines[1].Amount != shown {
				t.Errorf("%s is shown as %s, want %s", currency, made.Lines[0].Amount, shown)
			}
		}
	})
}

func TestAnEntryBalancesPerLegalEntityAndCurrency(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.entity(t, "DE", "EUR")
		if _, err := l.Client.StoreFXRates(t.Context(), rates("EUR USD 2026-01-05 1.0857", "USD EUR 2026-01-05 0.9")); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ lines, base string }{
			{"Dr 1340 1500 US; Cr 1210 1500 US; Dr 1210 1500 DE; Cr 2010 1500 DE", "1500.00 1500.00 1500.00 1500.00"},
			{"Dr 1010 10.00 EUR US; Cr 4010 3.33 EUR US; Cr 4020 3.33 EUR US; Cr 4030 3.34 EUR US; Dr 1020 7 US; Cr 4010 7 US",
				"10.86 3.62 3.61 3.63 7.00 7.00"},
			{"Dr 1010 1 USD DE; Cr 4010 1 USD DE; Dr 1010 0.01 EUR DE; Cr 4010 0.01 EUR DE", "0.90 0.90 0.01 0.01"},
		} {
			e := l.entry("2026-01-05", "posted", c.lines)
			e.LegalEntityID = l.names["US"]
			if made := l.make(t, e); booked(made) != c.base {
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
			e := l.entry("2026-01-05", "posted", lines)
			e.LegalEntityID = l.names["US"]
			_, err := l.Client.CreateJournalEntry(t.Context(), e)
			fails(t, lines, err, 400, []string{"lines"}, says)
		}
	})
}

// balance returns the sum of the posted lines of an account, debits less credits, in each legal entity's currency.
func (l *ledger) balance(t *testing.T, code string) string {
	t.Helper()
	sum := new(big.Rat)
	for line, err := range l.Client.LedgerAccountLines(t.Context(), l.accounts[code], nil) {
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

package receivables_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// aged returns the ageing on a day: the rows, then the totals with what the ledger has.
func (l *ledger) aged(t *testing.T, query string) (rows, totals []string) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Client.ReceivablesAgeing(t.Context(), values)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		rows = append(rows, strings.Join(append(append([]string{row.CustomerName, row.Currency}, row.Due...), row.Credits, row.Total), " "))
		l.explained(t, row.Explain, row.Total)
		for n, amount := range row.Due {
			l.explained(t, row.Explain+"&column=due&age_by="+r.AgeBy+"&bucket="+r.Buckets[n].Name, amount)
		}
	}
	for _, total := range r.Totals {
		text := append(append([]string{total.Currency}, total.Due...), total.Credits, total.Total)
		if total.LedgerBalance != nil {
			text = append(text, *total.LedgerBalance, *total.Difference)
		}
		totals = append(totals, strings.Join(text, " "))
	}
	return rows, totals
}

// explained fails unless a figure is what its explanation says, down to the entries.
func (l *ledger) explained(t *testing.T, query, want string) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	x, err := l.Client.Explain(t.Context(), values)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if x.Value == nil || *x.Value != want {
		t.Errorf("%s: %s, want %s", query, x.Formula, want)
	}
	for _, p := range x.Parts {
		if p.Explain != nil && !strings.Contains(*p.Explain, "general-ledger") {
			l.explained(t, *p.Explain, p.Value)
		}
	}
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestAgeingOfReceivablesOnAnyDayIsTheLedger(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		invoiced := func(date, due, amount string) client.Invoice {
			p := l.params("open", date, "4010 "+amount)
			p.DueDate = due
			return l.NewInvoice(t, p)
		}
		a := invoiced("2026-01-05", "2026-01-20", "100.00")
		b := invoiced("2026-02-01", "2026-03-03", "250.50")
		c := invoiced("2026-02-10", "2026-02-10", "40.00")
		l.customer = l.NewCustomer(t, "Acme")
		invoiced("2026-02-28", "2026-05-01", "7.00")

		check := func(when, query string, rows []string, totals ...string) {
			t.Helper()
			gotRows, gotTotals := l.aged(t, query)
			same(t, when+", rows", gotRows, rows...)
			same(t, when+", totals", gotTotals, totals...)
		}
		all := []string{"Acme USD 7.00 0.00 0.00 0.00 0.00 0.00 7.00", "Northwind USD 250.50 40.00 100.00 0.00 0.00 0.00 390.50"}
		check("at the end of February", "as_of=2026-02-28", all, "USD 257.50 40.00 100.00 0.00 0.00 0.00 397.50 397.50 0.00")
		check("before everything", "as_of=2026-01-04", nil)
		check("in January", "as_of=2026-01-20", []string{"Northwind USD 100.00 0.00 0.00 0.00 0.00 0.00 100.00"},
			"USD 100.00 0.00 0.00 0.00 0.00 0.00 100.00 100.00 0.00")
		check("by date of the invoice", "as_of=2026-02-28&age_by=invoice_date&bucket_days=10,20",
			[]string{"Acme USD 7.00 0.00 0.00 0.00 0.00 7.00", "Northwind USD 0.00 0.00 40.00 350.50 0.00 390.50"},
			"USD 7.00 0.00 40.00 350.50 0.00 397.50 397.50 0.00")
		check("of one customer", "as_of=2026-02-28&customer_id="+a.CustomerID, all[1:], "USD 250.50 40.00 100.00 0.00 0.00 0.00 390.50")

		l.creditNote(t, b, "2026-03-05", "50.50")
		credit := l.creditNote(t, client.Invoice{CustomerID: a.CustomerID, LegalEntityID: a.LegalEntityID}, "2026-03-06", "9.00")
		l.act(t, "/v1/invoices/"+a.ID+"/mark-uncollectible", `{"accounting_date": "2026-03-07"}`)
		l.act(t, "/v1/invoices/"+c.ID+"/void", `{}`)
		check("a void invoice never was", "as_of=2026-02-28",
			[]string{all[0], "Northwind USD 250.50 0.00 100.00 0.00 0.00 0.00 350.50"},
			"USD 257.50 0.00 100.00 0.00 0.00 0.00 357.50 357.50 0.00")
		check("credited", "as_of=2026-03-06", []string{all[0], "Northwind USD 0.00 200.00 100.00 0.00 0.00 -9.00 291.00"},
			"USD 7.00 200.00 100.00 0.00 0.00 -9.00 298.00 298.00 0.00")
		check("written off", "as_of=2026-03-31", []string{all[0], "Northwind USD 0.00 200.00 0.00 0.00 0.00 -9.00 191.00"},
			"USD 7.00 200.00 0.00 0.00 0.00 -9.00 198.00 198.00 0.00")
		l.act(t, "/v1/invoices/"+a.ID+"/reopen", `{}`)
		l.act(t, "/v1/credit-notes/"+credit.ID+"/void", `{}`)
		check("undone", "as_of=2026-12-31", []string{"Acme USD 0.00 0.00 0.00 0.00 7.00 0.00 7.00",
			"Northwind USD 0.00 0.00 0.00 0.00 300.00 0.00 300.00"}, "USD 0.00 0.00 0.00 0.00 307.00 0.00 307.00 307.00 0.00")
	})
}

func (l *ledger) creditNote(t *testing.T, of client.Invoice, date, amount string) client.CreditNote {
	t.Helper()
	c, err := l.Client.CreateCreditNote(t.Context(), client.CreateCreditNote{InvoiceID: of.ID, CustomerID: of.CustomerID,
		LegalEntityID: l.LegalEntity.ID, CreditNoteDate: date, Lines: l.lines("4010 " + amount)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (l *ledger) act(t *testing.T, path, body string) {
	t.Helper()
	if a := l.Service().Send(t, apitest.Request{Method: http.MethodPost, Path: path, Key: l.Key, Body: body}); a.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
}

func TestAgeingRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		for query, field := range map[string]string{
			"as_of=tomorrow": "as_of", "as_of=2026-02-30": "as_of", "as_of=0000-12-31": "as_of", "as_of=9999-01-01": "as_of",
			"bucket_days=30,30": "bucket_days", "bucket_days=0": "bucket_days", "bucket_days=a,1,b": "bucket_days[2]",
			"bucket_days=60,30": "bucket_days", "bucket_days=4000": "bucket_days", "currency=ETH": "currency", "age_by=memo": "age_by",
		} {
			a := s.Send(t, apitest.Request{Path: "/v1/reports/receivables-ageing?" + query, Key: l.Key})
			if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), `"`+field+`"`) {
				t.Errorf("%s: %d %s", query, a.Status, a.Body)
			}
		}
		a := s.Send(t, apitest.Request{Path: "/v1/reports/receivables-ageing?legal_entity_ids=le_unknown", Key: l.Key})
		if a.Status != http.StatusNotFound {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		rows, totals := l.aged(t, "customer_id=cus_unknown")
		same(t, "nobody", append(rows, totals...))
	})
}

// In Chile clocks skip the midnight at which 7 September 2025 begins.
func TestAgeingOnADayWhoseMidnightIsSkipped(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		if _, err := l.Client.UpdateOrganization(t.Context(), client.UpdateOrganization{Timezone: new("America/Santiago")}); err != nil {
			t.Fatal(err)
		}
		p := l.params("open", "2025-09-07", "4010 100.00")
		p.DueDate = "2025-09-07"
		l.NewInvoice(t, p)
		for day, want := range map[string][]string{"2025-09-06": nil, "2025-09-07": {"Northwind USD 100.00 0.00 0.00 0.00 0.00 0.00 100.00"},
			"2025-09-08": {"Northwind USD 0.00 100.00 0.00 0.00 0.00 0.00 100.00"}} {
			rows, _ := l.aged(t, "as_of="+day)
			same(t, day, rows, want...)
		}
	})
}

func TestExplainingAgeingRefusesWhatIsNoBucket(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.invoice(t, "open", "2026-03-01", "4010 100.00")
		explain := "/v1/reports/explain?report=receivables-ageing&as_of=2026-06-30&column=due&customer_id=" + l.customer.ID + "&bucket="
		for _, bucket := range []string{"over_9223372036854775807", "over_99999999999999999999", "over_-5", "over_0", "over_3651", "over_090",
			"over_", "-5-10", "-5--1", "0-30", "60-31", "31-3651", "1-9223372036854775807", "31-60x", "31", "60%2B", "Current"} {
			a := s.Send(t, apitest.Request{Path: explain + bucket, Key: l.Key})
			if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), `"bucket"`) {
				t.Errorf("%s: %d %s", bucket, a.Status, a.Body)
			}
		}
		for bucket, want := range map[string]string{"current": "0.00", "31-60": "0.00", "3650-3650": "0.00", "over_3650": "0.00", "over_1": "100.00"} {
			l.explained(t, "report=receivables-ageing&as_of=2026-06-30&column=due&customer_id="+l.customer.ID+"&bucket="+bucket, want)
		}
	})
}

func TestExplainingADocumentRefusesWhatItDoesNotUse(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-03-01", "4010 100.00")
		document := "report=receivables-ageing&as_of=2026-06-30&document_id=" + i.ID
		l.explained(t, document, "100.00")
		for query, field := range map[string]string{"column=due": "column", "column=due&bucket=current": "bucket", "column=credits": "column",
			"age_by=due_date": "age_by"} {
			a := s.Send(t, apitest.Request{Path: "/v1/reports/explain?" + document + "&" + query, Key: l.Key})
			if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), `"`+field+`"`) {
				t.Errorf("%s: %d %s", query, a.Status, a.Body)
			}
		}
	})
}

func TestAgeingShowsWhatTheLedgerDoesNotHaveAsADifference(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2026-03-01 1.20")); err != nil {
			t.Fatal(err)
		}
		l.invoice(t, "open", "2026-02-01", "4010 100.00")
		p := l.params("open", "2026-03-01", "4010 10.00")
		p.Currency = "EUR"
		l.NewInvoice(t, p)
		_, totals := l.aged(t, "as_of=2026-03-01&customer_id="+l.customer.ID)
		same(t, "of one customer, by currency", totals, "EUR 10.00 0.00 0.00 0.00 0.00 0.00 10.00", "USD 100.00 0.00 0.00 0.00 0.00 0.00 100.00")
		_, totals = l.aged(t, "as_of=2026-03-01")
		same(t, "sound", totals, "EUR 10.00 0.00 0.00 0.00 0.00 0.00 10.00 10.00 0.00",
			"USD 100.00 0.00 0.00 0.00 0.00 0.00 100.00 100.00 0.00")

		r, err := l.Client.ReceivablesAgeing(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		control, other := r.ControlAccounts[0].LedgerAccountID, l.Accounts["1010"]
		move := func(from, to string) {
			err := s.App.DB.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
				for _, table := range []string{"account_units", "account_balances"} {
					if n, err := tx.Exec(ctx, "UPDATE "+table+" SET ledger_account_id = ? WHERE ledger_account_id = ?", to, from); err != nil || n == 0 {
						t.Errorf("%s: %d %v", table, n, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		move(control, other)
		_, totals = l.aged(t, "as_of=2026-03-01")
		same(t, "without balances", totals, "EUR 10.00 0.00 0.00 0.00 0.00 0.00 10.00 0.00 10.00",
			"USD 100.00 0.00 0.00 0.00 0.00 0.00 100.00 0.00 100.00")
		move(other, control)
	})
}

func TestAgeingShowsALimitedKeyNothingOfOtherLegalEntities(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		other := l.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other", BaseCurrency: "USD"})
		l.invoice(t, "open", "2026-03-01", "4010 100.00")
		p := l.params("open", "2026-04-01", "4010 77.00")
		p.LegalEntityID = other.ID
		theirs := l.NewInvoice(t, p)
		l.act(t, "/v1/invoices/"+theirs.ID+"/mark-uncollectible", `{"accounting_date": "2026-06-01"}`)
		for _, query := range []string{"as_of=2026-01-01", "as_of=2026-03-15", "as_of=2026-05-01", "as_of=2026-12-31",
			"as_of=2026-05-01&currency=USD"} {
			for _, key := range []string{l.Key, l.Limited(t, l.LegalEntity.ID)} {
				a := s.Send(t, apitest.Request{Path: "/v1/reports/receivables-ageing?legal_entity_ids=" + l.LegalEntity.ID + "&" + query, Key: key})
				if a.Status != http.StatusOK || strings.Contains(string(a.Body), other.ID) || strings.Contains(string(a.Body), "77.00") {
					t.Errorf("%s: %d %s", query, a.Status, a.Body)
				}
			}
			a := s.Send(t, apitest.Request{Path: "/v1/reports/receivables-ageing?" + query, Key: l.Limited(t, l.LegalEntity.ID)})
			if a.Status != http.StatusOK || strings.Contains(string(a.Body), other.ID) || strings.Contains(string(a.Body), "77.00") {
				t.Errorf("%s: %d %s", query, a.Status, a.Body)
			}
		}
	})
}

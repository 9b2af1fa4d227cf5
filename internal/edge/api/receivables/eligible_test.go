package receivables_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// mirrored is an invoice of Stripe, without a legal entity.
func mirrored(number string, status invoice.Status, due string) invoice.MirrorParams {
	total := money.MustParse("80.00")
	return invoice.MirrorParams{Provider: "stripe", ExternalID: "in_" + number, Number: number, Status: status, Currency: "USD",
		Customer: customer.Reference{Provider: "stripe", ExternalID: "cus_S1"}, CustomerName: "Southwind",
		Date: time.Date(2026, 2, 3, 14, 30, 0, 0, time.UTC), DueDate: time.Date(2026, 3, 3, 14, 30, 0, 0, time.UTC),
		AmountDue: money.MustParse(due),
		Lines:     []invoice.Line{{Description: "Plan", Product: "Pro", Quantity: money.FromInt(1), UnitPrice: total, Amount: total}}}
}

func eligible(t *testing.T, n *apitest.Tenant, query string) (numbers []string, err error) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	numbers = []string{}
	for i, err := range n.Client.EligibleInvoices(t.Context(), values) {
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, i.InvoiceNumber)
	}
	return numbers, nil
}

// stocked is an organization with an invoice of each kind.
func stocked(t *testing.T, s *apitest.Service) *ledger {
	t.Helper()
	l := openLedger(t, s)
	l.NewCustomer(t, "Westwind")
	add := func(number, status, date, amount string) client.Invoice {
		p := l.params(status, date, "4010 "+amount)
		p.InvoiceNumber = number
		return l.NewInvoice(t, p)
	}
	add("open", "open", "2026-01-31", "100.00")
	add("later", "open", "2026-02-01", "105.00")
	add("draft", "draft", "2026-02-02", "100.00")
	if _, err := l.Client.VoidInvoice(t.Context(), add("void", "open", "2026-02-02", "100.00").ID, client.VoidInvoice{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Client.MarkInvoiceUncollectible(t.Context(), add("lost", "open", "2026-02-02", "100.00").ID,
		client.MarkInvoiceUncollectible{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []invoice.MirrorParams{mirrored("S-1", invoice.Open, "80.00"), mirrored("S-2", invoice.Paid, "0")} {
		if _, err := s.App.Invoices.Mirror(l.Context(t), p); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestInvoicesAreFoundAsTheContractSays(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := stocked(t, s)
		for query, want := range map[string]string{
			"":                                     "S-1 later open",
			"limit=1":                              "S-1 later open", // on three pages
			"status=open":                          "S-1 later open",
			"status=paid":                          "S-2",
			"status=draft, void":                   "void draft",
			"status=uncollectible,paid,nonsense":   "S-2 lost",
			"status=nonsense":                      "",
			"status=OPEN":                          "",
			"customer_name=NORTH":                  "later open",
			"customer_name=wind":                   "", // ambiguous: three customers
			"customer_name=nobody":                 "",
			"customer_name=%25":                    "",
			"customer_id=cus_S1":                   "S-1",
			"customer_id=cus_S1&customer_name=nor": "S-1", // the id takes precedence
			"customer_id=nobody&customer_name=nor": "",
			"customer_id=" + l.customer.ID:         "later open",
			"customer_id=" + l.customer.ExternalReferences[0].ExternalID: "later open",
			"amount=100":                                                     "later open", // within 5, both bounds included
			"amount=99.99":                                                   "open",
			"amount=100&amount_tolerance=4.99":                               "open",
			"amount=100.01&amount_tolerance=0":                               "",
			"amount=100.00&amount_tolerance=0":                               "open",
			"amount=75":                                                      "S-1",
			"invoice_date_from=2026-02-01":                                   "S-1 later",
			"invoice_date_to=2026-02-01":                                     "later open",
			"invoice_date_to=2026-02-03":                                     "S-1 later open", // to the end of the day in UTC
			"invoice_date_to=2026-02-03T14:29:59.999Z":                       "later open",     // exactly
			"invoice_date_to=2026-02-03T14:30:00Z":                           "S-1 later open",
			"invoice_date_from=2026-02-03T14:30:00Z":                         "S-1",
			"invoice_date_from=2026-02-01&invoice_date_to=2026-02-01":        "later",
			"invoice_date_from=2026-02-01T00:00:00.001Z&status=open&limit=2": "S-1",
		} {
			got, err := eligible(t, l.Tenant, query)
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("%s: %q %v, want %s", query, got, err, want)
			}
		}
		for query, field := range map[string]string{
			"amount_tolerance=1": "amount_tolerance", "amount=1&amount_tolerance=-1": "amount_tolerance", "amount=x": "amount",
			"amount=1e3": "amount", "invoice_date_from=2026-02-30": "invoice_date_from", "invoice_date_to=tomorrow": "invoice_date_to",
			"limit=101": "limit", "limit=0": "limit", "customer_name=": "customer_name", "status=": "status",
			"customer_id=" + strings.Repeat("x", 257): "customer_id", "status=" + strings.Repeat("x", 65): "status", "foo=1": "foo",
		} {
			_, err := eligible(t, l.Tenant, query)
			apitest.WantError(t, query, err, 400, []string{field}, "")
		}
	})
}

func TestAnInvoiceSaysWhetherADepositCanBeAppliedToIt(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := stocked(t, s)
		got := map[string]client.EligibleInvoice{}
		for i, err := range l.Client.EligibleInvoices(t.Context(), url.Values{"status": {"open,paid,draft,void,uncollectible"}}) {
			if err != nil {
				t.Fatal(err)
			}
			got[i.InvoiceNumber] = i
			if i.Eligible != (i.IneligibilityReason == nil) {
				t.Errorf("%+v", i)
			}
		}
		for number, says := range map[string]string{"open": "", "later": "", "S-1": "", "draft": "draft", "void": "void", "lost": "written off",
			"S-2": "paid"} {
			i := got[number]
			if i.Eligible != (says == "") || says != "" && !strings.Contains(*i.IneligibilityReason, says) {
				t.Errorf("%s: %+v", number, i)
			}
		}
		if i := got["open"]; i.CustomerName != "Northwind" || i.CustomerID != l.customer.ID || i.AmountDue != "100.00" ||
			i.Provider != "bursar" ||
			*i.LegalEntityID != l.LegalEntity.ID || !i.InvoiceDate.Equal(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)) ||
			!i.DueDate.Equal(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v", i)
		}
		if i := got["S-1"]; i.LegalEntityID != nil || i.Provider != "stripe" || i.TotalAmount != "80.00" || i.InvoiceDate.Hour() != 14 {
			t.Errorf("%+v", i)
		}
	})
}

func TestAMirroredInvoiceBooksNothingAndFollowsItsProvider(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		made, err := s.App.Invoices.Mirror(l.Context(t), mirrored("S-1", invoice.Open, "80.00"))
		if err != nil {
			t.Fatal(err)
		}
		before := l.AuditCount(t)
		if again, err := s.App.Invoices.Mirror(l.Context(t), mirrored("S-1", invoice.Open, "80.00")); err != nil || again.ID != made.ID ||
			l.AuditCount(t) != before {
			t.Errorf("%+v %v: nothing changed, but something was written", again, err)
		}
		paid, err := s.App.Invoices.Mirror(l.Context(t), mirrored("S-1", invoice.Paid, "0"))
		if err != nil || paid.ID != made.ID {
			t.Errorf("%+v %v", paid, err)
		}
		got, err := l.Client.Invoice(t.Context(), made.ID)
		if err != nil || got.Status != "paid" || got.JournalEntryID != nil || *got.ExternalID != "in_S-1" || got.CustomerName != "Southwind" ||
			got.InvoiceDate != "2026-02-03" || len(got.Guidance.AllowedActions) != 0 {
			t.Errorf("%+v %v", got, err)
		}
		_, err = l.Client.VoidInvoice(t.Context(), made.ID, client.VoidInvoice{})
		apitest.WantConflict(t, err, "kept by stripe")
		if _, err := s.App.Invoices.Mirror(l.Context(t), mirrored("S-3", invoice.Open, "80.01")); err == nil {
			t.Error("more is due than the total")
		}
	})
}

func TestALimitedKeySeesInvoicesOfItsLegalEntitiesOnly(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := stocked(t, s)
		l.AddEntity(t, "DE", "USD")
		p := l.params("open", "2026-02-01", "4010 100.00")
		p.LegalEntityID, p.InvoiceNumber = l.Names["DE"], "german"
		german := l.NewInvoice(t, p)
		limited := client.New(s.URL, l.Limited(t, l.Names["DE"]))
		n := &apitest.Tenant{Client: limited}
		if got, err := eligible(t, n, "status=open,paid,draft,void,uncollectible"); err != nil || !slices.Equal(got, []string{"german"}) {
			t.Errorf("%q %v", got, err)
		}
		for i, err := range limited.Invoices(t.Context(), nil) {
			if err != nil || i.ID != german.ID {
				t.Errorf("%+v %v", i, err)
			}
		}
		if _, err := limited.VoidInvoice(t.Context(), german.ID, client.VoidInvoice{}); err != nil {
			t.Error(err)
		}
		for i, err := range l.Client.Invoices(t.Context(), url.Values{"status": {"open"}}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := limited.VoidInvoice(t.Context(), i.ID, client.VoidInvoice{}); !client.IsNotFound(err) {
				t.Errorf("%s: %v", i.InvoiceNumber, err)
			}
		}
	})
}

func TestTheDateOfAnInvoiceIsTheSameInEveryTimeZone(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		for zone, want := range map[string]string{"Asia/Tokyo": "2026-02-28T15:00:00Z", "America/New_York": "2026-03-01T05:00:00Z"} {
			if _, err := l.Client.UpdateOrganization(t.Context(), client.UpdateOrganization{Timezone: &zone}); err != nil {
				t.Fatal(err)
			}
			i := l.invoice(t, "open", "2026-03-01", "4010 10.00")
			e := l.Find(t, *i.JournalEntryID)
			if at := e.AccountingDate.Format(time.RFC3339); i.InvoiceDate != "2026-03-01" || at != want ||
				*e.AccountingPeriodID != l.Period(t, "2026-03").ID {
				t.Errorf("%s: %s is booked at %s, want %s in March", zone, i.InvoiceDate, at, want)
			}
			got, err := eligible(t, l.Tenant, "invoice_date_from=2026-03-01&invoice_date_to=2026-03-01")
			if err != nil || !slices.Contains(got, i.InvoiceNumber) {
				t.Errorf("%s: %q %v", zone, got, err)
			}
			if err := l.Client.DeleteInvoice(t.Context(), i.ID); err != nil {
				t.Error(err)
			}
		}
	})
}

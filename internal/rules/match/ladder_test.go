package match_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/match"
)

const twoCustomers = "customer acme Acme GmbH\ncustomer globex Globex Inc"

func TestOneInvoiceIsFoundByReferenceCustomerOrAmount(t *testing.T) {
	t.Parallel()
	checkRows(t, twoCustomers, []row{
		{"the memo names it", "invoice INV-1001 acme 1000.00 due 01-31\ninvoice INV-1002 acme 1000.00 due 02-28",
			"1000.00 / Payment INV-1002", "exact 0.99 INV-1002:1000.00 certain; customer_exact 0.485 INV-1001:1000.00"},
		{"the memo names several", "invoice INV-1001 acme 300.00 due 01-31\ninvoice INV-1002 acme 700.00 due 02-28\n" +
			"invoice INV-1003 acme 50.00 due 02-28",
			"1000.00 / INV-1002, INV-1001", "exact 0.99 INV-1001:300.00+INV-1002:700.00 certain"},
		{"one of the customer", "invoice INV-1001 acme 1000.00 due 01-31\ninvoice INV-1002 globex 1000.00 due 01-31",
			"1000.00 ACME GMBH / thanks", "customer_exact 0.97 INV-1001:1000.00 certain"},
		{"two of the customer, oldest first", "invoice INV-1002 acme 1000.00 due 02-28\ninvoice INV-1001 acme 1000.00 due 01-31",
			"1000.00 ACME GMBH", "customer_exact 0.485 INV-1001:1000.00; customer_exact 0.485 INV-1002:1000.00"},
		{"three of the customer", "invoice A-101 acme 90.00 due 01-29\ninvoice A-102 acme 90.00 due 01-30\ninvoice A-103 acme 90.00 due 01-31",
			"90.00 Acme", "customer_exact 0.3233 A-101:90.00; customer_exact 0.3233 A-102:90.00; customer_exact 0.3233 A-103:90.00"},
		{"unknown payer, unique amount", "invoice INV-1001 acme 1000.00 due 01-31\ninvoice INV-1002 globex 1000.01 due 01-31",
			"1000.00 Initech", "exact 0.9 INV-1001:1000.00"},
		{"unknown payer, the amount of two", "invoice INV-1001 acme 1000.00 due 01-31\ninvoice INV-1002 globex 1000.00 due 01-30",
			"1000.00 Initech", "exact 0.45 INV-1002:1000.00; exact 0.45 INV-1001:1000.00"},
		{"unknown payer, no such amount", "invoice INV-1001 acme 1000.00 due 01-31\ninvoice INV-1002 acme 500.00 due 01-30",
			"1500.00 Initech", ""},
		{"nothing is open", "", "1000.00 Acme GmbH", ""},
		{"a deposit of nothing", "invoice INV-1001 acme 1000.00 due 01-31", "0.00 Acme GmbH", ""},
	})
}

func TestSeveralInvoicesOfOneCustomerAreCombined(t *testing.T) {
	t.Parallel()
	five := "invoice A-101 acme 100.00 due 01-01\ninvoice A-102 acme 210.00 due 01-02\ninvoice A-103 acme 320.00 due 01-03\n" +
		"invoice A-104 acme 440.00 due 01-04\ninvoice A-105 acme 565.00 due 01-05\n"
	seven := five + "invoice A-106 acme 690.50 due 01-06\ninvoice A-107 acme 820.25 due 01-07\ninvoice A-108 acme 1300.00 due 01-08\n"
	apart := "invoice A-101 acme 100.00 due 01-01\ninvoice A-102 acme 7.00 due 01-02\ninvoice A-103 acme 100.00 due 01-03\n" +
		"invoice A-104 acme 9.00 due 01-04\ninvoice A-105 acme 250.00 due 01-05\ninvoice A-106 acme 13.00 due 01-06\n" +
		"invoice A-107 acme 100.00 due 01-07\n"
	checkRows(t, twoCustomers, []row{
		{"the whole balance", five, "1635.00 Acme GmbH",
			"combination 0.95 A-101:100.00+A-102:210.00+A-103:320.00+A-104:440.00+A-105:565.00 certain"},
		{"the oldest", five, "630.00 Acme GmbH", "combination 0.9 A-101:100.00+A-102:210.00+A-103:320.00"},
		{"others in a row", five, "970.00 Acme GmbH", "combination 0.9 A-102:210.00+A-103:320.00+A-104:440.00"},
		{"all but one", five, "1315.00 Acme GmbH", "combination 0.85 A-101:100.00+A-102:210.00+A-104:440.00+A-105:565.00"},
		{"all but two", five, "985.00 Acme GmbH", "combination 0.85 A-101:100.00+A-103:320.00+A-105:565.00"},
		{"two not in a row", seven, "540.00 Acme GmbH", "combination 0.85 A-101:100.00+A-104:440.00"},
		{"three not in a row", seven, "1110.50 Acme GmbH", "combination 0.8 A-101:100.00+A-103:320.00+A-106:690.50"},
		{"no sum", seven, "1675.51 Acme GmbH", ""},
		{"four not in a row", seven, "1675.50 Acme GmbH", "combination 0.7 A-101:100.00+A-103:320.00+A-105:565.00+A-106:690.50"},
		{"two pairs", "invoice A-101 acme 100.00 due 01-01\ninvoice A-102 acme 600.00 due 01-02\ninvoice A-103 acme 250.00 due 01-03\n" +
			"invoice A-104 acme 450.00 due 01-04\ninvoice A-105 acme 7.00 due 01-05\ninvoice A-106 acme 8.00 due 01-06\n" +
			"invoice A-107 acme 700.01 due 01-07",
			"700.00 Acme GmbH", "combination 0.9 A-101:100.00+A-102:600.00; combination 0.425 A-103:250.00+A-104:450.00"},
		{"two runs, neither with the oldest", "invoice A-100 acme 3.00 due 01-01\ninvoice A-101 acme 100.00 due 01-01\n" +
			"invoice A-102 acme 600.00 due 01-02\ninvoice A-103 acme 250.00 due 01-03\ninvoice A-104 acme 450.00 due 01-04\n" +
			"invoice A-105 acme 7.00 due 01-05\ninvoice A-106 acme 8.00 due 01-06\ninvoice A-107 acme 700.01 due 01-07",
			"700.00 Acme GmbH", "combination 0.45 A-101:100.00+A-102:600.00; combination 0.45 A-103:250.00+A-104:450.00"},
		{"monthly invoices of one amount", "invoice A-101 acme 100.00 due 01-01\ninvoice A-102 acme 100.00 due 02-01\n" +
			"invoice A-103 acme 100.00 due 03-01\ninvoice A-104 acme 100.00 due 03-02\ninvoice A-105 acme 100.00 due 03-03",
			"200.00 Acme GmbH", "combination 0.9 A-101:100.00+A-102:100.00"},
		{"equal amounts, two of three", apart, "200.00 Acme GmbH", "combination 0.2833 A-101:100.00+A-103:100.00"},
		{"equal amounts, two of three and another", apart, "450.00 Acme GmbH", "combination 0.2667 A-101:100.00+A-103:100.00+A-105:250.00"},
		{"equal amounts, three of four", apart + "invoice A-108 acme 11.00 due 01-08\ninvoice A-109 acme 100.00 due 01-09",
			"300.00 Acme GmbH", "combination 0.2 A-101:100.00+A-103:100.00+A-107:100.00"},
		{"a sum of an unknown payer is no match", five, "310.00 Initech", ""},
		{"a sum of two customers is no match", "invoice A-101 acme 100.00 due 01-01\ninvoice A-102 globex 200.00 due 01-01\n" +
			"invoice A-103 acme 500.00 due 01-01", "300.00 Acme GmbH", ""},
		{"a sum need be exact, whatever the tolerance", "tolerance 5.00\n" + five, "309.99 Acme GmbH", ""},
		{"a single invoice that is also a sum", "invoice A-101 acme 100.00 due 01-01\ninvoice A-102 acme 200.00 due 01-02\n" +
			"invoice A-103 acme 300.00 due 01-03", "300.00 Acme GmbH",
			"customer_exact 0.97 A-103:300.00; combination 0.9 A-101:100.00+A-102:200.00"},
		{"the memo names one of two", five, "540.00 Acme GmbH / A-104 and others", "combination 0.85 A-101:100.00+A-104:440.00; " +
			"overpayment 0.8 A-104:440.00 delta 100.00"},
	})
}

func TestTooLittleOrTooMuchIsAllocatedAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	two := "invoice INV-1001 acme 1000.00 due 01-31\ninvoice INV-1002 acme 400.00 due 02-28\n"
	checkRows(t, twoCustomers, []row{
		{"a part of the named invoice", two, "300.00 / INV-1002 first instalment", "partial 0.8 INV-1002:300.00; partial 0.5 INV-1001:300.00"},
		{"a part of the oldest", two, "300.00 Acme GmbH", "partial 0.5 INV-1001:300.00"},
		{"a part of two that are named", two, "1200.00 / INV-1001 INV-1002", "partial 0.8 INV-1001:1000.00+INV-1002:200.00"},
		{"one and a part, and none is named", two, "1200.00 Acme GmbH", ""},
		{"more than the named invoice", two, "450.00 / INV-1002", "overpayment 0.8 INV-1002:400.00 delta 50.00; partial 0.5 INV-1001:450.00"},
		{"more than the balance", two, "1500.00 Acme GmbH", "overpayment 0.5 INV-1001:1000.00+INV-1002:400.00 delta 100.00"},
		{"one of two that are named", two, "1000.00 / INV-1001 INV-1002", "customer_exact 0.97 INV-1001:1000.00"},
	})
}

func TestADifferenceWithinTheToleranceLowersTheConfidence(t *testing.T) {
	t.Parallel()
	books := "tolerance 25.00\ninvoice INV-1001 acme 1000.00 due 01-31\ninvoice INV-1002 globex 5000.00 due 01-31\n"
	checkRows(t, twoCustomers, []row{
		// 0.97 * (1 - 0.15 * 15 / 25) = 0.8827
		{"a bank's fee", books, "985.00 Acme GmbH", "customer_exact 0.8827 INV-1001:1000.00 delta -15.00; partial 0.5 INV-1001:985.00"},
		// 0.97 * 0.85 = 0.8245
		{"at the end of the tolerance", books, "975.00 Acme GmbH",
			"customer_exact 0.8245 INV-1001:1000.00 delta -25.00; partial 0.5 INV-1001:975.00"},
		{"beyond it", books, "974.99 Acme GmbH", "partial 0.5 INV-1001:974.99"},
		// 0.99 * (1 - 0.15 * 10 / 25) = 0.9306
		{"a named invoice", books, "990.00 / INV-1001", "exact 0.9306 INV-1001:1000.00 delta -10.00; partial 0.8 INV-1001:990.00"},
		// 0.90 * (1 - 0.15 * 5 / 25) = 0.873
		{"an unknown payer, a little too much", books, "5005.00 Initech", "exact 0.873 INV-1002:5000.00 delta 5.00"},
		{"no tolerance", strings.Replace(books, "25.00", "0", 1), "999.99 Acme GmbH", "partial 0.5 INV-1001:999.99"},
		{"an exact one comes before a near one", books + "invoice INV-1003 acme 990.00 due 02-28", "990.00 Acme GmbH",
			"customer_exact 0.97 INV-1003:990.00 certain; partial 0.5 INV-1001:990.00"},
	})
}

func TestAReportedFeeIsPartOfTheDeposit(t *testing.T) {
	t.Parallel()
	var c company
	c.read(twoCustomers + "\ninvoice INV-1001 acme 1000.00 due 01-31")
	d := deposit("1000.00 Acme GmbH")
	d.Fee = money.MustParse("29.30")
	got := match.New(c.customers, nil, c.invoices).Match(d, match.Policy{})
	if showAll(got) != "customer_exact 0.97 INV-1001:1000.00 certain" || !has(got.Suggestions[0].Reasons, match.FeeIncluded) {
		t.Errorf("got %s with %v", showAll(got), got.Suggestions[0].Reasons)
	}
}

func has(reasons []match.Reason, code match.Code) bool {
	for _, r := range reasons {
		if r.Code == code {
			return true
		}
	}
	return false
}

func TestOnlyInvoicesThatTheDepositCanPayAreCandidates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		invoice string
		why     match.Code
	}{
		{"", ""},
		{"entity=us", ""},
		{"issued=03-04", ""},
		{"issued=03-05", match.IssuedLater},
		{"entity=de", match.OtherEntity},
		{"currency=EUR", match.OtherCurrency},
		{"status=draft", match.NotOpen},
		{"status=paid", match.NotOpen},
		{"status=void", match.NotOpen},
		{"status=uncollectible", match.NotOpen},
		{"reserved", match.IsReserved},
	} {
		var books company
		books.read(twoCustomers + "\ninvoice INV-1001 acme 1000.00 due 03-31 " + c.invoice)
		d := deposit("1000.00 Acme GmbH / INV-1001")
		why := d.Excludes(&books.invoices[0])
		got := match.New(books.customers, nil, books.invoices).Match(d, match.Policy{})
		size := 1
		if c.why != "" {
			size = 0
		}
		if why.Code != c.why || (why.Text == "") != (c.why == "") || got.PoolSize != size || len(got.Suggestions) != size {
			t.Errorf("%q is excluded by %v, the pool has %d: %s", c.invoice, why, got.PoolSize, showAll(got))
		}
	}
	nothing := match.Invoice{Status: match.Open}
	if got := nothing.Ineligible(); got.Code != match.NothingDue {
		t.Errorf("an invoice with nothing due is %v", got)
	}
}

func TestAnInvoiceOfAnotherLegalEntityIsNotEvenMentioned(t *testing.T) {
	t.Parallel()
	var c company
	c.read(twoCustomers + "\ninvoice INV-1001 globex 1000.00 due 01-31 entity=de status=paid\ninvoice INV-1002 acme 1000.00 due 01-31")
	got := match.New(c.customers, nil, c.invoices).Match(deposit("1000.00 Acme GmbH / INV-1002 INV-1001"), match.Policy{})
	for _, n := range got.Notes {
		if n.Code != match.NumberUnknown {
			t.Errorf("the note %v tells of another legal entity's invoice", n)
		}
	}
	if got.Customer == nil || got.Customer.CustomerID != "acme" {
		t.Errorf("the customer is %v", got.Customer)
	}
}

func TestAReservedInvoiceIsNoCandidateAnyMore(t *testing.T) {
	t.Parallel()
	var c company
	c.read(twoCustomers + "\ninvoice INV-1001 acme 1000.00 due 01-31")
	m := match.New(c.customers, nil, c.invoices)
	m.Reserve("inv_INV-1001")
	if got := m.Match(deposit("1000.00 Acme GmbH"), match.Policy{}); len(got.Suggestions) != 0 || got.PoolSize != 0 {
		t.Errorf("got %s", showAll(got))
	}
	if c.invoices[0].Reserved {
		t.Error("the caller's invoice was changed")
	}
}

func TestAnInvoiceThatIsGivenTwiceIsPaidOnce(t *testing.T) {
	t.Parallel()
	checkRows(t, twoCustomers, []row{{"given twice", "invoice INV-1001 acme 100.00 due 01-31\ninvoice INV-1001 acme 100.00 due 01-31",
		"200.00 Acme GmbH", "overpayment 0.5 INV-1001:100.00 delta 100.00"}})
}

func TestAmountsOfAnySizeAreCompared(t *testing.T) {
	t.Parallel()
	const large, small = "99999999999999999999999999999999999999", "0.000000000000000000000000000001"
	checkRows(t, twoCustomers, []row{
		{"the largest", "invoice INV-1001 acme " + large + " due 01-31", large + " Acme GmbH",
			"customer_exact 0.97 INV-1001:" + large + ".00 certain"},
		{"the smallest", "invoice INV-1001 acme " + small + " due 01-31", small + " Acme GmbH",
			"customer_exact 0.97 INV-1001:" + small + " certain"},
		{"a digit more than any invoice", "invoice INV-1001 acme 1.00 due 01-31\ninvoice INV-1002 acme 2.00 due 01-31", "3.001 Acme GmbH",
			"overpayment 0.5 INV-1001:1.00+INV-1002:2.00 delta 0.001"},
		{"digits after the point", "invoice INV-1001 acme 1.00000000000000001 due 01-31\ninvoice INV-1002 acme 1.00 due 01-31",
			"2.00000000000000001 Acme GmbH", "combination 0.95 INV-1001:1.00000000000000001+INV-1002:1.00 certain"},
	})
	var c company
	c.read(twoCustomers + "\ninvoice INV-1001 acme " + large + " due 01-31\ninvoice INV-1002 acme 5.00 due 01-31")
	got := match.New(c.customers, nil, c.invoices).Match(deposit(large+" Acme GmbH"), match.Policy{})
	if !got.Truncated || len(got.Suggestions) != 1 || got.Suggestions[0].Certain() {
		t.Errorf("sums of amounts that are too large were not searched, but: %s, truncated %t", showAll(got), got.Truncated)
	}
}

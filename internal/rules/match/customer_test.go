package match_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/match"
)

func TestTheCustomerIsDerivedFromTheStrongestEvidence(t *testing.T) {
	t.Parallel()
	const books = `
		customer acme Acme GmbH | ACME Handels | 0xA1 | pay@acme.com | cus_1
		customer globex Globex Inc
		customer fund2 Lakeview Fund II
		customer fund3 Lakeview Fund III
		customer north Northwind Traders Limited
		customer twin1 Initech Ltd
		customer twin2 Initech AG
		customer sa Société Générale d'Énergie S.A.
		customer ms Müller & Söhne GmbH & Co. KG
		customer umb Umbrella
		customer kol Kolonay
		invoice INV-1001 acme 1000.00 due 01-31
		invoice INV-1002 globex 1000.00 due 01-31
		invoice INV-1003 globex 500.00 due 01-31
		invoice INV-1004 acme 10.00 due 01-31
		invoice 2024 globex 77.00 due 01-31
		invoice 3034 globex 77.00 due 01-31
		earlier 3 0 globex WIREHOUSE PAYMENTS
		earlier 1 1 globex ONCE
		earlier 1 0 globex AGENT
		earlier 1 0 acme AGENT
		earlier 2 0 north 0xC3`
	for deposit, want := range map[string]string{
		"1.00 / INV-1001":                                   "acme by invoice_number",
		"1.00 Globex Inc / invoice 1001":                    "globex by payer_name, conflict", // it does not fit the amount either
		"1000.00 Globex Inc / invoice 1001":                 "acme by invoice_number, conflict",
		"1.00 Lakeview Fund / INV-1001":                     "acme by invoice_number",
		"1.00 / INV-1001 INV-1002":                          "",
		"1.00 cus_1":                                        "acme by processor_customer",
		"1.00 0xa1":                                         "acme by payer_address",
		"1.00 / paypal pay@ACME.com":                        "acme by payer_email",
		"1.00 Wirehouse Payments":                           "globex by earlier_deposits",
		"1.00 0xC3":                                         "north by earlier_deposits",
		"1.00 ONCE":                                         "",
		"1.00 AGENT":                                        "",
		"1.00 ACME G.m.b.H.":                                "acme by payer_name",
		"1.00 acme handels":                                 "acme by payer_name",
		"1.00 Acme Inc":                                     "acme by similar_name", // another legal form
		"1.00 INITECH":                                      "",
		"1.00 Initech Limited":                              "twin1 by payer_name",
		"1.00 Initech AG":                                   "twin2 by payer_name",
		"1.00 SOCIETE GENERALE DENERGIE SA":                 "sa by payer_name",
		"1.00 MULLER AND SOHNE":                             "ms by payer_name",
		"1.00 Mu\u0308ller &\u200f So\u0308hne GmbH":        "ms by similar_name",
		"1.00 \u202eACME\u202c \u200bGmbH":                  "acme by payer_name",
		"1.00 ＡＣＭＥ ＧｍｂＨ":                                    "acme by payer_name",
		"1.00 / ORIG CO NAME:NORTHWIND TRADERS LTD ID:0012": "north by name_in_text",
		"1.00 / for Umbrella":                               "umb by name_in_text",
		"1.00 / Northwind Traders for Umbrella":             "",
		"1.00 Acme GmbH / on behalf of Umbrella":            "acme by payer_name, conflict",
		"1.00 / wire Northwind Traders GmbH":                "", // a sister company
		"1.00 / wire Northwind Traders II":                  "",
		"1.00 NORTHWND TRADERS LTD":                         "north by similar_name",
		"1.00 Lakeview Fund IV":                             "",
		"1.00 Lakeview Fund II":                             "fund2 by payer_name",
		"1.00 Kolonax":                                      "kol by similar_name", // 6 of 10 trigrams
		"1.00 Kolonaxy":                                     "",
		"1.00 Hooli":                                        "",
		"1.00 GmbH":                                         "",
		"1.00":                                              "",
		"77.00 / 2024":                                      "globex by invoice_number",
		"78.00 / services 2024":                             "",
		"78.00 / rechnung 2024":                             "globex by invoice_number",
		"78.00 / Order 77, #3034":                           "globex by invoice_number",
		"77.00 Acme GmbH / services 2024":                   "acme by payer_name",
		"1.00 / 0x9fINV1001ab":                              "",
		"1.00 / 4b7cinv-1001":                               "",
		"1.00 / 77INV-1001":                                 "",
		"1.00 / INV-10011":                                  "",
		"1.00 / inv1001":                                    "acme by invoice_number",
		"1.00 / I\u200bNV - 1001":                           "acme by invoice_number",
		"1.00 / Invoices: 1001, 1004":                       "acme by invoice_number",
		"1.00 / Rechnung Nr. 1004":                          "acme by invoice_number",
		"1.00 / " + strings.Repeat("thank you ", 1000):      "",
		"1.00 / " + strings.Repeat("thank you ", 900) + "INV1001": "acme by invoice_number",
	} {
		var c company
		c.read(books)
		d := read(deposit)
		got := match.New(c.customers, c.history, c.invoices).Match(d, c.policy)
		text := ""
		if got.Customer != nil {
			text = got.Customer.CustomerID + " by " + string(got.Customer.Basis)
			if r := got.Customer.Reasons; len(r) == 0 || r[0].Text == "" || !strings.HasSuffix(string(r[0].Code), string(got.Customer.Basis)) {
				t.Errorf("%q is derived without a reason: %v", deposit, got.Customer)
			}
		}
		for _, s := range got.Suggestions {
			if has(s.Doubts, match.EvidenceConflicts) {
				text += ", conflict"
				break
			}
		}
		if text != want {
			t.Errorf("%q comes from %q, want %q", deposit, text, want)
		}
	}
}

var read = deposit

func TestASuggestionIsCertainOnlyWithoutAnyDoubt(t *testing.T) {
	t.Parallel()
	const books = `
		customer acme Acme GmbH | cus_1
		customer globex Globex Inc
		customer wayne Wayne Enterprises
		customer kramer1 Kramerica
		customer kramer2 KRAMERICA
		invoice INV-1001 acme 1000.00 due 01-31
		invoice INV-1002 globex 1000.00 due 01-31
		invoice INV-1003 globex 500.00 due 01-31
		invoice INV-1004 acme 10.00 due 01-31
		invoice INV-1005 acme 80.00 due 02-01
		invoice INV-1006 acme 20.00 due 02-02
		invoice INV-1007 acme 30.00 due 02-03
		invoice INV-1008 acme 50.00 due 02-04
		invoice INV-0999 acme 10.00 due 01-01 status=paid
		invoice INV-0998 acme 444.00 due 01-01 status=paid
		invoice INV-2001 wayne 1000.00 due 01-31
		invoice INV-2002 wayne 321.00 due 01-31
		invoice 4711 wayne 333.00 due 01-31
		invoice R1 wayne 72.13 due 01-31
		invoice DUP-1 wayne 5.00 due 01-31 id=inv_d1
		invoice DUP-1 globex 6.00 due 01-31 id=inv_d2
		earlier 1 0 wayne WISE
		tolerance 2.00`
	for deposit, want := range map[string]string{
		"1000.00 Acme GmbH":                         "",
		"1000.00 cus_1":                             "",
		"1000.00 Acme":                              "",
		"1000.00 / INV-1001":                        "",
		"1500.00 Globex Inc":                        "low_confidence", // INV DUP-1 is open too
		"1506.00 Globex Inc":                        "",
		"999.00 / INV-1001":                         "low_confidence has_difference",
		"321.00 Wise":                               "payer_learned",
		"1000.00 Wise":                              "payer_learned",
		"321.00 / wire from Wayne Enterprises":      "name_differs", // perhaps of Wayne Enterprises Asia
		"321.00 Wayne Enterprise":                   "name_differs",
		"1000.00 Wayne Enterprises for Globex Inc":  "evidence_conflicts name_differs",
		"50.00 Acme GmbH":                           "not_unique", // 20.00 + 30.00
		"1000.00 Acme GmbH / INV-1002":              "evidence_conflicts",
		"1500.00 / INV-1001 INV-1003":               "several_customers",
		"1000.00 Acme GmbH / INV-1001 INV-7777":     "number_unknown",
		"1000.00 Acme GmbH / INV-1001 INV-0999":     "number_closed",
		"80.00 Acme GmbH / INV-0999":                "not_unique number_closed",
		"1000.00 Acme GmbH / INV-1005":              "number_left_out",
		"1000.00 Acme GmbH / paid for Globex Inc":   "evidence_conflicts",
		"321.00 / Wayne Enterprises and Globex Inc": "low_confidence payer_ambiguous",
		"1000.00 Acme GmbH / from Acme GmbH":        "",
		"1000.00 Acme GmbH / INV-99":                "number_unknown",
		"1000.00 Acme GmbH / invoice 815":           "number_unknown",
		"1000.00 Acme GmbH / invoice 2026-00815":    "number_unknown",
		"1000.00 Acme GmbH / invoice of 03.02.2026": "",
		"1000.00 Acme GmbH / invoice 1000.00":       "",
		"333.00 / 4711":                             "number_unconfirmed",
		"72.13 / R1":                                "number_unconfirmed",
		"72.13 / invoice R1":                        "",
		"72.13 Wayne Enterprises / R1":              "",
		"333.00 Wayne Enterprises / 4711":           "",
		"333.00 / invoice 4711":                     "",
		"5.00 / DUP-1":                              "low_confidence number_ambiguous",
		"5.00 Wayne Enterprises / DUP-1":            "",
		"1000.00 Stark":                             "low_confidence not_unique",
		"321.00 Kramerica":                          "low_confidence payer_ambiguous",
		"321.00 Kramerica / INV-2002":               "evidence_conflicts",
		"444.00 Acme GmbH":                          "none second_payment",
		"10.00 Acme GmbH":                           "",
		"5.00 Acme GmbH / INV-0999":                 "none number_closed",
	} {
		var c company
		c.read(books)
		got := match.New(c.customers, c.history, c.invoices).Match(read(deposit), c.policy)
		var codes []string
		if len(got.Suggestions) == 0 {
			codes = append(codes, "none")
			for _, n := range got.Notes {
				codes = append(codes, string(n.Code))
			}
		} else {
			for _, d := range got.Suggestions[0].Doubts {
				codes = append(codes, string(d.Code))
			}
		}
		if text := strings.Join(codes, " "); text != want {
			t.Errorf("%q is doubted for %q, want %q: %s", deposit, text, want, showAll(got))
		}
		for _, s := range got.Suggestions[min(1, len(got.Suggestions)):] {
			if s.Certain() {
				t.Errorf("%q has a certain suggestion that is not the first: %s", deposit, showAll(got))
			}
		}
	}
}

func TestAddressesAreComparedAsTheirKindRequires(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"0xAbCd", " 0XABCD ", true},
		{"bc1QXY", "BC1qxy", true},
		{"DE89 3704 0044 0532 0130 00", "de89370400440532013000", true},
		{"DE89 3704 0044 0532 0130 00", "DE89370400440532013001", false},
		{"5AbC", "5aBC", false}, // base58
		{"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "epjfwdd5aufqssqem2qn1xzybapc8g4weggkzwytdt1v", false},
	} {
		if same := match.ParseAddress(c.a) == match.ParseAddress(c.b); same != c.same {
			t.Errorf("%q and %q are the same: %t", c.a, c.b, same)
		}
	}
	got := strings.Join(match.Emails("From: <Pay@Acme.com>, (b@c.de); @ a@ @b"), " ")
	if got != "pay@acme.com b@c.de" {
		t.Errorf("the e-mail addresses are %q", got)
	}
}

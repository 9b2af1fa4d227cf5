package notation_test

import (
	"encoding/csv"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// chart has names from which no program can guess the types.
var chart = []notation.Account{
	{Path: []string{"Aktiva", "Bank"}, Type: notation.Asset}, {Path: []string{"Aktiva", "Wallet"}, Type: notation.Asset},
	{Path: []string{"Schulden"}, Type: notation.Liability}, {Path: []string{"Kapital"}, Type: notation.Equity},
	{Path: []string{"Erträge", "Zinsen"}, Type: notation.Revenue}, {Path: []string{"Kosten", "Miete"}, Type: notation.Expense},
}

// dollars draws entries of books in USD, some with amounts in other currencies.
func dollars(t *rapid.T) []notation.Entry {
	var entries []notation.Entry
	for range 300 {
		e := notation.Entry{Date: "2024-01-31", Posted: true}
		amount := exact.amount(t)
		for _, debit := range []bool{true, false} {
			p := notation.Posting{Account: rapid.SampledFrom(chart).Draw(t, "account").Path, Debit: debit, Amount: amount, Currency: "USD"}
			if rapid.Bool().Draw(t, "foreign") {
				base := amount
				p.Amount, p.Currency, p.Base, p.BaseCurrency = exact.amount(t), rapid.SampledFrom([]string{"EUR", "JPY", "ETH"}).Draw(t,
					"currency"), &base, "USD"
			}
			e.Postings = append(e.Postings, p)
		}
		entries = append(entries, e)
	}
	return entries
}

// total sums postings by a key; an empty key omits a posting.
func total(entries []notation.Entry, key func(p *notation.Posting) string, atCost bool) map[string]money.Decimal {
	totals := map[string]money.Decimal{}
	for _, e := range entries {
		for i := range e.Postings {
			p := &e.Postings[i]
			amount, currency := p.Amount, p.Currency
			if atCost && p.Base != nil {
				amount, currency = *p.Base, p.BaseCurrency
			}
			if !p.Debit {
				amount = amount.Neg()
			}
			if k := key(p); k != "" {
				totals[k+" "+currency] = totals[k+" "+currency].Add(amount)
			}
		}
	}
	maps.DeleteFunc(totals, func(_ string, d money.Decimal) bool { return d.IsZero() })
	return totals
}

// balances returns hledger's balances.
func balances(t *testing.T, text string, args ...string) map[string]money.Decimal {
	t.Helper()
	args = append([]string{"-f", "FILE", "balance", "--flat", "--no-total", "-O", "csv", "--layout=bare"}, args...)
	rows, err := csv.NewReader(strings.NewReader(program(t, text, "hledger", args...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	totals := map[string]money.Decimal{}
	for _, row := range rows[1:] {
		var d money.Decimal
		if err := d.Scan(row[2]); err != nil {
			t.Fatal(err)
		}
		if !d.IsZero() {
			totals[row[0]+" "+row[1]] = d
		}
	}
	return totals
}

func TestHledgerComputesTheSameTotals(t *testing.T) {
	t.Parallel()
	entries := rapid.Custom(dollars).Example(1)
	text := write(t, notation.Hledger, journal{accounts: chart, entries: entries})
	account := func(p *notation.Posting) string { return strings.Join(p.Account, ":") }
	sameTotals(t, balances(t, text), total(entries, account, false))
	sameTotals(t, balances(t, text, "--cost"), total(entries, account, true))
	for letter, kind := range map[string]string{
		"A": notation.Asset, "L": notation.Liability, "E": notation.Equity, "R": notation.Revenue, "X": notation.Expense,
	} {
		of := func(p *notation.Posting) string {
			for _, a := range chart {
				if a.Type == kind && account(p) == strings.Join(a.Path, ":") {
					return account(p)
				}
			}
			return ""
		}
		sameTotals(t, balances(t, text, "--cost", "type:"+letter), total(entries, of, true))
	}
}

func sameTotals(t *testing.T, got, want map[string]money.Decimal) {
	t.Helper()
	if len(want) == 0 || !maps.EqualFunc(got, want, money.Decimal.Equal) {
		t.Errorf("hledger has\n%v\nwant\n%v", got, want)
	}
}

func TestTheStatementsOfHledgerBalance(t *testing.T) {
	t.Parallel()
	entries := rapid.Custom(dollars).Example(2)
	text := write(t, notation.Hledger, journal{accounts: chart, entries: entries})
	sum := func(kinds ...string) money.Decimal {
		var sum money.Decimal
		for _, kind := range kinds {
			for _, a := range chart {
				if a.Type == kind {
					sum = sum.Add(total(entries, func(p *notation.Posting) string {
						if strings.Join(p.Account, ":") == strings.Join(a.Path, ":") {
							return "x"
						}
						return ""
					}, true)["x USD"])
				}
			}
		}
		return sum
	}
	for statement, want := range map[string]money.Decimal{
		"balancesheet":    sum(notation.Asset, notation.Liability),
		"incomestatement": sum(notation.Revenue, notation.Expense).Neg(),
	} {
		printed := program(t, text, "hledger", "-f", "FILE", statement, "--cost", "-O", "csv")
		_, net, _ := strings.Cut(printed, `"Net:","`)
		net, _, _ = strings.Cut(net, " USD")
		var got money.Decimal
		if err := got.Scan(net); err != nil || !got.Equal(want) {
			t.Errorf("%s has %s net, want %s (%v) in\n%s", statement, net, want, err, printed)
		}
	}
}

package notation_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/notation"
)

// brief formats the entries of a journal like a ledger.
func brief(j journal) string {
	var b strings.Builder
	for _, e := range j.entries {
		status := " *"
		if !e.Posted {
			status = " !"
		}
		b.WriteString(e.Date + status)
		if e.Number != "" {
			b.WriteString(" (" + e.Number + ")")
		}
		if e.Memo != "" {
			b.WriteString(" " + strings.ReplaceAll(e.Memo, "\n", "/"))
		}
		for _, tag := range e.Tags {
			b.WriteString(" [" + tag.Kind + "=" + tag.Name + "]")
		}
		b.WriteByte('\n')
		for _, p := range e.Postings {
			b.WriteString("  " + strings.Join(p.Account, ":") + "  ")
			if !p.Debit {
				b.WriteByte('-')
			}
			b.WriteString(p.Amount.String() + " " + p.Currency)
			if p.Base != nil {
				b.WriteString(" @@ " + p.Base.String() + " " + p.BaseCurrency)
			}
			if p.Memo != "" {
				b.WriteString("  ; " + strings.ReplaceAll(p.Memo, "\n", "/"))
			}
			for _, tag := range p.Tags {
				b.WriteString(" [" + tag.Kind + "=" + tag.Name + "]")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// reading is a journal and its expected content.
type reading struct{ name, text, want string }

func checkReadings(t *testing.T, format notation.Format, readings []reading) {
	t.Helper()
	for _, r := range readings {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			want := strings.TrimPrefix(r.want, "\n")
			if got := brief(read(t, format, r.text)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestHledgerJournalsAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	checkReadings(t, notation.Hledger, []reading{
		{"date, status, code, description and comments", `
; a comment
# another
* and an outline
2024/1/5 * (INV-7) Hosting | January  ; paid late, project: Move, billable:
    ; by card
    Expenses:Hosting      $10.00   ; two servers
    ! Assets:Bank checking        ; cleared: 2024-01-09, at 10:30
        ; see https://example.com/a
2024.02.28 ! draft
	Expenses:Food	1 EUR
	Assets:Cash	-1 EUR
2024-03-01
`, `
2024-01-05 * (INV-7) Hosting | January/paid late/by card [project=Move] [billable=]
  Expenses:Hosting  10 $  ; two servers
  Assets:Bank checking  -10 $  ; at 10:30/see https://example.com/a [cleared=2024-01-09]
2024-02-28 ! draft
  Expenses:Food  1 EUR
  Assets:Cash  -1 EUR
2024-03-01 *
`},
		{"balance assertions are read and not checked", `
2024-01-01 x
  a   1 EUR = 5 EUR
  a   1 EUR == 5 EUR @ 2 USD
  a   1 EUR @ 2 USD =* $7
  b  -2 EUR ==* 5 EUR ; known
  b
`, `
2024-01-01 * x
  a  1 EUR
  a  1 EUR
  a  1 EUR @@ 2 USD
  b  -2 EUR  ; known
  b  -2 USD
`},
		{"what imports nothing is passed over", `
comment
2024-01-01 not this
end comment
payee Somebody
tag thing
  ; with details
account Assets:Bank  ; type:A
  note what it is
N $
2024-01-01=2024-01-09 two dates
  a   0 USD
  b   0
`, `
2024-01-01 * two dates [date2=2024-01-09]
`},
		{"no end of line at the end of the file", "2024-01-01 x\n  a  1 USD\n  b", `
2024-01-01 * x
  a  1 USD
  b  -1 USD
`},
		{"a mark of the byte order and ends of lines from Windows", "\ufeff2024-01-01 x ; y\r\n  a  1 USD\r\n  b\r\n", `
2024-01-01 * x/y
  a  1 USD
  b  -1 USD
`},
		{"percent signs of others are left alone", "2024-01-01 100%41 ; see:a%20b\n  a%3Ab  1 USD\n  b\n", `
2024-01-01 * 100%41 [see=a%20b]
  a%3Ab  1 USD
  b  -1 USD
`},
	})
}

func TestHledgerNumbersAreReadWithTheMarksOfAnyCountry(t *testing.T) {
	t.Parallel()
	checkReadings(t, notation.Hledger, []reading{
		{"the currency on either side", `
2024-01-01 x
  a   $-1.50
  a   -$1.50
  a   -1.50$
  a   - $ 1.50
  a   +7.50 $
  a   "Chocolate Frogs"-3
  a   3 "Chocolate Frogs"
  a   1E3 SATS
  a   -1000000e-3 SATS
  b
`, `
2024-01-01 * x
  a  -1.5 $
  a  -1.5 $
  a  -1.5 $
  a  -1.5 $
  a  7.5 $
  a  -3 Chocolate Frogs
  a  3 Chocolate Frogs
  a  1000 SATS
  a  -1000 SATS
  b  -1.5 $
`},
		{"marks between thousands and decimal commas that are clear", `
2024-01-01 x
  a   1,234,567.89 USD
  a   1.234.567,89 EUR
  a   1 234 567,89 SEK
  a   12,34,567.00 INR
  a   0,125 BTC
  a   1.000 ETH
  a   1234,567 CHF
  a   1,000. JPY
  b
`, `
2024-01-01 * x
  a  1234567.89 USD
  a  1234567.89 EUR
  a  1234567.89 SEK
  a  1234567 INR
  a  0.125 BTC
  a  1 ETH
  a  1234.567 CHF
  a  1000 JPY
  b  -1234567.89 USD
  b  -1234567.89 EUR
  b  -1234567.89 SEK
  b  -1234567 INR
  b  -0.125 BTC
  b  -1 ETH
  b  -1234.567 CHF
  b  -1000 JPY
`},
		{"marks that a directive makes clear", `
commodity 1.000,00 EUR
commodity $1,000.00  ; dollars
commodity SEK
  format 1 000,00 SEK
D 1,000.00 USD
Y2023
1/2 x
  a   1.000 EUR
  a   $1,000
  a   1,000 SEK
  a   1,000
  b
decimal-mark ,
2024-01-02 y
  a   1,000 USD
  b
`, `
2023-01-02 * x
  a  1000 EUR
  a  1000 $
  a  1 SEK
  a  1000 USD
  b  -1000 EUR
  b  -1000 $
  b  -1 SEK
  b  -1000 USD
2024-01-02 * y
  a  1 USD
  b  -1 USD
`},
	})
}

func TestHledgerCostsBalanceTheEntry(t *testing.T) {
	t.Parallel()
	checkReadings(t, notation.Hledger, []reading{
		{"for each unit and for all", `
2024-01-01 x
  a   100 EUR @ 1.10 USD
  a   -50 EUR @@ 56 USD
  a    1 EUR (@@) 1 USD
  b
`, `
2024-01-01 * x
  a  100 EUR @@ 110 USD
  a  -50 EUR @@ 56 USD
  a  1 EUR @@ 1 USD
  b  -55 USD
`},
		{"a product that is off by less than the last digit written is corrected", `
2024-01-01 x
  a   3 EUR @ 1.23456 USD
  b  -3.70 USD
2024-01-02 only products
  a   3 EUR @ 1.333333333 USD
  b   -4 CHF @ 1 USD
`, `
2024-01-01 * x
  a  3 EUR @@ 3.7 USD
  b  -3.7 USD
2024-01-02 * only products
  a  3 EUR @@ 3.999999999 USD
  b  -4 CHF @@ 3.999999999 USD
`},
		{"one currency against another is an exchange", `
2024-01-01 x
  a   100 EUR
  b  -110 USD
2024-01-02 with a fee in both
  a   90 EUR
  fee  10 EUR
  b  -110.01 USD
`, `
2024-01-01 * x
  a  100 EUR @@ 110 USD
  b  -110 USD
2024-01-02 * with a fee in both
  a  90 EUR @@ 99.01 USD
  fee  10 EUR @@ 11 USD
  b  -110.01 USD
`},
		{"a cost of zero", `
2024-01-01 x
  a   100 DOGE @@ 0
  a   1 USD
  b
2024-01-02 y
  a   100 DOGE @ 0 EUR
`, `
2024-01-01 * x
  a  100 DOGE @@ 0 USD
  a  1 USD
  b  -1 USD
2024-01-02 * y
  a  100 DOGE @@ 0 EUR
`},
		{"a cost of the same amount in the same currency is none", "2024-01-01 x\n  a  5 USD @ 1 USD\n  b\n", `
2024-01-01 * x
  a  5 USD
  b  -5 USD
`},
	})
}

func TestHledgerAccountsAndPricesAreRead(t *testing.T) {
	t.Parallel()
	j := read(t, notation.Hledger, `
account Aktiva  ; type:A
account Aktiva:Bank  ; code:1200, id:acc_1, normal-balance:credit
account Petty cash  ; Type of thing, type:Cash
account Assets:Old
account Umlauf
P 2024-01-31 EUR 1.10 USD
P 2024/2/1 12:00:00 "A1" $2,000.50 ; noon, source:Reuters
P 2024-02-02 € $1.1
`)
	want := `["Aktiva"] Asset code="" id="" tags=[]
["Aktiva" "Bank"] Asset code="1200" id="acc_1" tags=[{"normal-balance" "credit"}]
["Petty cash"] Asset code="" id="" tags=[]
["Assets" "Old"] Asset code="" id="" tags=[]
["Umlauf"]  code="" id="" tags=[]
`
	if got := showAccounts(j.accounts); got != want {
		t.Errorf("accounts\n%s", got)
	}
	want = `2024-01-31 "EUR" 1.1 "USD" ""
2024-02-01 "A1" 2000.5 "$" "Reuters"
2024-02-02 "€" 1.1 "$" ""
`
	if got := showPrices(j.prices); got != want {
		t.Errorf("prices\n%s", got)
	}
}

// mistake is a journal that is rejected, and the expected message.
type mistake struct{ text, want string }

func checkMistakes(t *testing.T, format notation.Format, mistakes []mistake) {
	t.Helper()
	for _, m := range mistakes {
		var said error
		for item, err := range notation.Read(format, "books.txt", strings.NewReader(m.text)) {
			if said != nil {
				t.Errorf("%q: there is %v after the error", m.text, item)
			}
			said = err
		}
		if said == nil || !strings.HasPrefix(said.Error(), "books.txt:") || !strings.Contains(said.Error(), m.want) {
			t.Errorf("%q gives %v, want it to say %q", m.text, said, m.want)
		}
	}
}

func TestHledgerMistakesAreNamedWithTheirLine(t *testing.T) {
	t.Parallel()
	const x = "2024-01-01 x\n  a  "
	checkMistakes(t, notation.Hledger, []mistake{
		{"\n2024-13-01 x\n", `books.txt:2: "2024-13-01" is not a date`},
		{"2023-02-29 x\n", `:1: "2023-02-29" is not a date`},
		{"1/2 x\n", `:1: the date "1/2" has no year`},
		{"2024-01-01=x y\n", `:1: "x" is not a date`},
		{"2024-01-01 (x\n", `:1: the code of the transaction has no closing bracket`},
		{x + "1 USD\n  b  -2 USD\n", `:1: the entry does not balance: debits less credits are -1.00 USD`},
		{x + "1 USD\n", `does not balance`},
		{x + "\n  b\n  c  1 USD\n", `:1: two amounts are missing`},
		{x + "1 USD\n  (b)  1 USD\n", `:3: virtual postings are no part of double entry`},
		{x + "1 USD\n  [b]\n", `:3: virtual postings`},
		{x + "1,000 USD\n  b\n", `:2: the comma in 1,000 may be decimal or between thousands`},
		{x + "1,00,0.5 USD\n", `:2: the number 1,00,0.5 has digit groups of an unexpected length`},
		{x + "1.5.5,5.5 USD\n", `:2: the number 1.5.5,5.5 has digit groups of an unexpected length`},
		{x + "1,5,5.5,5 USD\n", `digit groups of an unexpected length`},
		{x + ". USD\n", `:2: a number is missing`},
		{x + "USD\n", `:2: "USD" is not an amount`},
		{x + "1E99999 USD\n", `:2: the exponent of "E99999" is too large`},
		{x + "1E50 USD\n", `:2: the number 1 must have at most 38 digits before the point`},
		{x + "0." + strings.Repeat("1", 31) + " USD\n", `at most 30 digits after the point`},
		{x + "5\n", `:2: the amount 5 has no currency`},
		{x + "5 USD EUR\n", `:2: "EUR" after the amount cannot be read`},
		{x + "5 \"USD\n", `:2: the currency "USD has no closing quote`},
		{x + "= 5 USD\n", `:2: a balance instead of an amount cannot be imported; run "hledger -f FILE print -x"`},
		{x + "5 USD = x\n", `:2: the balance assertion cannot be read`},
		{x + "5 USD {1 EUR}\n", `:2: lots in {} and [] cannot be imported`},
		{x + "5 USD @ 1 EUR [2024-01-01]\n", `:2: lots`},
		{x + "5 USD @ -1 EUR\n", `:2: the cost -1 is below zero`},
		{x + "5 USD @ 1\n", `:2: the cost 1 has no currency`},
		{x + "5 USD @ 2 USD\n", `:2: the cost is in USD like the amount`},
		{x + "5 USD @ \n", `:2: the cost cannot be read`},
		{x + "5 USD @@ 0\n", `:1: the cost of 5 USD is zero without a currency`},
		{"2024-01-01 x\n  a ; b\n", `:2: put two spaces before the semicolon`},
		{"  a  5 USD\n", `:1: this line is indented but belongs to no transaction`},
		{"~ monthly\n", `:1: periodic transactions cannot be imported; run "hledger -f FILE print -x"`},
		{"= food\n", `:1: automated postings cannot be imported; run "hledger -f FILE print -x --auto"`},
		{"include other.journal\n", `:1: other files are not read from here; run "hledger -f FILE print -x"`},
		{"alias a=b\n", `:1: "alias" is not understood here`},
		{"apply account a\n", `:1: "apply" is not understood here`},
		{"account a  ; type:Z\n", `:1: there is no account type "Z"`},
		{"account   ; type:A\n", `:1: the account has no name`},
		{"decimal-mark x\n", `:1: the decimal mark must be`},
		{"commodity $1.00\n  format x\n", `:2: the example "x" cannot be read`},
		{"D x\n", `:1: the example "x" cannot be read`},
		{"Y12\n", `:1: the year "12" must have four digits`},
		{"P 2024-01-01\n", `:1: the price names no currency`},
		{"P 2024-01-01 EUR 5\n", `:1: the price cannot be read`},
		{"2024-01-01 \xff\n", `:1: the text is not UTF-8`},
	})
}

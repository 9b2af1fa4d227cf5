package notation_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/notation"
)

func TestBeanCheckAcceptsWhatWeWrite(t *testing.T) {
	t.Parallel()
	text := write(t, notation.Beancount, manyEntries(200, python))
	if complaint := program(t, text, "bean-check", "FILE"); complaint != "" {
		t.Fatalf("%.4000s", complaint)
	}
	// bean-check does complain about a wrong journal, so its silence above means something.
	path := filepath.Join(t.TempDir(), "wrong.beancount")
	text += "\n2024-01-01 *\n  Assets:Not-Opened  1 USD\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "bean-check", path).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "Assets:Not-Opened") {
		t.Errorf("a wrong journal passed: %v %.1000s", err, out)
	}
}

func TestWhatBeancountPrintsOfOurJournalIsReadAgain(t *testing.T) {
	t.Parallel()
	j := read(t, notation.Hledger, `
account Assets:Bank: EUR  ; type:A
2024-01-31 * (JE-12) January "rent"
    ; entity:Acme Inc, Department:R&D
    Expenses:Rent  1100.00 USD  ; office
    Assets:Bank: EUR  -1000.00 EUR @@ 1100.00 USD
2024-02-01 ! swap
    Assets:Wallet  3 ETH @@ 10 USD
    Assets:Wallet  -7 stETH @@ 10 USD
`)
	// beancount divides total costs to 28 digits, and uses the converted names of accounts and currencies.
	printed := program(t, write(t, notation.Beancount, j), "bean-report", "FILE", "print")
	got := read(t, notation.Beancount, printed)
	if want, got := showAll(j.entries), showAll(got.entries); got != want {
		t.Errorf("wrote\n%s\nread\n%s\nfrom\n%s", want, got, printed)
	}
}

func TestBeancountJournalsAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	checkReadings(t, notation.Beancount, []reading{
		{"flags, payee, narration, tags, links and metadata", `
option "title" "Books"
option "name_assets" "Vermoegen"
plugin "beancount.plugins.auto_accounts"
* an outline
2024-01-01 open Vermoegen:Bank EUR, USD "STRICT"
  institution: "Bank"
pushtag #trip
pushmeta place: "Berlin"
2024-01-05 * "Café \"Zur Post\"" "Lunch
with a client" #food ^inv-7
  id: "je_1"
  number: "JE-12"
  receipt: 2024-01-06
  #late
  Expenses:Food  1,010.50 EUR  ; a comment
    memo: "two \\ three"
    guests: 2
  ! Vermoegen:Bank
poptag #trip
popmeta place:
2024/1/6 txn "Rent"
  Expenses:Rent  10 EUR
  Vermoegen:Bank  -10 EUR
2024-01-07 ! ""
2024-01-08 P "" "padding"
`, `
2024-01-05 * (JE-12) Café "Zur Post" | Lunch/with a client [tag=food] [link=inv-7] [tag=late] [tag=trip] [receipt=2024-01-06] [place=Berlin]
  Expenses:Food  1010.5 EUR  ; two \ three [guests=2]
  Vermoegen:Bank  -1010.5 EUR
2024-01-06 * Rent
  Expenses:Rent  10 EUR
  Vermoegen:Bank  -10 EUR
2024-01-07 !
2024-01-08 * padding
`},
		{"prices, costs and sums", `
2024-01-05 * "x"
  Assets:A  100 EUR @ 1.10 USD
  Assets:A  -50 EUR @@ 56 USD
  Assets:A  (1 + 2) * 10 / -4 USD
  Assets:A  -(-2.5) - 1 USD
  Assets:B
2024-01-06 * "lots"
  Assets:Stock  10 HOOL {500.00 USD, 2020-01-01, "first"}
  Assets:Stock  -1 HOOL {{400 USD}} @ 520 USD
  Assets:Stock  2 HOOL {500 # 9.95 USD}
  Assets:Stock  2 HOOL {# 9.95 USD} ; only a fee
  Assets:B
`, `
2024-01-05 * x
  Assets:A  100 EUR @@ 110 USD
  Assets:A  -50 EUR @@ 56 USD
  Assets:A  -7.5 USD
  Assets:A  1.5 USD
  Assets:B  -48 USD
2024-01-06 * lots
  Assets:Stock  10 HOOL @@ 5000 USD [lot={500.00 USD, 2020-01-01, "first"}]
  Assets:Stock  -1 HOOL @@ 400 USD [lot={{400 USD}} @ 520 USD]
  Assets:Stock  2 HOOL @@ 1009.95 USD [lot={500 # 9.95 USD}]
  Assets:Stock  2 HOOL @@ 9.95 USD [lot={# 9.95 USD}]
  Assets:B  -5619.9 USD
`},
		{"what says nothing about entries is passed over", `
2024-01-01 balance Assets:A  5 ~ 0.01 USD
2024-01-01 close Assets:A
2024-01-01 note Assets:A "two
lines"
2024-01-01 event "place" "Berlin"
  note: "x"
2024-01-01 document Assets:A "x.pdf"
2024-01-01 query "q" "select 1"
2024-01-01 custom "budget" Assets:A "monthly" 5 USD
2024-01-01 commodity EUR
  name: "Euro"
2024-01-01 pad Assets:A Equity:Opening
2024-01-01 P "(Padding inserted)"
  Assets:A  5 USD
  Equity:Opening  -5 USD
`, `
2024-01-01 * (Padding inserted)
  Assets:A  5 USD
  Equity:Opening  -5 USD
`},
	})
}

func TestBeancountNamesAreConvertedToUniqueNames(t *testing.T) {
	t.Parallel()
	j := read(t, notation.Hledger, `
2024-01-31 * (JE-12) January rent
    ; previous:JE-11, tag:trip, link:inv-7, Department:R&D
    Assets:cash  1 usd
    Assets:Cash  -1 usd
    Assets:CASH  1 USD
    Assets:cash!  -1 USD
    Revenue:銀行  1 "1INCH"
    Revenue  -1 "1INCH"
`)
	want := `option "inferred_tolerance_default" "*:0.000001"

1000-01-01 open Assets:Cash
  exact-name: "Assets:cash"
1000-01-01 commodity USD
  exact-name: "usd"
1000-01-01 open Assets:Cash-2
  exact-name: "Assets:Cash"
1000-01-01 open Assets:CASH
1000-01-01 commodity USD-2
  exact-name: "USD"
1000-01-01 open Assets:Cash-3
  exact-name: "Assets:cash!"
1000-01-01 open Income:X銀行
  exact-name: "Revenue:銀行"
1000-01-01 commodity X1INCH
  exact-name: "1INCH"
1000-01-01 open Income:Revenue
  exact-name: "Revenue"

2024-01-31 * "January rent" #trip ^inv-7 ^JE-12 ^JE-11
  number: "JE-12"
  previous: "JE-11"
  tags: "Department:R&D"
  Assets:Cash  1 USD
  Assets:Cash-2  -1 USD
  Assets:CASH  1.00 USD-2
  Assets:Cash-3  -1.00 USD-2
  Income:X銀行  1 X1INCH
  Income:Revenue  -1 X1INCH
`
	if got := write(t, notation.Beancount, j); got != want {
		t.Errorf("%s", got)
	}
}

func TestBeancountMistakesAreNamedWithTheirLine(t *testing.T) {
	t.Parallel()
	const x = "2024-01-01 *\n  Assets:A  "
	checkMistakes(t, notation.Beancount, []mistake{
		{"2024-02-30 * \"x\"\n", `:1: "2024-02-30" is not a date`},
		{"2024-01-01 frob\n", `:1: "frob" is not a directive`},
		{"frob\n", `:1: "frob" is not a directive`},
		{"  Assets:A  1 USD\n", `:1: this line is indented`},
		{"2024-01-01 * x\n", `:1: "x" is not understood; texts belong in quotes`},
		{"2024-01-01 * \"a\" \"b\" \"c\"\n", `:1: a transaction has at most two texts`},
		{"\n2024-01-01 * \"a\nb\n", `:2: the text that begins here has no closing quote`},
		{x + "1 USD\n", `:1: the entry does not balance`},
		{x + "\n  Assets:B\n", `:1: two amounts are missing`},
		{x + "1\n", `:2: the amount has no currency`},
		{x + "USD\n", `:2: "USD" is not an amount`},
		{x + "1 USD x\n", `:2: "x" after the amount is not understood`},
		{x + "1 / 3 USD\n", `:2: the division has no end`},
		{x + "1 / 0 USD\n", `:2: nothing can be divided by zero`},
		{x + "(1 USD\n", `:2: a bracket in the amount has no end`},
		{x + strings.Repeat("(", 200) + "1 USD\n", `:2: the amount has too many brackets`},
		{x + strings.Repeat("99999999999999999999 *", 60) + "1 USD\n", `:2: the amount`},
		{x + "1 HOOL {}\n", `:2: the braces do not say the cost, and lots are not looked up; run "bean-report FILE print"`},
		{x + "1 HOOL {2020-01-01}\n", `:2: the braces do not say the cost`},
		{x + "1 HOOL {5 USD\n", `:2: the cost in braces is not understood`},
		{x + "1 HOOL {{5 USD}\n", `:2: the braces have no end`},
		{x + "1 HOOL {\n", `:2: the braces have no end`},
		{x + "1 HOOL @ 5\n", `:2: the price has no currency`},
		{x + "1 HOOL @ -5 USD\n", `:2: the cost -5 is below zero`},
		{"2024-01-01 *\n  Cash  1 USD\n", `:2: "Cash" is not an account`},
		{"2024-01-01 *\n  Aktiva:A  1 USD\n", `:2: "Aktiva" is none of the five roots`},
		{"2024-01-01 open Cash\n", `:1: "Cash" is not an account`},
		{"2024-01-01 open Aktiva:Cash\n", `:1: "Aktiva" is none of the five roots`},
		{"2024-01-01 open Assets:A\n  what\n", `:2: "what" is not metadata`},
		{"2024-01-01 price EUR USD\n", `:1: "USD" is not an amount`},
		{"2024-01-01 price EUR 5\n", `:1: the price cannot be read`},
		{"\n2024-01-01 pad Assets:A Equity:B\n", `:2: pad makes entries that are not here; run "bean-report FILE print"`},
		{"include \"x\"\n", `:1: other files are not read from here`},
		{"plugin \"my.plugin\"\n", `:1: the plugin my.plugin may change entries`},
		{"option \"x\"\n", `:1: a text in quotes is missing`},
		{"pushmeta 5\n", `:1: the metadata has no name`},
	})
}

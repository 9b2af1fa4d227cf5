package notation_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/notation"
)

func TestCSVHasARowForEachPosting(t *testing.T) {
	t.Parallel()
	j := read(t, notation.Hledger, `
account Assets:Bank  ; type:A, code:1200, id:acc_1
2024-01-31 * (JE-12) Rent, "January"
    ; id:je_1, entity:Acme Inc, Department:R&D, Project:a;b
    Expenses:Rent  1100.00 USD  ; office, Floor:2
    Assets:Bank  -1000 EUR @@ 1100.00 USD
2024-02-01 ! nothing yet
`)
	want := strings.ReplaceAll(
		`entry,entry_id,number,date,instant,intended,status,memo,entity,classification,originated_by,previous,next,tags,`+
			`account,account_type,account_code,account_id,account_tags,debit,credit,currency,base_amount,base_currency,line_memo,line_entity,line_tags
1,je_1,JE-12,2024-01-31,,,posted,"Rent, ""January""",Acme Inc,,,,,Department:R&D;Project:a%3Bb,`+
			`Expenses:Rent,,,,,1100.00,,USD,,,office,,Floor:2
1,je_1,JE-12,2024-01-31,,,posted,"Rent, ""January""",Acme Inc,,,,,Department:R&D;Project:a%3Bb,`+
			`Assets:Bank,Asset,1200,acc_1,,,1000.00,EUR,1100.00,USD,,,
2,,,2024-02-01,,,draft,nothing yet,,,,,,,,,,,,,,,,,,,
`, "\n", "\r\n")
	got := write(t, notation.CSV, j)
	if got != want {
		t.Errorf("%s", got)
	}
	again := read(t, notation.CSV, got)
	if showAccounts(again.accounts) != showAccounts(j.accounts) || showAll(again.entries) != showAll(j.entries) {
		t.Errorf("read as\n%s%s", showAccounts(again.accounts), showAll(again.entries))
	}
}

func TestOthersReadOurCSVTheSame(t *testing.T) {
	t.Parallel()
	j := manyEntries(100, exact)
	rows, err := csv.NewReader(strings.NewReader(write(t, notation.CSV, j))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := 1
	for _, e := range j.entries {
		want += max(1, len(e.Postings))
	}
	if len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	for i, entry := 1, 0; i < len(rows); entry++ {
		// encoding/csv normalizes line endings inside a cell.
		memo := strings.ReplaceAll(j.entries[entry].Memo, "\r\n", "\n")
		if rows[i][7] != memo {
			t.Fatalf("row %d has the memo %q, want %q", i, rows[i][7], memo)
		}
		i += max(1, len(j.entries[entry].Postings))
	}
}

func TestCSVIsReadAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	checkReadings(t, notation.CSV, []reading{
		{"few columns in any order, facts on the first row alone", `Date,Number,Account,Debit,Credit,Currency,Memo,Tags
2024-01-05,1,Expenses:Food,10.50,,EUR,=lunch,Team:Sales; trip
,1,Assets:Cash,,10.50,EUR,,

2024-01-06,2,"Assets:Bank%3A ""EUR"", main",5,,EUR,,
2024-01-06,2,Assets:50%41,,5,EUR,,
`, `
2024-01-05 * (1) =lunch [Team=Sales] [tag=trip]
  Expenses:Food  10.5 EUR
  Assets:Cash  -10.5 EUR
2024-01-06 * (2)
  Assets:Bank: "EUR", main  5 EUR
  Assets:50%41  -5 EUR
`},
		{"entries that do not balance, for drafts are not finished",
			"entry,date,status,account,debit,credit,currency\n7,2024-01-05,draft,a,1,,EUR\n", `
2024-01-05 !
  a  1 EUR
`},
	})
}

func TestCSVMistakesAreNamedWithTheirLine(t *testing.T) {
	t.Parallel()
	const head = "entry,date,account,debit,credit,currency,base_amount,base_currency,status,account_type\n"
	checkMistakes(t, notation.CSV, []mistake{
		{"", `:1: the file is empty; its first row must name the columns: entry, entry_id, number`},
		{"entry,konto\n", `:1: the column "konto" is unknown; the columns are entry, entry_id, number, date`},
		{"date;account\n", `:1: the column "date;account" is unknown; the columns are`},
		{"date,date\n", `:1: the column "date" occurs twice; remove one of them`},
		{"date,account,debit,credit\n", `:1: the column "currency" is missing; add it to the first row`},
		{head + "1,2024-01-01\n", `:2: the row has 2 cells, but the header has 10; enclose cells that contain commas in quotation marks`},
		{head + ",2024-01-01,a,1,,EUR,,,,\n", `:2: the row does not name its entry; fill in entry, entry_id or number`},
		{head + "1,2024-13-01,a,1,,EUR,,,,\n", `:2: the date "2024-13-01" must be written like 2006-01-31`},
		{head + "1,2024-01-01,a,1,,EUR,,,,\n1,2024-01-02,a,,1,EUR,,,,\n", `:3: date is "2024-01-02" here, but "2024-01-01" in the first row of the entry; all rows of an entry must have the same value`},
		{head + "1,2024-01-01,a,1,1,EUR,,,,\n", `:2: exactly one of debit and credit must contain an amount`},
		{head + "1,2024-01-01,a,,,EUR,,,,\n", `:2: exactly one of debit and credit must contain an amount`},
		{head + "1,2024-01-01,a,\"1,5\",,EUR,,,,\n", `:2: the amount "1,5" must be a decimal string`},
		{head + "1,2024-01-01,a,-1,,EUR,,,,\n", `:2: the amount -1 must be above zero`},
		{head + "1,2024-01-01,a,1,,,,,,\n", `:2: the amount 1 has no currency`},
		{head + "1,2024-01-01,a,1,,EUR,x,USD,,\n", `:2: the base amount "x" must be`},
		{head + "1,2024-01-01,a,1,,EUR,1,EUR,,\n", `:2: a base amount must be in another currency`},
		{head + "1,2024-01-01,a,1,,EUR,,USD,,\n", `:2: there is a base currency but no base amount`},
		{head + "1,2024-01-01,,1,,EUR,,,,\n", `:2: the row has a debit but no account; fill in the account`},
		{head + "1,2024-01-01,a,1,,EUR,,,done,\n", `:2: the status must be posted or draft, but is "done"`},
		{head + "1,2024-01-01,a,1,,EUR,,,,Cash\n", `:2: account a has the type "Cash"`},
		{head + "\n1,2024-01-01,\"a\nb,1,,EUR,,,,\n", `:3: the cell that begins here has no closing quotation mark; add one`},
		{head + "1,2024-01-01,\"a\"b,1,,EUR,,,,\n", `:2: a comma is missing between the closing quotation mark and "b,1,,EUR,,,,"`},
		{head + "1,2024-01-01,a\"b,1,,EUR,,,,\n", `:2: the cell "a\"b" contains a quotation mark; enclose the cell in quotation marks`},
	})
}

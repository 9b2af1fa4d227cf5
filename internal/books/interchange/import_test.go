package interchange_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// texts returns the entries ordered by number, without what differs each time.
func (w *world) texts() (out []string) {
	w.t.Helper()
	n := &names{entities: map[string]string{}, tags: map[string]string{}, accounts: map[string]string{}, plain: true}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		if err := n.fill(ctx, tx); err != nil {
			return err
		}
		return journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
			var b strings.Builder
			fmt.Fprintf(&b, "%s %s %q %s %v\n", e.AccountingDate.Format("2006-01-02T15:04Z"), e.Status, e.Memo, e.Classification, n.tagsOf(e.TagIDs))
			for _, l := range e.Lines {
				fmt.Fprintf(&b, "%s %s %s %s", l.Side, n.accounts[l.LedgerAccountID], l.Amount.Fixed(l.Currency), l.Currency)
				if l.Base != nil && !l.Base.Equal(l.Amount) {
					fmt.Fprintf(&b, " = %s", l.Base)
				}
				fmt.Fprintf(&b, " %q %v\n", l.Memo, n.tagsOf(l.TagIDs))
			}
			out = append(out, b.String())
			return nil
		})
	})
	return out
}

// reads imports a journal into new books in USD and compares the resulting entries.
func reads(t *testing.T, s *apitest.Service, format notation.Format, text string, want ...string) *world {
	t.Helper()
	w := newWorld(t, s, "UTC", company{"Acme", "USD"})
	w.importText(format, text)
	if got := w.texts(); !slices.Equal(got, want) {
		t.Errorf("%s\ncame in as\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return w
}

func TestAFaultyJournalIsRefusedAndSaysWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := newWorld(t, s, "UTC", company{"Acme", "USD"})
		for text, says := range map[string][]string{
			"2025-01-01 x\n  Kasse  1 USD\n  Expenses:Food\n": {"books:2: the type of " +
				"the account \"Kasse\" is unknown: begin its name with Assets", "declare its type"},
			"2025-01-01 x\n  Assets:Cash and bank  1 USD\n  Expenses:Food\n": {"books:2: ",
				"\"Assets:Cash and bank\" only groups the accounts below it: post to one of them"},
			"2025-01-01 x\n  Equity:Current earnings  1 USD\n  Expenses:Food\n": {"books:2: ", "only groups"},
			"2025-01-01 x\n  ; entity:Nobody\n  Assets:A  1 USD\n  Assets:B\n": {"books:1: there is no " +
				"legal entity \"Nobody\": create it first"},
			"2025-01-01 x\n  Assets:A  1 USD  ; entity:Nobody\n  Assets:B  -1 USD  ; entity:Nobody\n": {"books:2: there is no " +
				"legal entity \"Nobody\": create it first"},
			"2025-01-01 x\n  Assets:A  1 EUR\n  Assets:B\n": {"books:1: lines no rate " +
				"from EUR to USD is stored for 2025-01-01"},
			"2025-01-01 x\n  Assets:A  1 ETH\n  Assets:B\n": {"books:2: the value of 1 " +
				"ETH is missing: state what they cost, such as 1 ETH @@ 100.00 USD"},
			"2025-01-01 x\n  Assets:A  1 usd\n  Assets:B\n": {"books:2: currency must " +
				"be written USD", "books:3: currency"},
			"2025-01-01 x\n  Assets:A  1 \"green apples\" @@ 1 USD\n  Assets:B  -1 \"green apples\" @@ 1 USD\n": {"books:2: currency must " +
				"be a currency such as USD", "books:3: currency"},
			"1950-01-01 x\n  Assets:A  1 USD\n  Assets:B\n": {"books:1: accounting_date must lie between 1970 and"},
			"2025-01-01 x\n  ; instant:2025-01-03T12:00:00Z\n  Assets:A  1 USD\n  Assets:B\n": {"books:1: the entry is " +
				"dated 2025-01-01, but its instant 2025-01-03T12:00:00Z is not on that day"},
			"2025-01-03 x\n  ; instant:2025-01-01T12:00:00Z\n  Assets:A  1 USD\n  Assets:B\n": {"books:1: the entry is " +
				"dated 2025-01-03"},
			"2025-01-01 x\n  ; instant:noon\n  Assets:A  1 USD\n  Assets:B\n": {"books:1: the instant " +
				"\"noon\" is not a time such as"},
			"2025-01-01 x\n  ; intended:noon\n  Assets:A  1 USD\n  Assets:B\n": {"books:1: intended_accounting_date must be"},
			"2025-01-01 x\x00y\n  Assets:A  1 USD\n  Assets:B\n": {"books:1: a text " +
				"contains a NUL character; remove it"},
			"2025-01-01 x\n  Assets:A\x00  1 USD\n  Assets:B\n": {"books:2: a text " +
				"contains a NUL character"},
			"2025-01-01 x\n  Assets:A  1 USD  ; a\x00b\n  Assets:B\n": {"books:2: a text " +
				"contains a NUL character"},
			"2025-01-01 x\n  Assets:A  1 USD\n  ; project:\x00\n  Assets:B\n": {"books:2: a text " +
				"contains a NUL character"},
			"account Assets:A\x00  ; type:A\n": {"books:1: a text " +
				"contains a NUL character"},
			"P 2025-01-01 EUR 1 USD  ; source:\x00\n": {"books:1: a text " +
				"contains a NUL character"},
			"P 2025-01-01 EUR 1 USD  ; source:" + strings.Repeat("x", 201) + "\n": {"books:1: the source of the rate has more than 200 characters"},
			"P 2025-01-01 EUR 0 USD\n": {"books:1: the rate from EUR to USD must be more than 0"},
			"2025-01-01 " + strings.Repeat("x", 2001) +
				"\n  Assets:A  1 USD\n  Assets:B\n": {"books:1: the memo has 2001 characters: shorten it to at most 2000"},
			"2025-01-01 x\n  Assets:A  1 USD  ; " + strings.Repeat("x", 2001) +
				"\n  Assets:B\n": {"books:2: the memo has 2001 characters"},
			"2025-01-01 x\n  Assets:" + strings.Repeat("x", 201) + "  1 USD\n  Assets:B\n": {"books:2: the account",
				"cannot be created: its name must have at most 200 characters"},
			"2025-01-01 x\n" + strings.Repeat("  Assets:A  1 USD\n", 1000) +
				"  Assets:B\n": {"books:1: lines must have 2 to 1000 lines"},
			"2025-01-01 x\n  Assets:A  1 USD\n  Assets:B  -2 USD\n": {"books:1: the entry " +
				"does not balance"},
			"2025-01-01 x\n  Assets:A  1 USD\n  Assets:B  -1 USD\n\n2025-01-02 y\n  Assets:A  1 USD\n  Kasse\n": {"books:7: the type of " +
				"the account \"Kasse\" is unknown"},
		} {
			w.refuses(t, text, says...)
		}
		if _, err := w.App.Accounts.Archive(w.ctx, w.account("1420")); err != nil {
			t.Fatal(err)
		}
		w.refuses(t, "2025-01-01 x\n  Assets:Other current assets:Reserves held by processors  1 USD\n  Assets:B\n",
			"books:2: the account \"Assets:Other current assets:Reserves held by processors\" is archived: unarchive it first, or post "+
				"to another account")
		w.refuses(t, "2025-01-01 x\n  Assets:Other current assets:Reserves held by processors:Below  1 USD\n  Assets:B\n", "books:2: ",
			"is archived; unarchive it first")
	})
}

func TestAFaultInTheLastEntryOfManyUndoesAllOfThem(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := newWorld(t, s, "UTC", company{"Acme", "USD"})
		var b strings.Builder
		b.WriteString("account Assets:Declared\nP 2025-01-01 EUR 1.1 USD\n")
		for i := range 1200 {
			fmt.Fprintf(&b, "2025-01-01 entry %d  ; project:P%d\n  Assets:New %d  1 USD\n  Revenue:New\n", i, i%50, i%20)
		}
		w.refuses(t, b.String()+"2025-01-01 last\n  Assets:New  1 GBP\n  Revenue:New\n",
			"books:3603: lines no rate from GBP to USD is stored for 2025-01-01")
		w.refuses(t, b.String()+"2025-01-01 last\n  Assets:New  1 GBP\n  Revenue:New  1 USD\n", "books:3603: the entry does not balance")
		w.refuses(t, b.String()+"2025-01-01 last\n  Assets:New  1 USD\n  Revenue:New  x\n", "books:3605: ")
	})
}

func TestWhoseBooksAJournalIsForMustBeClear(t *testing.T) {
	t.Parallel()
	const plain = "2025-01-01 x\n  Assets:A  1\n  Assets:B\n"
	const text = "D 1.00 EUR\n" + plain
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := newWorld(t, s, "UTC", company{"One", "EUR"}, company{"Two", "EUR"}, company{"Two", "EUR"})
		e := w.entities()
		w.refuses(t, text, "books:2: the entry names no legal entity, and there are several: choose one with --legal-entity")
		for name, says := range map[string]string{
			"Three": "there is no legal entity \"Three\"; choose one of One, Two, Two", "Two": "there are 2 legal entities named \"Two\": give " +
				"the id of one of them, " + e[1].ID + " or " + e[2].ID,
		} {
			w.refusesOf(t, interchange.ImportParams{LegalEntity: name}, text, says)
			err := w.App.Exchange.Export(w.ctx, interchange.ExportParams{LegalEntity: name}, notation.NewWriter(notation.CSV, &strings.Builder{}))
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("export: %v", err)
			}
		}
		for i, given := range []string{"One", e[0].ID, e[2].ID} {
			another := strings.Replace(text, "2025-01-01", fmt.Sprintf("2025-01-0%d", i+1), 1)
			if _, err := w.tryImport(interchange.ImportParams{LegalEntity: given}, another); err != nil {
				t.Fatal(err)
			}
			for only, want := range map[string]int{e[0].ID: min(i+1, 2), e[1].ID: 0, e[2].ID: max(i-1, 0)} {
				if got := len(splitEntries("\n\n" + w.export(notation.Hledger, interchange.ExportParams{LegalEntity: only}))); got != want {
					t.Errorf("after %s there are %d entries of %s, want %d", given, got, only, want)
				}
			}
		}
		// An entry may name a legal entity by its id or by its label in exports.
		for _, name := range []string{e[1].ID, "Two", "Two (2)"} {
			w.importText(notation.Hledger, strings.Replace(text, "  Assets:A", "  ; entity:"+name+"\n  Assets:A", 1))
		}
		if two, three := splitEntries("\n\n"+w.export(notation.Hledger, interchange.ExportParams{LegalEntity: e[1].ID})), splitEntries("\n\n"+
			w.export(notation.Hledger, interchange.ExportParams{LegalEntity: e[2].ID})); len(two) != 2 || len(three) != 2 ||
			!strings.Contains(two[0], "entity:Two,") || !strings.Contains(three[1], "entity:Two (2),") {
			t.Errorf("%q %q", two, three)
		}
	})
}

func TestAnExportOfOneLegalEntityHasItsEntriesWhole(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := oddBooks(t, s)
		e := w.entities()
		all, n := splitEntries(w.export(notation.Hledger, exportAll)), 0
		for i := range e {
			part := splitEntries(w.export(notation.Hledger, interchange.ExportParams{LegalEntity: e[i].ID}))
			for _, entry := range part {
				if !slices.Contains(all, entry) {
					t.Errorf("not among all:\n%s", entry)
				}
			}
			n += len(part)
		}
		if n != len(all)+3 { // one entry has lines of all four
			t.Errorf("%d and %d", n, len(all))
		}
		posted := splitEntries(w.export(notation.Hledger, interchange.ExportParams{WithoutDrafts: true}))
		if want := slices.DeleteFunc(slices.Clone(all), func(e string) bool {
			return e[11] == '!'
		}); !slices.Equal(posted, want) || len(posted) == len(all) {
			t.Errorf("%d posted of %d, want %d", len(posted), len(all), len(want))
		}
	})
}

func TestWhatADirectiveSaysHoldsForEntriesAboveIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := reads(t, s, notation.Hledger, `
2025-01-01 x
    Kasse:klein  10 EUR
    Aufwand:Büro  -10 EUR
account Kasse  ; type:A
account Kasse:klein  ; code:x1, clearing:yes
account Aufwand:Büro  ; type:X, code:1010, normal-balance:credit
account Darlehen:Bank  ; type:L
account assets  ; type:A
account Umlauf
P 2025-01-01 EUR 1.10 USD
P 2025-01-01 EUR 1.20 USD
P 2025-01-01 AAPL 200 USD
`, "2025-01-01T00:00Z posted \"x\" UNKNOWN []\nDEBIT Asset/Kasse/klein 10.00 EUR = 12 \"\" []\nCREDIT Expense/Aufwand/Büro 10.00 "+
			"EUR = 12 \"\" []\n")
		made := map[string]string{}
		w.read(func(ctx context.Context, tx *db.Tx) error {
			accounts, err := account.All(ctx, tx)
			for _, a := range accounts {
				made[a.Name] = fmt.Sprintf("%s %q %s %t", a.Type, a.Code, a.NormalBalance, a.Clearing)
			}
			return err
		})
		for name, want := range map[string]string{
			"Kasse": `Asset "" debit false`, "klein": `Asset "x1" debit true`, "Büro": `Expense "" credit false`,
			"Darlehen": `Liability "" credit false`, "Umlauf": "", "assets": "",
		} {
			if made[name] != want {
				t.Errorf("%s is %s, want %s", name, made[name], want)
			}
		}
	})
}

func TestPostingsOnRetainedEarningsGoWhereTheyMay(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		reads(t, s, notation.Hledger, "2025-01-01 opening\n  Assets:Bank  1 USD\n  Equity:Retained earnings\n",
			"2025-01-01T00:00Z posted \"opening\" UNKNOWN []\nDEBIT Asset/Bank 1.00 USD \"\" []\nCREDIT Equity/Retained earnings/Retained "+
				"earnings, posted 1.00 USD \"\" []\n")
	})
}

func TestTextsWithoutAFieldAreKeptInTagsAndMemos(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 101)
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		reads(t, s, notation.Hledger, `
2025-01-01 * (INV-17) Customer
    ; id:abc123, classification:groceries, Department:Research, color:blue, empty:, supplier:, `+long+`:x
    Assets:Bank  1 USD  ; customer: Northwind , url:https://example.com/`+long+`
    Revenue:Sales
2025-01-02 ! (JE-7)
    ; classification:SWAP, originated-by:reversal, previous:JE-3
    Assets:Bank  1 USD
    Revenue:Sales
2025-01-03 only a check
    Assets:Bank  0 USD = 2 USD
2025-01-04 nothing at all
`, "2025-01-01T00:00Z posted \"(INV-17) Customer\\n"+long+
			": x\" UNKNOWN [department=Research custom=color: blue custom=empty custom=supplier custom=id: abc123 custom=classification: "+
			"groceries]\n"+
			"DEBIT Asset/Bank 1.00 USD \"url: https://example.com/"+long+"\" [customer=Northwind]\nCREDIT Revenue/Sales 1.00 USD \"\" []\n",
			"2025-01-02T00:00Z draft \"\" SWAP []\nDEBIT Asset/Bank 1.00 USD \"\" []\nCREDIT Revenue/Sales 1.00 USD \"\" []\n")
	})
}

func TestAssetsAreBookedAtTheirCost(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := reads(t, s, notation.Hledger, `
2025-01-01 buy
    Assets:Shares  10 AAPL @ $150.25  ; long term
    Assets:Bank  $-1502.50
2025-01-02 airdrop
    Assets:Tokens  5 FOO @@ 0 USD
    Assets:Other  7 BAR @@ 3 USD
    Revenue:Rewards  -3 USD
2025-01-03 worth nothing
    Assets:Tokens  5 FOO @@ 0 USD
    Revenue:Rewards
2025-01-04 moved
    Assets:Cold  2 ETH @@ $3000
    Assets:Hot  -2 ETH @@ $3000
2025-01-05 change
    Assets:Euros  100 EUR @ 1.1 USD
    Assets:Bank  -110 USD
`,
			"2025-01-01T00:00Z posted \"buy\" UNKNOWN []\nDEBIT Asset/Shares 1502.50 USD \"10 AAPL: long term\" []\nCREDIT Asset/Bank "+
				"1502.50 USD \"\" []\n",
			"2025-01-02T00:00Z posted \"airdrop\\n5 FOO at no cost\" UNKNOWN []\nDEBIT Asset/Other 3.00 USD \"7 BAR\" []\nCREDIT "+
				"Revenue/Rewards 3.00 USD \"\" []\n",
			"2025-01-04T00:00Z posted \"moved\" UNKNOWN []\nDEBIT Asset/Cold 2 ETH = 3000 \"\" []\nCREDIT Asset/Hot 2 ETH = 3000 \"\" []\n",
			"2025-01-05T00:00Z posted \"change\" UNKNOWN []\nDEBIT Asset/Euros 110.00 USD \"100 EUR\" []\nCREDIT Asset/Bank 110.00 USD \"\" []\n")
		if _, err := w.tryImport(interchange.ImportParams{},
			"2025-01-03 worth nothing\n  Assets:Tokens  5 FOO @@ 0 USD\n  Revenue:Rewards\n"); err != nil {
			t.Error(err)
		}
	})
}

func TestADollarIsThatOfTheBooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for currency, want := range map[string]string{"USD": "USD", "CAD": "CAD", "SGD": "SGD", "EUR": "USD"} {
			w := newWorld(t, s, "UTC", company{"Acme", currency})
			w.importText(notation.Hledger, "P 2025-01-01 USD 0.9 EUR\n2025-01-01 x\n  Assets:Bank  $1\n  Revenue:Sales\n")
			if got := w.texts()[0]; !strings.Contains(got, "DEBIT Asset/Bank 1.00 "+want) {
				t.Errorf("in books of %s: %s", currency, got)
			}
		}
		reads(t, s, notation.Hledger, "P 2025-01-01 EUR 2 USD\nP 2025-01-01 GBP 3 USD\n2025-01-01 x\n  Assets:Bank  €1\n  "+
			"Revenue:Sales\n2025-01-01 y\n  Assets:Bank  £1.00\n  Revenue:Sales\n",
			"2025-01-01T00:00Z posted \"x\" UNKNOWN []\nDEBIT Asset/Bank 1.00 EUR = 2 \"\" []\nCREDIT Revenue/Sales 1.00 EUR = 2 \"\" []\n",
			"2025-01-01T00:00Z posted \"y\" UNKNOWN []\nDEBIT Asset/Bank 1.00 GBP = 3 \"\" []\nCREDIT Revenue/Sales 1.00 GBP = 3 \"\" []\n")
	})
}

func TestEntriesOfClosedMonthsMoveToTheFirstOpenOne(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := newWorld(t, s, "UTC", company{"Acme", "USD"}, company{"Zweite GmbH", "EUR"})
		w.oddRates()
		w.oddAccounts()
		w.oddMonths() // January is closed for the second company
		text := "2025-01-20 *\n  ; entity:%s\n  Assets:Bank  1 %s\n  Revenue:Sales\n"
		if done := w.importText(notation.Hledger, fmt.Sprintf(text, "Acme", "USD")); done != (interchange.Imported{Entries: 1, Accounts: 2}) {
			t.Errorf("%+v", done)
		}
		if done := w.importText(notation.Hledger, fmt.Sprintf(text, "Zweite GmbH", "EUR")); done != (interchange.Imported{Entries: 1, Moved: 1}) {
			t.Errorf("%+v", done)
		}
		texts := w.texts()
		if last := texts[len(texts)-1]; !strings.HasPrefix(last, "2025-02-01T00:00Z posted") {
			t.Error(last)
		}
	})
}

func TestEveryDigitCounts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := newWorld(t, s, "UTC", company{"Acme", "USD"})
		const amount = "0.000000000000000000000000000001"
		for _, format := range notation.Formats {
			text := map[notation.Format]string{
				notation.Hledger: "2025-01-01 x\n  Assets:Bank  " + amount +
					" USD\n  Revenue:Sales\n", notation.Beancount: "2025-01-01 * \"x\"\n  Assets:Bank  " + amount + " USD\n  Income:Sales\n",
				notation.CSV: "number,date,account,debit,credit,currency\nx,2025-01-01,Assets:Bank," + amount +
					",,USD\nx,2025-01-01,Revenue:Sales,," + amount + ",USD\n",
			}[format]
			w.importText(format, text)
		}
		w.read(func(ctx context.Context, tx *db.Tx) error {
			return journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
				for _, l := range e.Lines {
					if !l.Amount.Equal(money.MustParse(amount)) || l.Base == nil || !l.Base.Equal(l.Amount) {
						t.Errorf("%s %v", l.Amount, l.Base)
					}
				}
				return nil
			})
		})
	})
}

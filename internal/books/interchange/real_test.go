package interchange_test

import (
	"context"
	"encoding/csv"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// booked sums the entries of our books after an import at cost, including drafts, by account name and month.
func (w *world) booked() cells {
	w.t.Helper()
	out := cells{}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		accounts, err := account.All(ctx, tx)
		if err != nil {
			return err
		}
		byID := map[string]account.Account{}
		for _, a := range accounts {
			byID[a.ID] = a
		}
		return journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
			for _, l := range e.Lines {
				path := ""
				for a, there := byID[l.LedgerAccountID], true; there; a, there = byID[a.ParentID] {
					path = ":" + a.Name + path
				}
				amount := l.Amount
				if l.Base != nil {
					amount = *l.Base
				}
				if l.Side == book.Credit {
					amount = amount.Neg()
				}
				out.sum(normalizeName(string(byID[l.LedgerAccountID].Type)+path), e.AccountingDate.Format("2006-01"), amount)
			}
			return nil
		})
	})
	return out
}

// normalizeName normalizes the name of an account, independent of the name of its root.
func normalizeName(name string) string {
	root, rest, _ := strings.Cut(strings.ToLower(name), ":")
	switch kind := notation.TypeOfRoot(root); {
	case kind != "":
		return kind + " " + rest
	case root == "aktiva" || root == "passiva" || root == "kapital" || root == "erträge" || root == "aufwand":
		kind := map[string]string{"aktiva": notation.Asset, "passiva": notation.Liability, "kapital": notation.Equity,
			"erträge": notation.Revenue, "aufwand": notation.Expense}[root]
		return kind + " " + strings.ToLower(name)
	}
	return name
}

// hledgerTotals returns hledger's totals of a journal at cost, with all digits.
func hledgerTotals(t rapid.TB, text, symbol string) cells {
	t.Helper()
	printed := run(t, text, "hledger", "-f", "FILE", "balance", "--flat", "--no-total", "--monthly", "--cost", "-O", "csv",
		"--layout=tidy", "-c", "1.00000000000000000000 "+symbol)
	rows, err := csv.NewReader(strings.NewReader(printed)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := cells{}
	for _, row := range rows[1:] {
		if row[4] != "" && row[4] != symbol && row[5] != "0" {
			t.Errorf("%q is not at cost in %s", row, symbol)
		}
		out.add(t, normalizeName(row[0]), row[1], row[5])
	}
	return out
}

func beancountTotals(t rapid.TB, text string) cells {
	t.Helper()
	printed := run(t, text, "bean-query", "-f", "csv", "FILE",
		"SELECT account, year, month, str(sum(number(weight))) AS w GROUP BY account, year, month")
	rows, err := csv.NewReader(strings.NewReader(printed)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := cells{}
	for _, row := range rows[1:] {
		number, ok := new(big.Rat).SetString(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(row[3]), "Decimal('"), "')"))
		if !ok {
			t.Fatalf("%q", row)
		}
		month := strings.TrimSpace(row[2])
		if len(month) == 1 {
			month = "0" + month
		}
		out.add(t, normalizeName(strings.TrimSpace(row[0])), row[1]+"-"+month, number.FloatString(12))
	}
	return out
}

func TestRealJournalsYieldTheTotalsOfTheirOwnProgram(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for file, c := range map[string]struct {
			currency, symbol string
			want             interchange.Imported
		}{
			"freelancer.journal": {"USD", "$", interchange.Imported{Entries: 10, Empty: 1, Accounts: 20, Rates: 2}},
			"verein.journal":     {"EUR", "€", interchange.Imported{Entries: 5, Accounts: 14}},
			"wallets.journal":    {"USD", "$", interchange.Imported{Entries: 5, Accounts: 14}},
			"startup.beancount":  {"USD", "", interchange.Imported{Entries: 8, Accounts: 21, Rates: 1}},
		} {
			text, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, s, "UTC", company{"Acme", c.currency})
			format := notation.Hledger
			if filepath.Ext(file) == ".beancount" {
				format = notation.Beancount
			}
			if done := w.importText(format, string(text)); done != c.want {
				t.Errorf("%s: %+v, want %+v", file, done, c.want)
			}
			got := w.booked()
			if format == notation.Beancount {
				run(t, string(text), "bean-check", "FILE")
				maps.DeleteFunc(got, func(_ string, d money.Decimal) bool { return d.Round(12).IsZero() })
				for at, d := range got {
					got[at] = d.Round(12)
				}
				sameCells(t, file, beancountTotals(t, string(text)), got)
			} else {
				sameCells(t, file, hledgerTotals(t, string(text), c.symbol), got)
			}
			// Exporting and importing it again yields the same.
			sameCells(t, "our export of "+file, hledgerTotals(t, w.export(notation.Hledger, exportAll), c.currency), w.booked())
			roundTrip(t, w, "hledger")
		}
	})
}

func TestNothingInAJournalIsLost(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for file, words := range map[string][]string{
			"freelancer.journal": {"INV-101", "Acme Corp | logo design", "client: acme", "50% up front", "https://example.com/brief?id=17",
				"with Sam, at 10:30", "office", "trip: lisbon", "portfolio", "1042", "2024-01-06", "10 VTI.US"},
			"startup.beancount": {"GitHub | Seats for January", "tag: software", "tag: q1", "link: inv-2024-001", "invoice: GH-99871",
				"seats: 20", "team: platform", "Stripe | Payout | week 1",
				"link: trade-7", "4 AAPL", "185.64 USD, 2024-01-15"},
			"wallets.journal": {"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b", "network: ethereum", "validator",
				"5000 SPAMCOIN at no cost", "0.031847562018230114 ETH"},
		} {
			text, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, s, "UTC", company{"Acme", "USD"})
			format := notation.Hledger
			if filepath.Ext(file) == ".beancount" {
				format = notation.Beancount
			}
			w.importText(format, string(text))
			all := strings.Join(w.content(true).entries, "\n")
			w.read(func(ctx context.Context, tx *db.Tx) error {
				tags, err := tag.All(ctx, tx)
				for _, g := range tags {
					all += "\n" + g.Name
				}
				return err
			})
			missing := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return strings.Contains(all, word) })
			if len(missing) > 0 {
				t.Errorf("%s: nothing is left of %q in\n%s", file, missing, all)
			}
		}
	})
}

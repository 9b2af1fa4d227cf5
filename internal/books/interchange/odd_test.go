package interchange_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// oddNames are names that some format would cut, trim, normalize or misread.
var oddNames = []string{
	"Bank: EUR; main", "two  spaces", " edges ", "100%41", "50% off", "(bracketed)", "[2024-01-01]", "* starred", "! flagged",
	`"quoted" \ 'too'`, "Straße, Zürich", "銀行 🏦", "Assets",
	"a\tb", "x = 5 USD", "@@ 5 EUR", "; comment", "date:2024-01-01", "type:L", "=1+1", "#tag ^link", "2024", "é", "e\u0301",
	strings.Repeat("long ", 20) + "end",
}

// oddBooks creates books that use every feature.
func oddBooks(t rapid.TB, s *apitest.Service) *world {
	t.Helper()
	w := newWorld(t, s, "Pacific/Auckland", company{`Ácme; "Inc": 100%41, Ltd`, "USD"}, company{"Zweite GmbH", "EUR"},
		company{"Zweite GmbH", "JPY"}, company{" spaced ", "USD"})
	w.oddRates()
	w.oddAccounts()
	w.oddEntries()
	w.oddChains()
	w.oddMonths()
	return w
}

func (w *world) oddRates() {
	w.t.Helper()
	rates := []fx.StoreParams{{Base: "CHF", Quote: "EUR", Date: "2025-01-02", Rate: "1.07", Source: "100%41"}}
	for day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == 2025 && day.Month() < 5; day = day.AddDate(0, 0, 1) {
		date := day.Format(time.DateOnly)
		rates = append(rates,
			fx.StoreParams{Base: "EUR", Quote: "USD", Date: date, Rate: "1.0833333333333333333333", Source: "ECB; daily, 16:00"},
			fx.StoreParams{Base: "USD", Quote: "EUR", Date: date, Rate: "0.9" + date[8:]}, fx.StoreParams{Base: "USD", Quote: "JPY", Date: date,
				Rate: "150.123"})
	}
	if _, err := w.App.FX.Store(w.ctx, rates); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) createAccount(p account.CreateParams) account.Account {
	w.t.Helper()
	a, err := w.App.Accounts.Create(w.ctx, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// oddAccounts creates a chart whose accounts differ only in their exact names. The codes of postable accounts begin
// with x.
func (w *world) oddAccounts() {
	w.t.Helper()
	group := w.createAccount(account.CreateParams{Name: "Group: of; odd", Type: account.Asset, Postable: new(bool)})
	above := group.ID
	for i, name := range oddNames {
		p := account.CreateParams{Name: name, Code: "x" + string(rune('A'+i)), Type: account.Asset, ParentID: above}
		if i%3 == 0 {
			p.NormalBalance = account.Credit
		}
		p.Clearing = i%5 == 0
		if i%4 == 0 {
			p.Monetary = new(i%8 == 0)
		}
		if i%7 == 0 {
			p.AssetType = "ETH; wrapped"
		}
		if made := w.createAccount(p); i%6 == 2 {
			above = made.ID // so that the accounts are nested
		}
	}
	for _, kind := range []account.Type{account.Liability, account.Equity, account.Revenue, account.Expense} {
		w.createAccount(account.CreateParams{Name: "Odd: " + string(kind), Code: "x" + string(kind), Type: kind})
		w.createAccount(account.CreateParams{Name: "Contra " + string(kind), Code: "x-" + string(kind), Type: kind,
			NormalBalance: kind.NormalBalance().Contra()})
	}
	old := w.createAccount(account.CreateParams{Name: "Old bank", Code: "xold", Type: account.Asset})
	below := w.createAccount(account.CreateParams{Name: "Old sub-account", Code: "xoldsub", Type: account.Asset, ParentID: old.ID})
	w.post(journal.CreateParams{AccountingDate: "2025-01-01", Lines: []journal.LineParams{w.line("Dr xold 5"), w.line("Cr xoldsub 5")}})
	w.post(journal.CreateParams{AccountingDate: "2025-01-02", Lines: []journal.LineParams{w.line("Cr xold 5"), w.line("Dr xoldsub 5")}})
	for _, id := range []string{below.ID, old.ID} {
		if _, err := w.App.Accounts.Archive(w.ctx, id); err != nil {
			w.t.Fatal(err)
		}
	}
	// The system accounts have roles and may have any name.
	name := "Zu klären: später"
	if _, err := w.App.Accounts.Update(w.ctx, w.account("1910"), account.UpdateParams{Name: &name}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) createTag(kind tag.Kind, name string) string {
	w.t.Helper()
	made, err := w.App.Tags.Create(w.ctx, kind, name)
	if err != nil {
		w.t.Fatal(err)
	}
	return made.ID
}

func withTags(ids ...string) func(*journal.LineParams) {
	return func(l *journal.LineParams) { l.TagIDs = ids }
}

func ofEntity(id string) func(*journal.LineParams) {
	return func(l *journal.LineParams) { l.LegalEntityID = id }
}

func withMemo(memo string) func(*journal.LineParams) {
	return func(l *journal.LineParams) { l.Memo = memo }
}

// oddEntries creates posted and draft entries with odd texts, tags of every kind, many digits, currencies and legal
// entities.
func (w *world) oddEntries() {
	w.t.Helper()
	e := w.entities()
	var tags []string
	for i, name := range oddNames {
		if kind := tag.Kinds[i%len(tag.Kinds)]; i < 20 {
			tags = append(tags, w.createTag(kind, name))
		}
	}
	tags = append(tags, w.createTag(tag.Custom, "Department: Research"), w.createTag(tag.Department, "Research"),
		w.createTag(tag.Project, "Research"), w.createTag(tag.Custom, strings.Repeat("ü", tag.NameMax)))
	for i, text := range oddNames {
		code := "x" + string(rune('A'+i))
		status := journal.Posted
		if i%4 == 3 {
			status = journal.Draft
		}
		w.post(journal.CreateParams{
			AccountingDate: "2025-01-31T23:59:59.987+13:00", Memo: text, Status: status, TagIDs: tags[i%5 : i%5+i%3],
			Lines: []journal.LineParams{w.line("Dr "+code+" 10.50", withMemo(text), withTags(tags[i%len(tags)])),
				w.line("Cr x-Equity 10.50", withMemo(text+"\n"+text), withTags(tags[:i%7]...))},
		})
	}
	w.post(journal.CreateParams{AccountingDate: "2025-02-01", Memo: strings.Repeat("é", journal.MemoMax), Lines: []journal.LineParams{
		w.line("Dr xA 12345678901234567890123456789012345678.123456789012345678901234567891"),
		w.line("Cr xB 12345678901234567890123456789012345678.123456789012345678901234567891"),
	}})
	w.post(journal.CreateParams{LegalEntityID: e[1].ID, AccountingDate: "2025-02-02", Memo: "one\n\nthree\n", Lines: []journal.LineParams{
		w.line("Dr xC 33.33 USD"), w.line("Dr xD 33.33 USD"), w.line("Cr xB 66.66 USD"), w.line("Dr xExpense 7"), w.line("Cr 1910 7"),
	}})
	w.post(journal.CreateParams{LegalEntityID: e[2].ID, AccountingDate: "2025-02-03", Memo: "of three companies", TagIDs: tags[20:22],
		Lines: []journal.LineParams{
			w.line("Dr xA 100.5 EUR", ofEntity(e[1].ID)), w.line("Cr xRevenue 100.5 EUR", ofEntity(e[1].ID), withTags(tags[23])),
			w.line("Dr xA 100.5 EUR", ofEntity(e[0].ID)), w.line("Cr xRevenue 100.5 EUR", ofEntity(e[0].ID)),
			w.line("Dr xF 1000 JPY"), w.line("Cr xG 1000 JPY"),
			w.line("Dr xLiability 3 USD", ofEntity(e[3].ID)), w.line("Cr xEquity 3 USD", ofEntity(e[3].ID)),
		}})
	w.post(journal.CreateParams{AccountingDate: "2025-02-04", Status: journal.Draft,
		Lines: []journal.LineParams{w.line("Dr xA 1.5 ETH"), w.line("Cr xB 1.5 ETH"), w.line("Dr xA 2 CHF"), w.line("Cr xB 2 CHF")}})
	dropped := w.post(journal.CreateParams{AccountingDate: "2025-02-05", Status: journal.Draft,
		Lines: []journal.LineParams{w.line("Dr xA 1"), w.line("Cr xB 1")}})
	if err := w.App.Journal.Delete(w.ctx, dropped.ID); err != nil {
		w.t.Fatal(err)
	}
	w.importText(notation.Hledger, `
2025-02-06 * bought and moved
    ; entity:Zweite GmbH
    Assets:Wallet: one  1.500000000000000001 ETH @@ 3000.00 EUR
    Assets:Wallet: two  -1.500000000000000001 ETH @@ 3000.00 EUR
`)
}

// oddChains corrects and reverses entries, also on a date before the entry's own.
func (w *world) oddChains() {
	w.t.Helper()
	lines := []journal.LineParams{w.line("Dr xA 20 EUR"), w.line("Cr xRevenue 20 EUR")}
	first := w.post(journal.CreateParams{AccountingDate: "2025-02-10", Memo: "wrong", Lines: lines})
	for _, memo := range []string{"less wrong", "right"} {
		changed := []journal.LineParams{w.line("Dr xA 30 EUR"), w.line("Cr xRevenue 30 EUR")}
		after, err := w.App.Journal.Correct(w.ctx, first.ID, journal.UpdateParams{Memo: &memo, Lines: &changed})
		if err != nil {
			w.t.Fatal(err)
		}
		first = after.Entry
	}
	other := w.post(journal.CreateParams{AccountingDate: "2025-02-11", Memo: "never happened", Lines: lines})
	if _, err := w.App.Journal.Reverse(w.ctx, other.ID, journal.ReverseParams{AccountingDate: "2025-01-15"}); err != nil {
		w.t.Fatal(err)
	}
}

// oddMonths closes two months, and posts and corrects entries in them afterwards.
func (w *world) oddMonths() {
	w.t.Helper()
	second := w.entities()[1].ID
	early := w.post(journal.CreateParams{LegalEntityID: second, AccountingDate: "2025-01-20", Memo: "early",
		Lines: []journal.LineParams{w.line("Dr xH 8 USD"), w.line("Cr xI 8 USD")}})
	list, err := w.App.Periods.List(w.ctx, period.Filter{}, page.Request{Limit: page.LimitMax})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range list.Items {
		if p.Key == "2025-01" {
			if _, err := period.NewService(w.App.DB).WithTransit(holdings.InTransit).Close(w.ctx, p.ID, second); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	memo := "corrected late"
	if _, err := w.App.Journal.Correct(w.ctx, early.ID, journal.UpdateParams{Memo: &memo}); err != nil {
		w.t.Fatal(err)
	}
	late := w.post(journal.CreateParams{LegalEntityID: second, AccountingDate: "2025-01-25T10:00:00Z", Memo: "late",
		Lines: []journal.LineParams{w.line("Dr xH 9 USD"), w.line("Cr xI 9 USD")}})
	if late.IntendedDate == nil {
		w.t.Fatal("the month is not closed")
	}
}

func TestOddBooksComeBackTheSame(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := oddBooks(t, s)
		for _, way := range []string{"hledger", "hledger print", "hledger print -x", "beancount", "csv"} {
			roundTrip(t, w, way)
		}
	})
}

func TestAccountsOfOneNameStayApart(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := newWorld(t, s, "UTC", company{"Acme", "USD"})
		for i, p := range []account.CreateParams{
			{Name: "Bank"}, {Name: "Bank", Code: "x2"}, {Name: "Bank"}, {Name: "Bank (x5)"}, {Name: "Bank",
				Code: "x5"}, {Name: "Bank (2)"}, {Name: "Bank"}, {Name: "Bank:x"}, {Name: "Bank%3Ax"},
		} {
			p.Type = account.Asset
			a := w.createAccount(p)
			sub := w.createAccount(account.CreateParams{Name: "Sub", Type: account.Asset, ParentID: a.ID})
			amount := strings.Repeat("1", i+1)
			w.post(journal.CreateParams{AccountingDate: "2025-01-01", Memo: amount,
				Lines: []journal.LineParams{w.line("Dr " + a.ID + " " + amount), w.line("Cr " + sub.ID + " " + amount)}})
		}
		for _, way := range []string{"hledger", "beancount", "bean-report print", "csv"} {
			roundTrip(t, w, way)
		}
		// The output of hledger does not show which of them have equal names, but keeps them apart.
		there := w.emptyCopy(t)
		there.importText(notation.Hledger, run(t, w.export(notation.Hledger, exportAll), "hledger", "-f", "FILE", "print"))
		made := 0
		there.read(func(ctx context.Context, tx *db.Tx) error {
			accounts, err := account.All(ctx, tx)
			for _, a := range accounts {
				if strings.HasPrefix(a.Name, "Bank") && a.Code == "" {
					made++
				}
			}
			return err
		})
		if made != 9 {
			t.Errorf("%d accounts came out of 9", made)
		}
	})
}

package interchange_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/rules/book"
)

const (
	randomBooks     = 2 // on each engine, in every run: other programs take their time to start
	soakRandomBooks = 10
)

func TestMain(m *testing.M) {
	count := strconv.Itoa(dbtest.Repeats(randomBooks, soakRandomBooks))
	for name, value := range map[string]string{"rapid.checks": count, "rapid.nofailfile": "true", "rapid.shrinktime": "20s"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// drawnBooks are randomly generated books.
type drawnBooks struct {
	*world
	r        *rapid.T
	accounts []string
	tags     []string
	days     []string
	entities []entity.LegalEntity
}

func drawBooks(r *rapid.T, s *apitest.Service) *drawnBooks {
	zone := rapid.SampledFrom([]string{"UTC", "America/New_York", "Pacific/Auckland"}).Draw(r, "zone")
	d := &drawnBooks{world: newWorld(r, s, zone, company{"US, Inc.", "USD"}, company{"DE GmbH", "EUR"}, company{"株式会社", "JPY"}), r: r}
	d.entities = d.world.entities()
	for _, e := range d.entities {
		first := rapid.Int64Range(1, 12).Draw(r, "fiscal year")
		if _, err := s.App.Entities.Update(d.ctx, e.ID, entity.UpdateParams{FiscalYearStartMonth: &first}); err != nil {
			r.Fatal(err)
		}
	}
	for _, code := range []string{"1010", "1210", "1390", "1690", "2010", "3010", "3020", "3210", "4010", "4080", "4510", "5010",
		"6010", "7010"} {
		d.accounts = append(d.accounts, d.account(code))
	}
	for i, kind := range []account.Type{account.Asset, account.Liability, account.Equity, account.Revenue, account.Expense} {
		p := account.CreateParams{Name: rapid.SampledFrom(oddNames).Draw(r, "name"), Type: kind}
		if rapid.Bool().Draw(r, "contra") {
			p.NormalBalance = kind.NormalBalance().Contra()
		}
		d.accounts = append(d.accounts, d.createAccount(p).ID)
		d.tags = append(d.tags, d.createTag(tag.Kinds[i], rapid.SampledFrom(oddNames[:20]).Draw(r, "tag")))
	}
	var rates []fx.StoreParams
	for month := range 14 {
		for _, day := range []int{1, 15, 28} {
			date := fmt.Sprintf("%d-%02d-%02d", 2024+month/12, month%12+1, day)
			d.days = append(d.days, date)
			for _, pair := range [][2]string{{"USD", "EUR"}, {"EUR", "USD"}, {"USD", "JPY"}, {"JPY", "USD"}, {"EUR", "JPY"}, {"JPY", "EUR"}} {
				rates = append(rates, fx.StoreParams{Base: pair[0], Quote: pair[1], Date: date, Rate: d.amount(6)})
			}
		}
	}
	if _, err := s.App.FX.Store(d.ctx, rates); err != nil {
		r.Fatal(err)
	}
	return d
}

func (d *drawnBooks) amount(places int) string {
	return rapid.StringMatching(fmt.Sprintf(`[1-9][0-9]{0,3}(\.[0-9]{0,%d}[1-9])?`, places-1)).Draw(d.r, "amount")
}

func (d *drawnBooks) someTags() []string {
	all := rapid.Permutation(d.tags).Draw(d.r, "tags")
	return all[:max(0, rapid.IntRange(-2, 2).Draw(d.r, "count"))]
}

// lines draws balanced groups of lines, each of one legal entity and currency.
func (d *drawnBooks) lines() (out []journal.LineParams) {
	for range rapid.IntRange(1, 3).Draw(d.r, "groups") {
		e := rapid.SampledFrom(d.entities).Draw(d.r, "entity")
		l := journal.LineParams{LegalEntityID: e.ID, Side: rapid.SampledFrom([]book.Side{book.Debit, book.Credit}).Draw(d.r, "side"),
			Currency: e.BaseCurrency}
		if rapid.IntRange(0, 2).Draw(d.r, "foreign") == 0 {
			l.Currency = rapid.SampledFrom([]string{"USD", "EUR", "JPY"}).Draw(d.r, "currency")
		}
		var sum money.Decimal
		for range rapid.IntRange(1, 3).Draw(d.r, "parts") {
			part := l
			part.LedgerAccountID, part.Amount, part.TagIDs = rapid.SampledFrom(d.accounts).Draw(d.r, "account"), d.amount(6), d.someTags()
			part.Memo = rapid.SampledFrom(append([]string{""}, oddNames...)).Draw(d.r, "memo")
			out, sum = append(out, part), sum.Add(money.MustParse(part.Amount))
		}
		l.Side, l.Amount, l.LedgerAccountID = l.Side.Other(), sum.String(), rapid.SampledFrom(d.accounts).Draw(d.r, "account")
		out = append(out, l)
	}
	return out
}

// createEntries creates entries, and corrects and reverses some of them.
func (d *drawnBooks) createEntries() {
	batch := make([]journal.CreateParams, rapid.IntRange(10, 60).Draw(d.r, "entries"))
	for i := range batch {
		batch[i] = journal.CreateParams{
			LegalEntityID: rapid.SampledFrom(d.entities).Draw(d.r, "own").ID, AccountingDate: rapid.SampledFrom(d.days).Draw(d.r,
				"day"), Memo: rapid.SampledFrom(oddNames).Draw(d.r, "memo"),
			TagIDs: d.someTags(), Status: rapid.SampledFrom([]journal.Status{journal.Posted, journal.Posted, journal.Posted,
				journal.Draft}).Draw(d.r, "status"), OriginatedBy: journal.ByHand, Lines: d.lines(),
		}
	}
	made, err := d.App.Journal.CreateBatch(d.ctx, batch)
	if err != nil {
		d.r.Fatal(err)
	}
	for _, e := range made {
		if e.Status != journal.Posted {
			continue
		}
		day := rapid.SampledFrom(d.days).Draw(d.r, "day")
		switch rapid.IntRange(0, 7).Draw(d.r, "deed") {
		case 0:
			_, err = d.App.Journal.Reverse(d.ctx, e.ID, journal.ReverseParams{AccountingDate: day})
		case 1:
			lines := d.lines()
			_, err = d.App.Journal.Correct(d.ctx, e.ID, journal.UpdateParams{AccountingDate: &day, Lines: &lines})
		}
		if err != nil {
			d.r.Fatal(err)
		}
	}
}

func TestSoakRandomBooksAreTheSameElsewhere(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		rapid.Check(t, func(r *rapid.T) {
			d := drawBooks(r, s)
			d.createEntries()
			agreesWithHledger(r, d.world)
			agreesWithBeancount(r, d.world)
			roundTrip(r, d.world)
		})
	})
}

package transaction_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestACursorBelongsToItsFilterAndSort(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", Type: source.Bank})
		for i := range 5 {
			c.create(t, plain("src_a", fmt.Sprint(i)))
		}
		first := transaction.ListParams{Filter: transaction.Filter{SourceID: "src_a"}, Sort: transaction.Sort{By: "gross_amount",
			Order: "asc"}, Request: page.Request{Limit: 2}}
		out, err := c.List(c.ctx, first)
		if err != nil || out.NextCursor == "" {
			t.Fatal(out, err)
		}
		for what, change := range map[string]func(p *transaction.ListParams){
			"another filter":  func(p *transaction.ListParams) { p.SourceID = "" },
			"one more filter": func(p *transaction.ListParams) { p.Search = "pay" },
			"another sort":    func(p *transaction.ListParams) { p.By = "net_amount" },
			"another order":   func(p *transaction.ListParams) { p.Order = "desc" },
			"nonsense":        func(p *transaction.ListParams) { p.Cursor = "x" },
		} {
			p := first
			p.Cursor = out.NextCursor
			change(&p)
			_, err := c.List(c.ctx, p)
			blames(t, what, err, fault.Invalid, "cursor")
		}
		p := first
		p.Cursor, p.Limit, p.WithCount = out.NextCursor, 3, true
		if next, err := c.List(c.ctx, p); err != nil || len(next.Items) != 3 || next.HasMore || *next.TotalCount != 5 {
			t.Errorf("the same list with another limit and a count: %+v %v", next, err)
		}
	})
}

func TestACursorOfAnotherOrganizationShowsNothingOfIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		other := found(t, c.db)
		for i, who := range []company{c, other} {
			who.source(t, source.Source{ID: fmt.Sprint("src_", i), Type: source.Bank})
			for n := range 4 {
				who.create(t, plain(fmt.Sprint("src_", i), fmt.Sprint(n)))
			}
		}
		p := transaction.ListParams{Request: page.Request{Limit: 2}}
		out, err := c.List(c.ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		p.Cursor = out.NextCursor
		seen, err := other.List(other.ctx, p)
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Fatal(err)
		}
		for _, found := range seen.Items {
			if found.Source.ID != "src_1" {
				t.Errorf("%s is of %s", found.ID, found.Source.ID)
			}
		}
		if got, err := other.Get(other.ctx, out.Items[0].ID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// Rows that arrive or change between pages, before or after the position, do not cause other rows to be missed or
// repeated.
func TestPagesStayWhileTransactionsArrive(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]struct {
		transaction.Filter
		transaction.Sort
	}{
		"by date": {}, "by date, of a source": {transaction.Filter{SourceID: "src_a"},
			transaction.Sort{Order: "asc"}}, "by amount": {transaction.Filter{Search: "payment"}, transaction.Sort{By: "gross_amount"}},
		"by creation": {transaction.Filter{Direction: "credit"}, transaction.Sort{By: "created_at",
			Order: "asc"}}, "by asset": {transaction.Filter{IncludeSpam: true}, transaction.Sort{By: "asset_type", Order: "asc"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c company) {
				c.source(t, source.Source{ID: "src_a", Type: source.Exchange})
				r := rand.New(rand.NewPCG(3, 4))
				arrive := func(n int, prefix string) []transaction.Transaction {
					var all []transaction.CreateParams
					for i := range n {
						p := plain("src_a", fmt.Sprint(prefix, i))
						p.At, p.Quantity, p.Currency = p.At.Add(time.Duration(r.IntN(20)-10)*time.Hour), dec(pick(r, amountPool)), pick(r, currencyPool)
						all = append(all, p)
					}
					return c.create(t, all...)
				}
				times := map[string]int{}
				for _, there := range arrive(60, "first") {
					times[there.ID] = 0
				}
				p := transaction.ListParams{Filter: ask.Filter, Sort: ask.Sort, Request: page.Request{Limit: 7}}
				for n := 0; ; n++ {
					out, err := c.List(c.ctx, p)
					if err != nil || n > 100 {
						t.Fatal(n, err)
					}
					for _, found := range out.Items {
						if _, first := times[found.ID]; first {
							times[found.ID]++
						}
					}
					if !out.HasMore {
						break
					}
					p.Cursor = out.NextCursor
					if n < 10 {
						arrive(3, fmt.Sprint("later", n, "."))
					}
				}
				for id, n := range times {
					if n != 1 {
						t.Errorf("%s was seen %d times", id, n)
					}
				}
			})
		})
	}
}

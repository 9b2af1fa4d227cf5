package transaction

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// ListParams is what somebody asks of the list.
type ListParams struct {
	Filter
	Sort
	page.Request
	WithCount bool
	CountOnly bool // wins over WithCount: no transactions, only how many
}

// List gives transactions.
func (s *Service) List(ctx context.Context, p ListParams) (out page.Page[Transaction], err error) {
	w, err := p.Filter.validate()
	if err != nil {
		return out, err
	}
	order, err := p.Sort.validate()
	if err != nil {
		return out, err
	}
	w.kept = &s.kept
	bound := struct {
		Filter Filter
		Sort   Sort
	}{p.Filter, Sort{order.by, p.Order}}
	read := s.db.ReadOne // pages need no snapshot, neither from one to the next nor within
	if p.WithCount && !p.CountOnly {
		read = s.db.Read // the count is that of the page's moment
	}
	err = read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if err := p.Filter.resolve(ctx, tx, &w); err != nil {
			return err
		}
		if !p.CountOnly {
			out, err = page.List("transactions", bound, p.Request, order.place, func(after []string, limit int) ([]Transaction, error) {
				return w.read(ctx, tx, order, after, limit)
			})
			if err != nil {
				return err
			}
		}
		if p.CountOnly || p.WithCount {
			n, err := w.count(ctx, tx)
			if err != nil {
				return err
			}
			out.TotalCount = &n
		}
		return nil
	})
	if p.CountOnly {
		out.Items = []Transaction{}
	}
	return out, err
}

// read gives the transactions behind a place.
func (w wanted) read(ctx context.Context, tx *db.Tx, order sorting, place []string, limit int) ([]Transaction, error) {
	after, err := order.after(place)
	if err != nil || w.matchesNothing() {
		return nil, err
	}
	best, err := w.best(ctx, tx)
	if err != nil {
		return nil, err
	}
	p := w.plan(tx.DB().Engine(), order, best)
	s, way := p.walk(after, limit), "walk"
	if p.gather != nil {
		s, way = p.gathered(after, limit), "gathered"
		isFew, err := p.isFew(ctx, tx)
		if err != nil {
			return nil, err
		}
		if !isFew {
			rows, err := p.peeked(ctx, tx, after, limit)
			if err != nil || rows != nil {
				return rows, err
			}
		}
	}
	took(way)
	rows, err := db.All[row](ctx, tx, s.String(), s.args...)
	if err != nil {
		return nil, err
	}
	return read(ctx, tx, rows, p.w.kept)
}

// isFew tells that what the index finds is so little that it need not be looked for otherwise. Some indexes cannot
// tell without finding all.
func (p plan) isFew(ctx context.Context, tx *db.Tx) (bool, error) {
	if p.gather.names || !p.gather.quickly {
		return p.gather.names, nil
	}
	s := p.probe()
	n, err := db.One[int64](ctx, tx, "count", s.String(), s.args...)
	if n <= int64(few) {
		took("few")
	}
	return n <= int64(few), err
}

// peeked gives a page if the window holds all of it.
func (p plan) peeked(ctx context.Context, tx *db.Tx, after *condition, limit int) ([]Transaction, error) {
	s := p.peek(after, limit)
	rows, err := db.All[row](ctx, tx, s.String(), s.args...)
	if err != nil || len(rows) < limit {
		return nil, err
	}
	took("peek")
	return read(ctx, tx, rows, p.w.kept)
}

// best is the column that leaves the least, of those that have an index by date.
func (w wanted) best(ctx context.Context, tx *db.Tx) (best string, err error) {
	choice := w.tabled()
	if len(choice) == 1 {
		return choice[0].column, nil
	}
	least := int64(-1)
	for _, c := range choice {
		column, values := c.column, w.facets()[c.column]
		only := wanted{visibilities: w.visibilities}
		switch column {
		case "source_id":
			column, only.sources = "", w.sources
		case "status":
			column, only.status = "", w.status
		}
		n, err := selectCount(ctx, tx, column, values, only.counted())
		if err != nil {
			return "", err
		}
		if least < 0 || n < least {
			least, best = n, c.column
		}
	}
	return best, nil
}

// count tells how many transactions pass, from what is kept where that knows.
func (w wanted) count(ctx context.Context, tx *db.Tx) (int64, error) {
	if w.matchesNothing() {
		return 0, nil
	}
	if w.countable() {
		for column, values := range w.facets() {
			return selectCount(ctx, tx, column, values, w.counted())
		}
		return selectCount(ctx, tx, "", nil, w.counted())
	}
	best, err := w.best(ctx, tx)
	if err != nil {
		return 0, err
	}
	order, _ := Sort{By: "created_at"}.validate()
	p := w.plan(tx.DB().Engine(), order, best) // no order is asked for: whatever finds the fewest rows
	s := p.counting()
	return db.One[int64](ctx, tx, "count", s.String(), s.args...)
}

// Place is where a transaction stands among all, by when it happened.
type Place struct {
	At     time.Time
	Number int64
}

// ListAhead gives transactions that pass a filter, the earliest first, behind a place and not beyond a number, as many as
// a limit; what is posted only if the filter asks for it or names it. It is a building block for whoever goes through
// all of them batch by batch.
func ListAhead(ctx context.Context, tx *db.Tx, f Filter, behind *Place, upTo int64, limit int) ([]Transaction, error) {
	w, err := f.unposted(ctx, tx)
	if err != nil {
		return nil, err
	}
	w.upTo = upTo
	return w.ahead(ctx, tx, behind, limit)
}

// ListAll gives transactions that pass a filter, posted ones too, the earliest first, behind a place, as many as a
// limit. It is a building block.
func ListAll(ctx context.Context, tx *db.Tx, f Filter, behind *Place, limit int) ([]Transaction, error) {
	w, err := f.wanted(ctx, tx)
	if err != nil {
		return nil, err
	}
	return w.ahead(ctx, tx, behind, limit)
}

func (w wanted) ahead(ctx context.Context, tx *db.Tx, behind *Place, limit int) ([]Transaction, error) {
	order, _ := Sort{Order: "asc"}.validate()
	var place []string
	if behind != nil {
		place = []string{clock.Format(behind.At), strconv.FormatInt(behind.Number, 10)}
	}
	return w.read(ctx, tx, order, place, limit)
}

// CountAhead tells how many transactions Ahead gives in all. It is a building block.
func CountAhead(ctx context.Context, tx *db.Tx, f Filter) (int64, error) {
	w, err := f.unposted(ctx, tx)
	if err != nil {
		return 0, err
	}
	return w.count(ctx, tx)
}

// unposted is the filter as the database sees it, without what is posted unless that is asked for.
func (f Filter) unposted(ctx context.Context, tx *db.Tx) (wanted, error) {
	w, err := f.wanted(ctx, tx)
	if w.status == "" && len(w.visibilities) > 0 && w.visibilities[0] == listed && w.ids == nil && w.numbers == nil {
		w.status = string(Pending)
	}
	return w, err
}

// wanted is the filter as the database sees it.
func (f Filter) wanted(ctx context.Context, tx *db.Tx) (wanted, error) {
	w, err := f.validate()
	if err == nil {
		err = f.resolve(ctx, tx, &w)
	}
	return w, err
}

// Suggest notes what is suggested for transactions, by their ids; what is nil is taken back. It is a building block.
func Suggest(ctx context.Context, tx *db.Tx, all map[string]*Suggestion) error {
	for _, transactionID := range slices.Sorted(maps.Keys(all)) {
		if err := suggest(ctx, tx, transactionID, toJSON(all[transactionID])); err != nil {
			return err
		}
	}
	return nil
}

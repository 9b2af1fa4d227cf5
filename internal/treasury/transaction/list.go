package transaction

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// ListParams selects, sorts and pages a list.
type ListParams struct {
	Filter
	Sort
	page.Request
	WithCount bool
	CountOnly bool // return only the number of transactions; takes precedence over WithCount
}

// List returns a page of transactions.
func (s *Service) List(ctx context.Context, p ListParams) (out page.Page[Transaction], err error) {
	q, err := p.Filter.validate()
	if err != nil {
		return out, err
	}
	order, err := p.Sort.validate()
	if err != nil {
		return out, err
	}
	q.cache = &s.sources
	bound := struct {
		Filter Filter
		Sort   Sort
	}{p.Filter, Sort{order.by, p.Order}}
	read := s.db.ReadOne // a page needs no snapshot, neither by itself nor with the next one
	if p.WithCount && !p.CountOnly {
		read = s.db.Read // the count must be that of the moment of the page
	}
	err = read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if err := p.Filter.resolve(ctx, tx, &q); err != nil {
			return err
		}
		if !p.CountOnly {
			out, err = page.List("transactions", bound, p.Request, order.position, func(after []string, limit int) ([]Transaction, error) {
				return q.read(ctx, tx, order, after, limit)
			})
			if err != nil {
				return err
			}
		}
		if p.CountOnly || p.WithCount {
			n, err := q.count(ctx, tx)
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

// read returns the transactions after a position in the order.
func (q query) read(ctx context.Context, tx *db.Tx, order sorting, position []string, limit int) ([]Transaction, error) {
	after, err := order.after(position)
	if err != nil || q.matchesNothing() {
		return nil, err
	}
	best, err := q.mostSelective(ctx, tx)
	if err != nil {
		return nil, err
	}
	p := q.plan(tx.DB().Engine(), order, best)
	s, strategy := p.scan(after, limit), "scan"
	if p.lookup != nil {
		s, strategy = p.lookupAndSort(after, limit), "lookup"
		isFew, err := p.isFew(ctx, tx)
		if err != nil {
			return nil, err
		}
		if !isFew {
			rows, err := p.readWindow(ctx, tx, after, limit)
			if err != nil || rows != nil {
				return rows, err
			}
		}
	}
	onStrategy(strategy)
	rows, err := db.All[row](ctx, tx, s.String(), s.args...)
	if err != nil {
		return nil, err
	}
	return read(ctx, tx, rows, p.q.cache)
}

// isFew reports whether the lookup index finds so few rows that sorting them is cheap. Some indexes cannot tell without
// finding all.
func (p plan) isFew(ctx context.Context, tx *db.Tx) (bool, error) {
	if p.lookup.unique || !p.lookup.streams {
		return p.lookup.unique, nil
	}
	s := p.probe()
	n, err := db.One[int64](ctx, tx, "count", s.String(), s.args...)
	if n <= int64(fewRows) {
		onStrategy("few")
	}
	return n <= int64(fewRows), err
}

// readWindow returns a page if the first rows in order fill it, and nil otherwise.
func (p plan) readWindow(ctx context.Context, tx *db.Tx, after *condition, limit int) ([]Transaction, error) {
	s := p.scanWindow(after, limit)
	rows, err := db.All[row](ctx, tx, s.String(), s.args...)
	if err != nil || len(rows) < limit {
		return nil, err
	}
	onStrategy("window")
	return read(ctx, tx, rows, p.q.cache)
}

// mostSelective returns the column whose values match the fewest transactions, of those that have an index by date.
func (q query) mostSelective(ctx context.Context, tx *db.Tx) (best string, err error) {
	choice := q.facetConditions()
	if len(choice) == 1 {
		return choice[0].column, nil
	}
	least := int64(-1)
	for _, c := range choice {
		column, values := c.column, q.facets()[c.column]
		only := query{visibilities: q.visibilities}
		switch column {
		case "source_id":
			column, only.sources = "", q.sources
		case "status":
			column, only.status = "", q.status
		}
		n, err := selectCount(ctx, tx, column, values, only.countConditions())
		if err != nil {
			return "", err
		}
		if least < 0 || n < least {
			least, best = n, c.column
		}
	}
	return best, nil
}

// count returns the number of matching transactions, from the counts that are kept where those suffice.
func (q query) count(ctx context.Context, tx *db.Tx) (int64, error) {
	if q.matchesNothing() {
		return 0, nil
	}
	if q.countable() {
		for column, values := range q.facets() {
			return selectCount(ctx, tx, column, values, q.countConditions())
		}
		return selectCount(ctx, tx, "", nil, q.countConditions())
	}
	best, err := q.mostSelective(ctx, tx)
	if err != nil {
		return 0, err
	}
	order, _ := Sort{By: "created_at"}.validate()
	p := q.plan(tx.DB().Engine(), order, best) // the order does not matter: use whichever index finds the fewest rows
	s := p.countAll()
	return db.One[int64](ctx, tx, "count", s.String(), s.args...)
}

// Position is the position of a transaction in the order of date and number.
type Position struct {
	At     time.Time
	Number int64
}

// ListUnpostedAfter returns up to limit transactions that match a filter, the earliest first, after a position and up to
// a number. It leaves out posted ones unless the filter asks for them or names them. It is a building block for
// processing all of them in batches.
func ListUnpostedAfter(ctx context.Context, tx *db.Tx, f Filter, after *Position, lastNumber int64, limit int) ([]Transaction, error) {
	q, err := f.unposted(ctx, tx)
	if err != nil {
		return nil, err
	}
	q.lastNumber = lastNumber
	return q.readAfter(ctx, tx, after, limit)
}

// ListAfter returns up to limit transactions that match a filter, posted ones too, the earliest first and after a
// position. It is a building block.
func ListAfter(ctx context.Context, tx *db.Tx, f Filter, after *Position, limit int) ([]Transaction, error) {
	q, err := f.query(ctx, tx)
	if err != nil {
		return nil, err
	}
	return q.readAfter(ctx, tx, after, limit)
}

func (q query) readAfter(ctx context.Context, tx *db.Tx, after *Position, limit int) ([]Transaction, error) {
	order, _ := Sort{Order: "asc"}.validate()
	var position []string
	if after != nil {
		position = []string{clock.Format(after.At), strconv.FormatInt(after.Number, 10)}
	}
	return q.read(ctx, tx, order, position, limit)
}

// Numbered returns the transactions with numbers from one to another, in the order of their numbers, up to a limit. It leaves out those
// that were deleted. It is a building block for packages that follow what arrives.
func Numbered(ctx context.Context, tx *db.Tx, first, last int64, limit int) ([]Transaction, error) {
	return selectNumbered(ctx, tx, first, last, limit)
}

// CountUnposted returns the number of transactions that ListUnpostedAfter returns in all batches. It is a building
// block.
func CountUnposted(ctx context.Context, tx *db.Tx, f Filter) (int64, error) {
	q, err := f.unposted(ctx, tx)
	if err != nil {
		return 0, err
	}
	return q.count(ctx, tx)
}

// unposted resolves the filter, and leaves out posted transactions unless it asks for them or names them.
func (f Filter) unposted(ctx context.Context, tx *db.Tx) (query, error) {
	q, err := f.query(ctx, tx)
	if q.status == "" && len(q.visibilities) > 0 && q.visibilities[0] == listed && q.ids == nil && q.numbers == nil {
		q.status = string(Pending)
	}
	return q, err
}

// query validates and resolves the filter.
func (f Filter) query(ctx context.Context, tx *db.Tx) (query, error) {
	var faults fault.List
	q, err := f.validate()
	if err := faults.Merge(err); err != nil {
		return q, err
	}
	if err := faults.Merge(f.resolve(ctx, tx, &q)); err != nil {
		return q, err
	}
	return q, faults.Err()
}

// SetSuggestions stores suggestions by the ids of their transactions; nil clears one. It is a building block.
func SetSuggestions(ctx context.Context, tx *db.Tx, all map[string]*Suggestion) error {
	for _, transactionID := range slices.Sorted(maps.Keys(all)) {
		if err := updateSuggestion(ctx, tx, transactionID, toJSON(all[transactionID])); err != nil {
			return err
		}
	}
	return nil
}

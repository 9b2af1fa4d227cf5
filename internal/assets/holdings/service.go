// Package holdings holds the reports on assets: positions, lots, realized gains, dispositions, treasury balances and the
// roll-forward of fair values. It only reads.
//
// Positions at the end of an accounting period are sums over lot_positions, which stores movements by period, and never over
// lots. Lots as of an earlier time are computed from what remains of them now and what was consumed since. So the cost of a
// report depends on what it shows, not on the length of the history.
package holdings

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Service holds the use cases of reports on holdings.
type Service struct{ db *db.DB }

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// reportParams are the parameters of a report: a filter, and others that can be validated by themselves.
type reportParams interface {
	filter() Filter
	validate(*fault.List)
}

// report validates the parameters of a report and reads one page of it in a database transaction. fetch gets the records that
// the filter refers to as a scope.
func report[T any](ctx context.Context, s *Service, name string, params reportParams, pr page.Request, key func(T) []string,
	fetch func(ctx context.Context, tx *db.Tx, s *scope, after []string, limit int) ([]T, error)) (page.Page[T], error) {
	var faults fault.List
	params.filter().validate(&faults)
	params.validate(&faults)
	if err := faults.Err(); err != nil {
		return page.Page[T]{}, err
	}
	return page.List(name, params, pr, key, func(after []string, limit int) (rows []T, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			covered, err := newScope(ctx, tx, params.filter())
			if err != nil || len(covered.entities) == 0 {
				return err
			}
			rows, err = fetch(ctx, tx, covered, after, limit)
			return err
		})
		return rows, err
	})
}

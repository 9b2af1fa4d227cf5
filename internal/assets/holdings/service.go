// Package holdings reads what is held and what became of it: positions, lots, gains, dispositions, and the reports
// made of them.
//
// What is held at the end of an accounting period is a sum over the movements that are kept by period, never over
// lots. Lots as of an earlier time are what is left of them now and what was taken since. So a report costs what it
// shows, not what ever happened.
package holdings

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Service holds the reports.
type Service struct{ db *db.DB }

// NewService makes one.
func NewService(d *db.DB) *Service { return &Service{d} }

// reportParams is what a report is asked: a filter, and what else can be faulty by itself.
type reportParams interface {
	filter() Filter
	validate(*fault.List)
}

// report reads a page of one in a transaction of its own, with what its filter names found.
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

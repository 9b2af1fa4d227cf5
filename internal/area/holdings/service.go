package holdings

import (
	"context"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
)

// Service holds the reports.
type Service struct{ db *db.DB }

// NewService makes one.
func NewService(d *db.DB) *Service { return &Service{d} }

// report reads a page of one in a transaction of its own, with what its filter names found.
func report[T, P any](ctx context.Context, s *Service, name string, params P, f Filter, pr page.Request, key func(T) []string,
	fetch func(ctx context.Context, tx *db.Tx, s *scope, after []string, limit int) ([]T, error)) (page.Page[T], error) {
	return page.List(name, params, pr, key, func(after []string, limit int) (rows []T, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			covered, err := cover(ctx, tx, f)
			if err != nil || len(covered.entities) == 0 {
				return err
			}
			rows, err = fetch(ctx, tx, covered, after, limit)
			return err
		})
		return rows, err
	})
}

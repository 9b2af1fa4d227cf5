package reconciliation

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/observation"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Service holds the use cases of reconciliation.
type Service struct{ db *db.DB }

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// noun is what error messages call a record.
const noun = "reconciliation"

// Report returns a page of the assets of a source, each compared at its latest observed balance up to an instant, with what may explain
// differences. at is an instant, or a date, which means the end of that day in the time zone of the organization; the default is now.
func (s *Service) Report(ctx context.Context, sourceID, at string, pr page.Request) (page.Page[Explained], error) {
	bound := struct{ SourceID, At string }{sourceID, at}
	key := func(e Explained) string { return e.AssetType }
	return page.ListByKey("reconciliation", bound, pr, "", key, func(after string, limit int) (rows []Explained, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			src, err := source.Find(ctx, tx, sourceID)
			if err != nil {
				return err
			}
			until, err := instantOf(ctx, tx, "at", at)
			if err != nil {
				return err
			}
			c, err := newComparison(ctx, tx, src)
			if err != nil {
				return err
			}
			rows, err = c.report(ctx, tx, until, after, limit)
			return err
		})
		return rows, err
	})
}

// instantOf parses an instant or a date, which must not be in the future. An empty text is now.
func instantOf(ctx context.Context, tx *db.Tx, field, text string) (time.Time, error) {
	if text == "" {
		return clock.Stamp(tx.Now()), nil
	}
	zone, err := snapshot.Zone(ctx, tx)
	if err != nil {
		return time.Time{}, err
	}
	var faults fault.List
	return observation.Instant(&faults, field, text, zone, true), faults.Err()
}

// report compares up to limit assets after one, leaving out those of which there is nothing.
func (c *comparison) report(ctx context.Context, tx *db.Tx, at time.Time, after string, limit int) (out []Explained, err error) {
	all, err := c.assets(ctx, tx, at)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(asset string) bool { return asset <= after })
	for len(all) > 0 && len(out) < limit {
		n := min(len(all), limit-len(out))
		figures, err := c.figures(ctx, tx, at, all[:n])
		if err != nil {
			return nil, err
		}
		all = all[n:]
		for _, f := range figures {
			if f.empty() {
				continue
			}
			e, err := c.explain(ctx, tx, f)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
	}
	return out, nil
}

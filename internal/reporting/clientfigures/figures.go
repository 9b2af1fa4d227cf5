package clientfigures

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/reconciliation"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Readiness says whether a month can be closed.
type Readiness string

// The values.
const (
	Ready    Readiness = "ready"
	NotReady Readiness = "not_ready"
	Closed   Readiness = "closed"
)

// Figures are what the overview shows of a client, as of a moment.
type Figures struct {
	OpenTransactions int64 // that are not posted and not spam

	Month *Month // the last one that is over; nil if none is

	AsOf     time.Time
	sequence int64     // of the last change that they include
	until    time.Time // when the current month is over
	took     time.Duration
}

// Month is the state of a month that is over.
type Month struct {
	PeriodID string
	Key      string // such as 2026-03

	Readiness    Readiness
	FailedChecks int64 // that prevent the close
	Warnings     int64

	UnreconciledSources   int64 // of those that stated a balance in the month: they differ, or nobody has reconciled them since
	SourcesWithoutBalance int64 // which stated none in the month
}

// Checked is the state of a month with the results of the readiness checks, which are none if it is closed.
type Checked struct {
	Month
	Checks []period.CheckResult
}

// Refresh computes the figures of a client, stores them and returns its last month with the results of the readiness checks. The month is
// nil if none is over.
func (s *Service) Refresh(ctx context.Context, organizationID string) (*Checked, error) {
	f, checked, err := s.compute(ctx, organizationID, s.db.ReadInTurn)
	if err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error { return upsert(ctx, tx, f) })
	return checked, err
}

// CheckMonth returns the state of a month of a client. The error is NotFound if there is no such month.
func (s *Service) CheckMonth(ctx context.Context, organizationID, key string) (c *Checked, err error) {
	err = s.db.ReadInTurn(asSystem(ctx, organizationID), organizationID, func(ctx context.Context, tx *db.Tx) error {
		p, err := period.OfMonth(ctx, tx, key)
		if err == nil {
			c, err = s.check(ctx, tx, p)
		}
		return err
	})
	return c, err
}

// asSystem returns a context in which nothing of an organization is hidden: what the figures count does not depend on who looks.
func asSystem(ctx context.Context, organizationID string) context.Context {
	return actor.With(ctx, actor.Actor{OrganizationID: organizationID})
}

type reader func(ctx context.Context, organizationID string, fn db.Func) error

// compute computes the figures of a client on one snapshot.
func (s *Service) compute(ctx context.Context, organizationID string, read reader) (f Figures, checked *Checked, err error) {
	began := s.db.Clock().Now()
	err = read(asSystem(ctx, organizationID), organizationID, func(ctx context.Context, tx *db.Tx) error {
		state, err := orgstate.Read(ctx, tx)
		if err != nil {
			return err
		}
		f = Figures{AsOf: tx.Now(), sequence: state.AuditSequence}
		if f.until, err = period.CurrentEnd(ctx, tx); err != nil {
			return err
		}
		if f.OpenTransactions, err = transaction.CountPending(ctx, tx); err != nil {
			return err
		}
		last, err := period.LastOver(ctx, tx)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if checked, err = s.check(ctx, tx, last); err == nil {
			f.Month = &checked.Month
		}
		return err
	})
	f.took = s.db.Clock().Now().Sub(began)
	return f, checked, err
}

// check returns the state of a month.
func (s *Service) check(ctx context.Context, tx *db.Tx, p period.State) (*Checked, error) {
	c := Checked{Month: Month{PeriodID: p.ID, Key: p.Key, Readiness: Closed}}
	if p.Status() != period.StatusClosed {
		r, err := s.periods.Readiness(ctx, p.ID, "")
		if err != nil {
			return nil, err
		}
		c.Readiness, c.Checks = Ready, r.Checks
		for _, one := range r.Checks {
			switch one.Status {
			case period.Fail:
				c.Readiness = NotReady
				c.FailedChecks++
			case period.Warn:
				c.Warnings++
			}
		}
	}
	return &c, countSources(ctx, tx, p, &c.Month)
}

// countSources counts the sources that are not reconciled, and those that stated no balance in the month.
func countSources(ctx context.Context, tx *db.Tx, p period.State, m *Month) error {
	stated, err := reconciliation.InPeriod(ctx, tx, p.Start, p.End)
	if err != nil {
		return err
	}
	all, err := source.AllUnchecked(ctx, tx)
	m.SourcesWithoutBalance = int64(len(all) - len(stated))
	for _, one := range stated {
		if !one.Reconciled || len(one.Differing) > 0 || len(one.Unknown) > 0 {
			m.UnreconciledSources++
		}
	}
	return err
}

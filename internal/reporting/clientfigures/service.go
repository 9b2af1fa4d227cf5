package clientfigures

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

const (
	// inlineBudget is how long a page of the overview computes figures that are out of date.
	inlineBudget = 60 * time.Millisecond

	// SweepEvery is how often the background job looks for figures that are out of date, and sweepBudget how long it computes them then: a
	// quarter of the time, so that other work is not held up.
	SweepEvery  = 10 * time.Second
	sweepBudget = SweepEvery / 4
	sweepMax    = 200 // how many clients it looks up at a time

	// The figures of a client are computed again after refreshPause at the earliest, and the later the longer it takes.
	refreshPause = 30 * time.Second
	refreshShare = 50

	// failedPause is how long a client waits whose figures could not be computed, so that it does not keep others waiting.
	failedPause = 5 * time.Minute
)

// Service implements the overview. Its fields are set before it is used.
type Service struct {
	db      *db.DB
	periods *period.Service
	log     *slog.Logger

	// Requests counts the pending requests of clients of the actor's firm, in a transaction across organizations; those without one are
	// left out. Nil means that they are not known.
	Requests func(ctx context.Context, tx *db.Tx, clientIDs []string) (map[string]int64, error)

	// Budget is how long a page of the overview computes figures that are out of date, and SweepBudget how long the background job does.
	Budget, SweepBudget time.Duration

	sweeping sync.Mutex
}

// NewService returns a Service on a database.
func NewService(d *db.DB, periods *period.Service, log *slog.Logger) *Service {
	return &Service{db: d, periods: periods, log: log, Budget: inlineBudget, SweepBudget: sweepBudget}
}

// Client is a client in the overview of somebody who works for it.
type Client struct {
	ID             string
	OrganizationID string
	Name           string
	Role           actor.FirmRole

	LastActivity    time.Time // when something was changed last
	PendingRequests *int64    // nil if not known
	Figures         *Figures  // nil if they have not been computed yet
	Current         bool      // the figures include every change

	failed bool // they could not be computed, and are not to be tried again yet
}

// Overview returns a page of the clients for which the actor works, by id.
func (s *Service) Overview(ctx context.Context, p page.Request) (page.Page[Client], error) {
	key := func(c Client) string { return c.ID }
	return page.ListByKey("firm overview", nil, p, "", key, func(above string, limit int) (out []Client, err error) {
		err = s.db.ReadAcross(ctx, "somebody of a firm sees the clients they work for", func(ctx context.Context, tx *db.Tx) error {
			if out, err = selectOverview(ctx, tx, actor.From(ctx), above, limit); err != nil || s.Requests == nil {
				return err
			}
			return s.countRequests(ctx, tx, out)
		})
		if err == nil {
			s.complete(ctx, out[:min(len(out), p.Limit)])
		}
		return out, err
	})
}

func (s *Service) countRequests(ctx context.Context, tx *db.Tx, clients []Client) error {
	ids := make([]string, len(clients))
	for i, c := range clients {
		ids[i] = c.ID
	}
	counts, err := s.Requests(ctx, tx, ids)
	for i, c := range clients {
		clients[i].PendingRequests = new(counts[c.ID])
	}
	return err
}

// complete computes figures that are out of date, those that were never computed first, until the budget is used up. What it computes is
// stored by the background job. Clients whose figures cannot be computed in time keep the older ones.
func (s *Service) complete(ctx context.Context, clients []Client) {
	ctx, cancel := context.WithTimeout(ctx, s.Budget)
	defer cancel()
	for _, never := range []bool{true, false} {
		for i := range clients {
			c := &clients[i]
			if c.Current || c.failed || (c.Figures == nil) != never {
				continue
			}
			f, _, err := s.compute(ctx, c.OrganizationID, s.db.Read)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				s.log.Warn("the figures of a client were not computed", "organization_id", c.OrganizationID, "error", err)
				continue
			}
			c.Figures, c.Current = &f, true
		}
	}
}

// Sweep is the background job that computes figures which are out of date.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "client_figures_sweep" }

// Sweep runs the job. A failure of one client does not affect the others. Concurrent calls do nothing.
func (s *Service) Sweep(ctx context.Context) error {
	if !s.sweeping.TryLock() {
		return nil
	}
	defer s.sweeping.Unlock()
	var due []string
	err := s.db.ReadAcross(ctx, "figures of clients of all firms are kept", func(ctx context.Context, tx *db.Tx) (err error) {
		due, err = selectDue(ctx, tx, sweepMax)
		return err
	})
	began := s.db.Clock().Now()
	for _, organizationID := range due {
		if ctx.Err() != nil {
			break
		}
		s.refreshOrPostpone(ctx, organizationID)
		if s.db.Clock().Now().Sub(began) > s.SweepBudget {
			break
		}
	}
	return err
}

// refreshOrPostpone is Refresh for the background job. After an error or a panic the client waits, while others have their turn.
func (s *Service) refreshOrPostpone(ctx context.Context, organizationID string) {
	began := s.db.Clock().Now()
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		_, err = s.Refresh(ctx, organizationID)
		return err
	}()
	if err == nil || ctx.Err() != nil {
		return
	}
	now := s.db.Clock().Now()
	again := now.Add(max(failedPause, refreshShare*now.Sub(began)))
	err = errors.Join(err, s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error { return postpone(ctx, tx, again) }))
	s.log.Warn("the figures of a client were not computed", "organization_id", organizationID, "error", err)
}

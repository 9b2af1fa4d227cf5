package connection

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/lifecycle"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	// pollEvery is how often a node looks for connections that are due.
	pollEvery = 5 * time.Second
	// pollsTogether is how many of them one node takes at a time: taking them, and saying that there was nothing new, are one write each.
	pollsTogether = 200
	// pollersMax is how many providers are asked at the same time.
	pollersMax = 8
	// pollLease is how long a node may take for the connections that it has taken, after which another one takes them.
	pollLease = 5 * time.Minute
	// pollTimeout bounds one look at a provider.
	pollTimeout = 90 * time.Second
)

// Poller looks at the providers of connections that are due, and has those read where something is new. A look that finds nothing new costs
// the requests to the provider and no write of its own.
type Poller struct {
	*lifecycle.Loop
	s   *Service
	log *slog.Logger
	// Wake is called when connections wait to be read.
	Wake func()
}

// NewPoller returns a poller that is not started yet.
func NewPoller(s *Service, log *slog.Logger, wake func()) *Poller {
	p := &Poller{s: s, log: log, Wake: wake}
	p.Loop = lifecycle.New(p.run)
	return p
}

func (p *Poller) run(ctx context.Context, started func()) {
	started()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		for {
			n, err := p.s.Poll(ctx)
			if err != nil && ctx.Err() == nil {
				p.log.Warn("connections that are due wait: the schedule could not be read", "error", err)
			}
			if n > 0 {
				p.Wake()
			}
			if err != nil || n < pollsTogether {
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Poll looks once at the providers of connections that are due, and returns how many there were.
func (s *Service) Poll(ctx context.Context) (int, error) {
	due, err := s.takeDue(ctx)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	var mu sync.Mutex
	var quiet []dueRow
	var news []dueRow
	next := make(chan dueRow)
	var workers sync.WaitGroup
	for range min(pollersMax, len(due)) {
		workers.Go(func() {
			for d := range next {
				found := s.look(ctx, d)
				mu.Lock()
				if found {
					news = append(news, d)
				} else {
					quiet = append(quiet, d)
				}
				mu.Unlock()
			}
		})
	}
	for _, d := range due {
		next <- d
	}
	close(next)
	workers.Wait()
	if ctx.Err() != nil {
		return 0, ctx.Err() // another node takes them when the lease is over
	}
	return len(due), s.settleDue(ctx, due[0].claim, quiet, news)
}

// takeDue takes connections that are due, so that no other node looks at them.
func (s *Service) takeDue(ctx context.Context) (due []dueRow, err error) {
	var waiting []string
	err = s.db.ReadAcross(ctx, "the schedule looks at connections of all organizations", func(ctx context.Context, tx *db.Tx) error {
		waiting, err = selectDue(ctx, tx, pollsTogether)
		return err
	})
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	err = s.db.WriteAcross(ctx, "the schedule looks at connections of all organizations", func(ctx context.Context, tx *db.Tx) error {
		due, err = claimDue(ctx, tx, waiting, tx.NewID("claim"), tx.Now().Add(pollLease))
		return err
	})
	return due, err
}

// look reports whether there may be something new at the provider of a connection, or something to tell about it.
func (s *Service) look(ctx context.Context, d dueRow) bool {
	ctx, cancel := context.WithTimeout(actor.With(ctx, actor.Actor{OrganizationID: d.OrganizationID}), pollTimeout)
	defer cancel()
	var c Connection
	var cursors map[string]Cursor
	err := s.db.Read(ctx, d.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		if c, err = s.find(ctx, tx, d.ConnectionID, ""); err == nil {
			cursors, err = selectCursors(ctx, tx, d.ConnectionID)
		}
		return err
	})
	if err != nil {
		return true // the worker finds out
	}
	poll := s.providers[c.Provider].Poll
	if poll == nil || c.Status != Active {
		return true
	}
	credentials, err := s.open(d.OrganizationID, c)
	if err != nil {
		return true
	}
	found, err := poll(ctx, Position{Connection: c, Credentials: credentials, Keeper: s.keeper(d.OrganizationID, c.ID), Cursors: cursors,
		Known: func(ctx context.Context, externalIDs []string) (known map[string]bool, err error) {
			err = s.db.Read(ctx, d.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
				if known, err = transaction.KnownUnchecked(ctx, tx, c.Sources, externalIDs); err != nil {
					return err
				}
				omitted, err := selectOmitted(ctx, tx, c.ID, externalIDs)
				for _, id := range omitted {
					known[id] = true
				}
				return err
			})
			return known, err
		}})
	return found || err != nil
}

// settleDue stores that there was nothing new at some providers, in one write, and has the other connections read.
func (s *Service) settleDue(ctx context.Context, claim string, quiet, news []dueRow) error {
	byInterval := map[int64][]string{}
	for _, d := range quiet {
		byInterval[d.SyncMinutes] = append(byInterval[d.SyncMinutes], d.ConnectionID)
	}
	byOrganization := map[string][]string{}
	for _, d := range news {
		byOrganization[d.OrganizationID] = append(byOrganization[d.OrganizationID], d.ConnectionID)
	}
	return s.db.WriteAcross(ctx, "the schedule looks at connections of all organizations", func(ctx context.Context, tx *db.Tx) error {
		for _, minutes := range slices.Sorted(maps.Keys(byInterval)) {
			if err := postponeDue(ctx, tx, claim, byInterval[minutes], tx.Now().Add(time.Duration(minutes)*time.Minute)); err != nil {
				return err
			}
		}
		for _, organizationID := range slices.Sorted(maps.Keys(byOrganization)) {
			if err := requestDue(ctx, tx, organizationID, claim, byOrganization[organizationID]); err != nil {
				return err
			}
		}
		return nil
	})
}

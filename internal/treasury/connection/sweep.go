package connection

import (
	"context"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Sweep is the job that expires setups that nobody has finished, asks providers about those that may be, and deletes events, runs and
// setups that were over long ago.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "connection_sweep" }

const (
	// eventsKept is how long events are remembered that were handled. Providers repeat them for some days.
	eventsKept = 30 * 24 * time.Hour
	// runsKept is how long runs and setups are remembered.
	runsKept = 400 * 24 * time.Hour
)

// Sweep tidies up.
func (s *Service) Sweep(ctx context.Context) error {
	const why = "what connections of all organizations no longer need is deleted"
	err := s.db.WriteAcross(ctx, why, func(ctx context.Context, tx *db.Tx) error {
		if err := deleteHandled(ctx, tx, tx.Now().Add(-eventsKept)); err != nil {
			return err
		}
		if err := deleteRuns(ctx, tx, tx.Now().Add(-runsKept)); err != nil {
			return err
		}
		return deleteAttempts(ctx, tx, tx.Now().Add(-runsKept))
	})
	if err != nil {
		return err
	}
	return s.sweepAttempts(ctx)
}

// sweepAttempts expires setups that nobody has finished, with connections that have no other, and asks providers about those that a person
// may have finished without the browser coming back.
func (s *Service) sweepAttempts(ctx context.Context) error {
	var waiting []attemptAcross
	err := s.db.ReadAcross(ctx, "setups of all organizations expire", func(ctx context.Context, tx *db.Tx) (err error) {
		waiting, err = selectPendingAttempts(ctx, tx)
		return err
	})
	for _, w := range waiting {
		if w.attempt().ExpiresAt.After(s.db.Clock().Now()) {
			if _, failed := s.finishAttempt(ctx, w.OrganizationID, w.attempt(), nil); failed != nil && ctx.Err() != nil {
				return failed
			}
			continue // it is not finished, or the provider does not answer
		}
		if failed := s.expire(ctx, w); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	return errors.Join(err, s.sweepUnfinished(ctx))
}

// expire ends a setup whose time is over. A connection that never had an account is disconnected with it.
func (s *Service) expire(ctx context.Context, w attemptAcross) error {
	var unused Credentials
	var provider string
	ctx = actor.With(ctx, actor.Actor{OrganizationID: w.OrganizationID})
	err := s.db.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		unused = nil
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		ours, err := finishAttempt(ctx, tx, w.ID, AttemptExpired, "")
		if err != nil || !ours {
			return err
		}
		c, err := s.endSetup(ctx, tx, w.ConnectionID)
		if a := w.attempt(); err == nil && a.exchanged {
			provider = c.Provider
			unused, _ = s.unseal(w.OrganizationID, a.ID, a.sealed) // what cannot be decrypted cannot be revoked either
		}
		return err
	})
	if err == nil {
		s.revokeUnused(ctx, w.OrganizationID, provider, unused)
	}
	return err
}

// endSetup disconnects a connection whose setup nobody has finished, and returns it. It leaves others as they are.
func (s *Service) endSetup(ctx context.Context, tx *db.Tx, connectionID string) (Connection, error) {
	before, err := s.find(ctx, tx, connectionID, "{for_update}")
	if err != nil || before.Status != PendingSetup {
		return before, err
	}
	after := before
	after.Status = Disconnected
	if err := deleteCredentials(ctx, tx, after.ID); err != nil {
		return after, err
	}
	return save(ctx, tx, eventOf(Disconnected), before, after)
}

// sweepUnfinished disconnects connections that never had an account, and whose last setup has failed long ago.
func (s *Service) sweepUnfinished(ctx context.Context) error {
	var left []unfinishedRow
	err := s.db.ReadAcross(ctx, "setups of all organizations end", func(ctx context.Context, tx *db.Tx) (err error) {
		left, err = selectUnfinished(ctx, tx, tx.Now().Add(-setupMax))
		return err
	})
	for _, u := range left {
		failed := s.db.Write(actor.With(ctx, actor.Actor{OrganizationID: u.OrganizationID}), u.OrganizationID,
			func(ctx context.Context, tx *db.Tx) error {
				if _, err := orgstate.Lock(ctx, tx); err != nil {
					return err
				}
				latest, err := selectAttempt(ctx, tx, u.ConnectionID)
				if err != nil || latest != nil && latest.CreatedAt.After(tx.Now().Add(-setupMax)) { // another one was begun meanwhile
					return err
				}
				_, err = s.endSetup(ctx, tx, u.ConnectionID)
				return err
			})
		err = errors.Join(err, failed)
	}
	return err
}

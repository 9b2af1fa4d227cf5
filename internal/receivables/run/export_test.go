package run

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// SetBatch sets the size of batches, so that a few deposits are several batches.
func (s *Service) SetBatch(n int) { s.Batch = n }

// AfterDecide calls a function after deposits were decided, with their number.
func (s *Service) AfterDecide(do func(deposits int)) {
	decide := s.decide
	s.decide = func(ctx context.Context, tx *db.Tx, p application.DecideParams, all []transaction.Transaction) (
		[]application.Decision, application.Moment, error) {
		out, at, err := decide(ctx, tx, p, all)
		do(len(all))
		return out, at, err
	}
}

// AfterApply calls a function after deposits were applied, which may refuse all of them.
func (s *Service) AfterApply(look func([]*application.Decision) error) {
	apply := s.apply
	s.apply = func(ctx context.Context, tx *db.Tx, all []*application.Decision) ([]application.Application, map[string]string, error) {
		made, refused, err := apply(ctx, tx, all)
		if wrong := look(all); err == nil && wrong != nil {
			return nil, nil, wrong
		}
		return made, refused, err
	}
}

// BeforeUndo calls a function before an application is undone, which may refuse that.
func (s *Service) BeforeUndo(look func(applicationID string) error) {
	undo := s.undo
	s.undo = func(ctx context.Context, tx *db.Tx, applicationID, reason string) (string, error) {
		if err := look(applicationID); err != nil {
			return "", err
		}
		return undo(ctx, tx, applicationID, reason)
	}
}

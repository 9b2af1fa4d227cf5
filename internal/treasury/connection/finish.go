package connection

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Finished is what came of a setup on a page of a provider.
type Finished struct {
	Title    string // the provider, for people
	Reads    bool   // transactions are read from the account
	ReturnTo string // where the browser goes; empty if it stays
	SetupURL string // the page of the provider, if the setup is not finished there
	Err      error  // why the setup failed; nil if it did not
}

// ErrNoSetup is the error for a state that no setup has, or only one that is over.
var ErrNoSetup = fault.Missing("setup")

// FinishSetup finishes a setup with the query with which the page of a provider has sent the browser back. It may be called again for a
// setup that was finished, until it would have expired. The error is ErrNoSetup, ErrUnfinished if the person has to go on at SetupURL, or
// of kind Unavailable if the same request may succeed later. Otherwise the setup is over.
func (s *Service) FinishSetup(ctx context.Context, state string, query url.Values) (out Finished, err error) {
	var a Attempt
	var organizationID string
	err = s.db.ReadAcross(ctx, "a browser that comes back names a setup, and no organization", func(ctx context.Context, tx *db.Tx) error {
		a, organizationID, err = selectAttemptByState(ctx, tx, hashOf(state))
		return err
	})
	if fault.KindOf(err) == fault.NotFound || state == "" {
		return out, ErrNoSetup
	}
	if err != nil {
		return out, err
	}
	return s.finishAttempt(ctx, organizationID, a, query)
}

// finishAttempt finishes a setup, one caller of this node at a time.
func (s *Service) finishAttempt(ctx context.Context, organizationID string, a Attempt, query url.Values) (out Finished, err error) {
	defer s.renewing.lock(a.ID)()
	ctx = actor.With(ctx, actor.Actor{OrganizationID: organizationID})
	var c Connection
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if c, err = s.find(ctx, tx, a.ConnectionID, ""); err != nil {
			return err
		}
		found, err := selectAttempt(ctx, tx, a.ConnectionID)
		over := err == nil && (found == nil || found.ID != a.ID || found.Status != AttemptPending && found.Status != AttemptCompleted)
		if over || err == nil && !found.ExpiresAt.After(tx.Now()) {
			return ErrNoSetup
		}
		if err == nil {
			a.Status = found.Status
		}
		return err
	})
	if err != nil {
		return out, err
	}
	out.Title, out.Reads, out.ReturnTo = c.title, s.providers[c.Provider].fillsSources(), a.ReturnTo
	if a.Status == AttemptCompleted { // the page was reloaded, or the provider was asked before the browser came back
		return out, nil
	}
	in, failed := s.askForAccount(ctx, organizationID, c, a, query)
	if failed == nil {
		failed = s.complete(ctx, organizationID, c.ID, a, in)
	}
	switch kind := fault.KindOf(failed); {
	case failed == nil:
		return out, nil
	case errors.Is(failed, ErrUnfinished):
		if kept, err := s.unseal(organizationID, a.ID, a.sealed); err == nil {
			out.SetupURL = kept[setupURLKey].Reveal()
		}
		return out, ErrUnfinished
	case kind == fault.Unavailable, kind == fault.Internal, ctx.Err() != nil:
		return out, failed
	}
	out.Err = withoutFields(failed)
	return out, s.failAttempt(ctx, organizationID, c.ID, a, out.Err)
}

// withoutFields returns a refusal without the names of fields: who consents on a page has entered none of them.
func withoutFields(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err
	}
	texts := []string{}
	for _, one := range f.Fields {
		texts = append(texts, one.Message)
	}
	if f.Kind == fault.Conflict { // its message says it all
		texts = []string{f.Message}
	}
	return fault.Conflictf("%s", strings.Join(texts, "; "))
}

// askForAccount asks the provider for the credentials of a setup, and for their account.
func (s *Service) askForAccount(ctx context.Context, organizationID string, c Connection, a Attempt, query url.Values) (out Inspected,
	err error) {
	p, known := s.providers[c.Provider]
	if !known || p.Finish == nil {
		return out, fault.Conflictf("%s is not available on this node", c.Provider)
	}
	kept, err := s.unseal(organizationID, a.ID, a.sealed)
	if err != nil {
		return out, fault.Conflictf("%v", ErrSealed)
	}
	request := SetupRequest{State: kept[stateKey].Reveal(), ReturnTo: s.pages.Callback, Renews: c.credentials != ""}
	delete(kept, stateKey)
	delete(kept, setupURLKey)
	credentials, err := p.Finish(ctx, kept, request, query)
	if err != nil {
		return out, err
	}
	return s.inspect(ctx, p, credentials)
}

// complete stores the account of a setup. Whoever finishes a setup need not be signed in: who began it was allowed to connect the account.
func (s *Service) complete(ctx context.Context, organizationID, connectionID string, a Attempt, in Inspected) error {
	return s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if ours, err := finishAttempt(ctx, tx, a.ID, AttemptCompleted, ""); err != nil || !ours {
			return errors.Join(err, errUnless(ours, ErrNoSetup))
		}
		before, err := s.find(ctx, tx, connectionID, "{for_update}")
		if err != nil {
			return err
		}
		if err := before.requireConnected(); err != nil {
			return err
		}
		_, err = s.useCredentials(ctx, tx, before, in)
		return err
	})
}

func errUnless(ok bool, err error) error {
	if ok {
		return nil
	}
	return err
}

// attemptErrorMax bounds the text of a failure that is stored, in characters.
const attemptErrorMax = 500

// failAttempt stores that a setup has failed.
func (s *Service) failAttempt(ctx context.Context, organizationID, connectionID string, a Attempt, because error) error {
	return s.db.Write(context.WithoutCancel(ctx), organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		ours, err := finishAttempt(ctx, tx, a.ID, AttemptFailed, cut(because.Error(), attemptErrorMax))
		if err != nil || !ours {
			return err
		}
		c, err := s.find(ctx, tx, connectionID, "")
		if err == nil {
			audit.Record(ctx, tx, audit.Change{Action: "connection.setup_failed", ResourceType: noun, ResourceID: c.ID, Before: c.facts(),
				After: c.facts(), NoEvent: true})
		}
		return err
	})
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
	return err
}

// expire ends a setup whose time is over. A connection that never had an account is disconnected with it.
func (s *Service) expire(ctx context.Context, w attemptAcross) error {
	return s.db.Write(actor.With(ctx, actor.Actor{OrganizationID: w.OrganizationID}), w.OrganizationID,
		func(ctx context.Context, tx *db.Tx) error {
			if _, err := orgstate.Lock(ctx, tx); err != nil {
				return err
			}
			ours, err := finishAttempt(ctx, tx, w.ID, AttemptExpired, "")
			if err != nil || !ours {
				return err
			}
			before, err := s.find(ctx, tx, w.ConnectionID, "{for_update}")
			if err != nil || before.Status != PendingSetup {
				return err
			}
			after := before
			after.Status = Disconnected
			if err := deleteCredentials(ctx, tx, after.ID); err != nil {
				return err
			}
			_, err = save(ctx, tx, eventOf(Disconnected), before, after)
			return err
		})
}

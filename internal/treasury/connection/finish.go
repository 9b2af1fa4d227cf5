package connection

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"

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

// finishAttempt finishes a setup, one caller of all nodes at a time.
func (s *Service) finishAttempt(ctx context.Context, organizationID string, a Attempt, query url.Values) (out Finished, err error) {
	ctx, cancel := context.WithTimeout(actor.With(ctx, actor.Actor{OrganizationID: organizationID}), attemptTimeout)
	defer cancel()
	c, a, err := s.claimAttempt(ctx, organizationID, a)
	if err != nil {
		return out, err
	}
	out.Title, out.Reads, out.ReturnTo = c.title, s.providers[c.Provider].fillsSources(), s.returnTo(a)
	if a.Status == AttemptCompleted { // the page was reloaded, or the provider was asked before the browser came back
		return out, nil
	}
	defer s.releaseAttempt(ctx, organizationID, a)
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
	case kind == fault.Unavailable, kind == fault.RateLimited, kind == fault.Internal, ctx.Err() != nil:
		return out, failed
	}
	out.Err = withoutFields(failed)
	if err := s.failAttempt(ctx, organizationID, c.ID, a, out.Err); err != nil {
		return out, err
	}
	s.revokeUnused(ctx, organizationID, c.Provider, in.credentials)
	return out, nil
}

const (
	// attemptLease is how long a node that finishes a setup keeps others from doing so, unless it is done before.
	attemptLease = 2 * time.Minute
	// attemptTimeout is how long it may take.
	attemptTimeout = attemptLease - 10*time.Second
	// attemptWait is how long a caller waits for another one that finishes the same setup.
	attemptWait = 10 * time.Second
	// attemptEvery is how often it looks.
	attemptEvery = 100 * time.Millisecond
)

// errFinishing is the error for a setup that another caller finishes.
var errFinishing = fault.Busyf(2*time.Second, "the setup is being finished at this moment: load the page again in a few seconds")

// claimAttempt keeps others from finishing a setup, and returns it with its connection. It waits for a caller that does so already. A setup
// that was completed is only returned.
func (s *Service) claimAttempt(ctx context.Context, organizationID string, a Attempt) (c Connection, found Attempt, err error) {
	waiting, stop := context.WithTimeout(ctx, attemptWait)
	defer stop()
	for {
		err = s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			until := tx.Now().Add(attemptLease)
			ours, err := claimAttempt(ctx, tx, a.ID, until)
			if err != nil {
				return err
			}
			if c, err = s.find(ctx, tx, a.ConnectionID, ""); err != nil {
				return err
			}
			latest, err := selectAttempt(ctx, tx, a.ConnectionID)
			switch {
			case err != nil:
				return err
			case latest == nil || latest.ID != a.ID || latest.Status != AttemptPending && latest.Status != AttemptCompleted,
				!latest.ExpiresAt.After(tx.Now()):
				return ErrNoSetup
			case latest.Status == AttemptPending && !ours:
				return errFinishing
			}
			found, found.claimedUntil = *latest, until
			return nil
		})
		if !errors.Is(err, errFinishing) {
			return c, found, err
		}
		select {
		case <-waiting.Done():
			return c, found, err
		case <-time.After(attemptEvery):
		}
	}
}

// releaseAttempt lets others finish a setup that is not over.
func (s *Service) releaseAttempt(ctx context.Context, organizationID string, a Attempt) {
	// An error is ignored, because the lease then expires by itself.
	_ = s.db.Write(context.WithoutCancel(ctx), organizationID, func(ctx context.Context, tx *db.Tx) error {
		return releaseAttempt(ctx, tx, a.ID, a.claimedUntil)
	})
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

// askForAccount asks the provider for the credentials of a setup, and for their account. What the browser brings back can be exchanged for
// credentials once, so that they are stored with the setup before the provider is asked for the account: if that fails, the next call uses
// them.
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
	page := Credentials{stateKey: kept[stateKey], setupURLKey: kept[setupURLKey]}
	delete(kept, stateKey)
	delete(kept, setupURLKey)
	credentials := kept
	if !a.exchanged {
		request := SetupRequest{State: page[stateKey].Reveal(), ReturnTo: s.pages.Callback, Renews: c.credentials != ""}
		if credentials, err = p.Finish(ctx, kept, request, query); err != nil {
			return out, err
		}
		if err := s.keepExchanged(ctx, organizationID, a, page, credentials); err != nil {
			return Inspected{credentials: credentials}, err
		}
	}
	out, err = s.inspect(ctx, p, credentials.clone())
	if err != nil && !out.credentials.same(credentials) { // they were renewed
		err = errors.Join(err, s.keepExchanged(ctx, organizationID, a, page, out.credentials))
	}
	return out, err
}

// keepExchanged stores the credentials that a provider has given for a setup with it, and what is needed to show its page.
func (s *Service) keepExchanged(ctx context.Context, organizationID string, a Attempt, page, exchanged Credentials) error {
	all := exchanged.clone()
	maps.Copy(all, page)
	sealed, err := s.seal(organizationID, a.ID, all)
	if err != nil {
		return err
	}
	return s.db.Write(context.WithoutCancel(ctx), organizationID, func(ctx context.Context, tx *db.Tx) error {
		ours, err := storeExchanged(ctx, tx, a.ID, a.claimedUntil, sealed)
		if err == nil && !ours {
			err = ErrNoSetup
		}
		return err
	})
}

// exchanged returns the credentials that a provider has given for a setup of a connection that is not finished, nil if it has given none.
func (s *Service) exchanged(ctx context.Context, tx *db.Tx, connectionID string) (out Credentials, err error) {
	a, err := selectAttempt(ctx, tx, connectionID)
	if err == nil && a != nil && a.Status == AttemptPending && a.exchanged {
		out, _ = s.unseal(tx.Organization(), a.ID, a.sealed) // what cannot be decrypted cannot be revoked either
	}
	return out, err
}

// complete stores the account of a setup. Whoever finishes a setup need not be signed in: who began it was allowed to connect the account.
func (s *Service) complete(ctx context.Context, organizationID, connectionID string, a Attempt, in Inspected) error {
	return s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		ours, err := finishAttempt(ctx, tx, a.ID, AttemptCompleted, "")
		if err == nil && !ours {
			err = ErrNoSetup
		}
		if err != nil {
			return err
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

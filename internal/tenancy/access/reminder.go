package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Reminder is the job that tells people which keys expire soon.
type Reminder struct{}

// Kind returns the name of the job.
func (Reminder) Kind() string { return "api_key_reminder" }

const (
	remindBefore = 7 * 24 * time.Hour
	remindBatch  = 100
)

// Remind tells people about keys that expire within a week: the user of the key or, if it has none, the owners of the organization. Each
// key is announced once, by mail and by an event. One that cannot be announced does not keep the others from it: it is in the error, and
// is announced the next time.
func (s *Service) Remind(ctx context.Context) error {
	now := s.db.Clock().Now()
	last := expiring{KeyID: afterAll, ExpiresAt: now}
	var errs []error
	for {
		var found []expiring
		err := s.db.ReadAcross(ctx, "keys of all organizations expire", func(ctx context.Context, tx *db.Tx) (err error) {
			found, err = selectExpiring(ctx, tx, last, now.Add(remindBefore), remindBatch)
			return err
		})
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, last = range found {
			if err := s.remind(ctx, last); err != nil {
				errs = append(errs, fmt.Errorf("the key %s of %s, which expires soon: %w", last.KeyID, last.OrganizationID, err))
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if len(found) < remindBatch {
			return errors.Join(errs...)
		}
	}
}

// afterAll sorts after every id.
const afterAll = "~"

func (s *Service) remind(ctx context.Context, one expiring) error {
	ctx = actor.With(ctx, actor.Actor{OrganizationID: one.OrganizationID})
	return s.db.Write(ctx, one.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := selectKey(ctx, tx, one.KeyID)
		if err != nil || before.RemindedAt != nil || before.SuccessorID != "" || before.ended(tx.Now()) { // it has changed meanwhile
			return err
		}
		after, now := before, tx.Now()
		after.RemindedAt = &now
		if err := updateKey(ctx, tx, after); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "api_key.expiring", ResourceType: "api_key", ResourceID: after.ID, Before: before.facts(),
			After: after.facts(), Object: after})
		return s.announce(ctx, tx, after)
	})
}

// announce mails that a key expires soon.
func (s *Service) announce(ctx context.Context, tx *db.Tx, k Key) error {
	if s.Send == nil {
		return nil
	}
	o, err := orgstate.FindOrganization(ctx, tx)
	if err != nil {
		return err
	}
	to, err := OwnerEmails(ctx, tx)
	if err != nil {
		return err
	}
	if k.UserID != "" {
		m, err := FindMember(ctx, tx, k.UserID)
		if err != nil {
			return err
		}
		to = []string{m.Email}
	}
	for _, address := range to { // one for each, because an address that is refused must not keep the others from it
		err := s.Send(ctx, tx, mail.Message{To: []string{address}, Subject: fmt.Sprintf("%s: an API key expires soon", o.Name),
			Text: fmt.Sprintf("The API key %q of %s, which ends in %s, expires at %s.\n\nPrograms that use it stop working then. To replace "+
				"it, without an interruption, by a new key that is valid for as long as this one was, sign in and send "+
				"POST /v1/api-keys/%s/rotate. Rotated with a key, the new one expires when this one does.\n", k.Name, o.Name, k.LastFour,
				k.ExpiresAt.UTC().Format(time.RFC1123), k.ID)})
		if err != nil {
			return err
		}
	}
	return nil
}

package access

import (
	"context"
	"encoding/json"
	"regexp"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// The limits of preferences.
const (
	PreferencesMax     = 200      // of a user in an organization
	PreferenceBytesMax = 16 << 10 // of a value
)

// PreferenceName is the pattern of the names of preferences.
const PreferenceName = `^[a-z0-9][a-z0-9._-]{0,63}$`

var preferenceName = regexp.MustCompile(PreferenceName)

// Preferences returns what the actor's user has set in the organization, by name. The values are JSON.
func (s *Service) Preferences(ctx context.Context) (out map[string]json.RawMessage, err error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		rows, err := selectPreferences(ctx, tx, userID)
		out = make(map[string]json.RawMessage, len(rows))
		for _, r := range rows {
			out[r.Name] = json.RawMessage(r.Value)
		}
		return err
	})
	return out, err
}

// SetPreference sets a preference of the actor's user in the organization.
func (s *Service) SetPreference(ctx context.Context, name string, value json.RawMessage) error {
	userID, err := userOf(ctx)
	if err != nil {
		return err
	}
	var faults fault.List
	if !preferenceName.MatchString(name) {
		faults.Addf("name", "must match %s, but is %q", PreferenceName, name)
	}
	if len(value) > PreferenceBytesMax {
		faults.Addf("value", "must have at most %d bytes as JSON, but has %d", PreferenceBytesMax, len(value))
	}
	if err := faults.Err(); err != nil {
		return err
	}
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		// The membership is locked, so that two new names do not exceed the maximum together.
		names, err := lockPreferences(ctx, tx, userID)
		if err != nil {
			return err
		}
		others := 0
		for _, one := range names {
			if one != name {
				others++
			}
		}
		if others >= PreferencesMax {
			return fault.Conflictf("you have %d preferences, which is the maximum: delete one first", others)
		}
		return upsertPreference(ctx, tx, preferenceRow{UserID: userID, Name: name, Value: string(value), UpdatedAt: tx.Now()})
	})
}

// DeletePreference deletes a preference of the actor's user in the organization. The error is NotFound if there is none.
func (s *Service) DeletePreference(ctx context.Context, name string) error {
	userID, err := userOf(ctx)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		n, err := deletePreference(ctx, tx, userID, name)
		if err == nil && n == 0 {
			err = fault.Missing("preference")
		}
		return err
	})
}

// userOf returns the user of the actor, who alone has preferences.
func userOf(ctx context.Context) (string, error) {
	userID := actor.From(ctx).UserID
	if userID == "" {
		return "", fault.Forbiddenf("this needs a key that is associated with a user")
	}
	return userID, nil
}

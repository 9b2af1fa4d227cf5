package identity

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// Person is a user, and how they sign in.
type Person struct {
	UserID string
	Email  string
	Name   string

	passwordHash      string
	passwordChangedAt *time.Time
	totpSecret        string // sealed; it counts once it is confirmed
	totpConfirmedAt   *time.Time
	totpStep          int64
	recoveryCodes     []string // hashes
}

// HasPassword reports whether the person can sign in with a password.
func (p Person) HasPassword() bool { return p.passwordHash != "" }

// HasSecondFactor reports whether a password is not enough.
func (p Person) HasSecondFactor() bool { return p.totpConfirmedAt != nil }

// RecoveryCodesLeft returns how many recovery codes were not used yet.
func (p Person) RecoveryCodesLeft() int { return len(p.recoveryCodes) }

// Find returns a person.
func (s *Service) Find(ctx context.Context, userID string) (p Person, err error) {
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err = selectPerson(ctx, tx, userID)
		return err
	})
	return p, err
}

// Membership is an organization that a person is a member of.
type Membership struct {
	OrganizationID   string
	OrganizationName string
	Role             actor.Role
	LegalEntityIDs   []string
}

// membershipsMax bounds how many organizations a person can choose from.
const membershipsMax = 1000

// Memberships returns the organizations that a person is a member of, by name.
func (s *Service) Memberships(ctx context.Context, userID string) (out []Membership, err error) {
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		out, err = selectMemberships(ctx, tx, userID, membershipsMax)
		return err
	})
	return out, err
}

// event is something that happened to a person, for the audit log.
type event struct {
	action  string // such as session.created
	details map[string]any
}

// recordedMax bounds in how many organizations something is recorded.
const recordedMax = 100

// record adds an event to the audit log of the organizations that a person is a member of. They are written one after the other: each
// organization has a log of its own.
func (s *Service) record(ctx context.Context, p Person, o Origin, e event) error {
	var orgs []Membership
	err := s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) (err error) {
		orgs, err = selectMemberships(ctx, tx, p.UserID, recordedMax)
		return err
	})
	if err != nil {
		return err
	}
	facts := map[string]any{"user_id": p.UserID, "email": p.Email, "address": o.Address, "user_agent": o.UserAgent}
	for name, value := range e.details {
		facts[name] = value
	}
	for _, m := range orgs {
		who := actor.From(ctx)
		who.OrganizationID, who.UserID, who.RequestID = m.OrganizationID, p.UserID, o.RequestID
		err := s.db.Write(actor.With(ctx, who), m.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			kind, _, _ := strings.Cut(e.action, ".")
			audit.Record(ctx, tx, audit.Change{Action: e.action, ResourceType: kind, ResourceID: p.UserID, After: facts, PartsOnly: true})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Origin says where a request comes from.
type Origin struct {
	Address   string
	UserAgent string
	RequestID string
}

// userAgentMax bounds what is kept of how a browser calls itself.
const userAgentMax = 200

// NewOrigin returns where a request comes from, with what is kept of it.
func NewOrigin(address, userAgent, requestID string) Origin {
	userAgent = strings.ToValidUTF8(strings.ReplaceAll(userAgent, "\x00", ""), "")
	if len(userAgent) > userAgentMax {
		userAgent = strings.ToValidUTF8(userAgent[:userAgentMax], "")
	}
	return Origin{Address: address, UserAgent: userAgent, RequestID: requestID}
}

package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/tenancy/access"
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

// Events lists what the audit log and webhook events tell of how people sign in.
var Events = []string{"session.created", "session.ended", "sign_in.code_requested", "sign_in.failed",
	"user.password_changed", "user.second_factor_added", "user.second_factor_removed", "user.recovery_codes_replaced",
	"user.passkey_added", "user.passkey_removed", emailChanged, "user.identity_linked", "user.identity_unlinked", nameChanged}

// What changes what is stored of a member too.
const (
	emailChanged = "user.email_changed"
	nameChanged  = "user.name_changed"
)

// event is something that happened to a person, for the audit log.
type event struct {
	action  string // one of Events
	details map[string]any
}

// SecurityEvent is what the audit log and webhook events tell of an event.
type SecurityEvent struct {
	UserID    string
	Email     string
	Address   string
	UserAgent string
	Details   map[string]string

	// OccurredAt is when it happened. The audit record is written some time after, and perhaps in another order.
	OccurredAt time.Time
}

func (e SecurityEvent) facts() map[string]any {
	return map[string]any{"user_id": e.UserID, "email": e.Email, "address": e.Address, "user_agent": e.UserAgent, "details": e.Details,
		"occurred_at": clock.Format(e.OccurredAt)}
}

// Happened is the job that records an event in the audit log of each organization that the person is a member of. It is queued in the
// database transaction of what happened, so that there is never one without the other.
type Happened struct {
	Action  string         `json:"action"`
	UserID  string         `json:"user_id"`
	Email   string         `json:"email"` // if the person is found by it
	Details map[string]any `json:"details"`
	Origin  Origin         `json:"origin"`
	At      time.Time      `json:"at"`

	// ByOperator means that the operator of the service did it on the command line, and not the person.
	ByOperator bool `json:"by_operator,omitempty"`
}

// Kind returns the name of the job.
func (Happened) Kind() string { return "identity_event" }

// note has an event recorded that happens in a database transaction.
func (s *Service) note(ctx context.Context, tx *db.Tx, p Person, o Origin, e event) error {
	return s.queue(ctx, tx, Happened{Action: e.action, UserID: p.UserID, Details: e.details, Origin: o})
}

// queue stores the job that records an event. A process without a queue records it right after the commit.
func (s *Service) queue(ctx context.Context, tx *db.Tx, h Happened) error {
	h.At = tx.Now()
	if s.Queue != nil {
		return s.Queue(ctx, tx, h)
	}
	after := actor.With(context.Background(), actor.From(ctx))
	tx.AfterCommit(func() { _ = s.Record(after, h) })
	return nil
}

// Record records an event in the audit log of each organization that the person is a member of. They are written one after the other: each
// organization has a log of its own.
func (s *Service) Record(ctx context.Context, h Happened) error {
	var p Person
	var orgs []Membership
	err := s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) (err error) {
		if h.UserID != "" {
			p, err = selectPerson(ctx, tx, h.UserID)
		} else {
			p, err = selectPersonByEmail(ctx, tx, h.Email)
		}
		if err != nil {
			return err
		}
		orgs, err = selectMemberships(ctx, tx, p.UserID, membershipsMax)
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if h.At.IsZero() { // an earlier version has queued it
		h.At = s.now()
	}
	told := SecurityEvent{UserID: p.UserID, Email: p.Email, Address: h.Origin.Address, UserAgent: h.Origin.UserAgent,
		Details: map[string]string{}, OccurredAt: h.At}
	for name, value := range h.Details {
		told.Details[name] = fmt.Sprint(value)
	}
	for _, m := range orgs {
		who := actor.From(ctx)
		who.OrganizationID, who.UserID, who.RequestID = m.OrganizationID, p.UserID, h.Origin.RequestID
		if h.ByOperator {
			who.UserID = "" // as in every record of what the operator does
		}
		err := s.db.Write(actor.With(ctx, who), m.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			audit.Record(ctx, tx, audit.Change{Action: h.Action, ResourceType: "user", ResourceID: p.UserID, After: told.facts(), Object: told,
				PartsOnly: true})
			if h.Action != emailChanged && h.Action != nameChanged {
				return nil
			}
			return access.RecordMember(ctx, tx, p.UserID) // what is stored of a member has changed
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Origin says where a request comes from.
type Origin struct {
	Address   string `json:"address"`
	UserAgent string `json:"user_agent"`
	RequestID string `json:"request_id"`

	Network string      `json:"-"` // whose failures count together: the address, or the network that it belongs to
	Device  secret.Text `json:"-"` // what the browser was given when a person signed in there, if it was
}

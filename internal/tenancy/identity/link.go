package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
)

// Purpose is what a link is for.
type Purpose string

// The purposes.
const (
	SetPassword  Purpose = "set_password"
	ConfirmEmail Purpose = "confirm_email"
	Invitation   Purpose = "invitation"
	FirmRequest  Purpose = "firm_request"
)

// paths says where a link leads to.
var paths = map[Purpose]string{SetPassword: "/set-password/", ConfirmEmail: "/confirm-email/", Invitation: "/invitations/",
	FirmRequest: "/requests/"}

// lifetimes says how long a link works.
var lifetimes = map[Purpose]time.Duration{SetPassword: time.Hour, ConfirmEmail: 24 * time.Hour, Invitation: 7 * 24 * time.Hour}

// firstPasswordMax is how long the link works that init prints.
const firstPasswordMax = 7 * 24 * time.Hour

const linkPrefix = "bul_"

// Link is a link that was given to a person. It works once, unless it is that of a request, which works until the request ends.
type Link struct {
	Purpose        Purpose
	UserID         string
	OrganizationID string // of an invitation or a request
	InvitationID   string // or that of a request
	Email          string // that the link was sent to
	CreatedAt      time.Time
	ExpiresAt      time.Time
	UsedAt         *time.Time

	hash string
}

// NewLink stores a link and returns its address. It is a building block for a transaction that is bound to no organization.
func (s *Service) NewLink(ctx context.Context, tx *db.Tx, l Link, lifetime time.Duration) (secret.Text, error) {
	_, address, err := s.StoreLink(ctx, tx, l, lifetime)
	return address, err
}

// StoreLink is NewLink that also returns the link as it is stored. The caller holds a lock on what the link of a request is for, so that
// each link of it is later than the one before.
func (s *Service) StoreLink(ctx context.Context, tx *db.Tx, l Link, lifetime time.Duration) (stored Link, address secret.Text, err error) {
	text, err := token.New(s.random(), linkPrefix)
	if err != nil {
		return l, text, err
	}
	l.hash, l.CreatedAt, l.ExpiresAt = token.Hash(text.Reveal()), tx.Now(), tx.Now().Add(lifetime)
	if l.Purpose == FirmRequest { // several may be made at once, of which the last one is to work
		former, err := selectLatest(ctx, tx, l.InvitationID)
		if err != nil {
			return l, text, err
		}
		if !former.Before(l.CreatedAt) {
			l.CreatedAt = former.Add(time.Millisecond)
		}
	}
	if err := insertLink(ctx, tx, l); err != nil {
		return l, text, err
	}
	return l, secret.New(s.config.PublicURL + paths[l.Purpose] + text.Reveal()), nil
}

// errLink is the error for a link that does not work. It does not say why, so that it does not reveal which links exist.
var errLink = fault.Missing("link")

// FindLink returns a link that still works. The error is NotFound for one that is unknown, was used, or has expired.
func (s *Service) FindLink(ctx context.Context, purpose Purpose, text secret.Text) (l Link, err error) {
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		l, err = findLink(ctx, tx, purpose, text, false)
		return err
	})
	return l, err
}

func findLink(ctx context.Context, tx *db.Tx, purpose Purpose, text secret.Text, lock bool) (Link, error) {
	if !token.Looks(text.Reveal(), linkPrefix) {
		return Link{}, errLink
	}
	l, err := selectLink(ctx, tx, token.Hash(text.Reveal()), lock)
	if fault.KindOf(err) == fault.NotFound || err == nil && (l.Purpose != purpose || l.UsedAt != nil || !tx.Now().Before(l.ExpiresAt)) {
		return Link{}, errLink
	}
	return l, err
}

// UseLink marks a link as used and returns it, as FindLink does. It is a building block.
func UseLink(ctx context.Context, tx *db.Tx, purpose Purpose, text secret.Text) (Link, error) {
	l, err := findLink(ctx, tx, purpose, text, true)
	if err != nil {
		return l, err
	}
	return l, updateLinkUsed(ctx, tx, l.hash, tx.Now())
}

// HoldLink returns an error for a link that does not work, as FindLink does, and keeps the link from being deleted until the transaction
// ends: what is stored in the transaction was allowed by the link when it was committed. It is a building block.
func HoldLink(ctx context.Context, tx *db.Tx, purpose Purpose, text secret.Text) error {
	_, err := findLink(ctx, tx, purpose, text, true)
	return err
}

package identity

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
)

// FirstPasswordHash is the hash of a password that was checked and that a new person is about to have.
type FirstPasswordHash struct{ hash string }

// CheckFirstPassword returns the hash of a password for a new person, or a fault for one that somebody would guess who knows some texts
// about the person. It takes a while, and so belongs before the database transaction that stores it.
func (s *Service) CheckFirstPassword(ctx context.Context, plain secret.Text, about ...string) (FirstPasswordHash, error) {
	if err := s.checkPassword(plain, about...); err != nil {
		return FirstPasswordHash{}, err
	}
	hash, err := s.hasher.Hash(ctx, plain)
	return FirstPasswordHash{hash}, err
}

// SetFirstPassword gives a person a password who cannot sign in yet. It returns a Conflict fault for one who can. It is a building block.
func SetFirstPassword(ctx context.Context, tx *db.Tx, userID string, h FirstPasswordHash) error {
	p, err := lockPerson(ctx, tx, userID)
	if err != nil {
		return err
	}
	switch can, err := canSignIn(ctx, tx, p); {
	case err != nil:
		return err
	case can:
		return fault.Conflictf("%s has an account already: sign in", p.Email)
	}
	now := tx.Now()
	p.passwordHash, p.passwordChangedAt = h.hash, &now
	return updateCredentials(ctx, tx, p)
}

// WithAccount returns the person with an email address and whether the person can sign in, by a password or otherwise. The person is empty
// if there is none. It is a building block.
func WithAccount(ctx context.Context, tx *db.Tx, email string) (Person, bool, error) {
	p, err := selectPersonByEmail(ctx, tx, email)
	if fault.KindOf(err) == fault.NotFound {
		return Person{}, false, nil
	}
	if err != nil {
		return Person{}, false, err
	}
	can, err := canSignIn(ctx, tx, p)
	return p, can, err
}

// canSignIn reports whether a person has a password, a passkey, or an account at an OpenID provider.
func canSignIn(ctx context.Context, tx *db.Tx, p Person) (bool, error) {
	if p.HasPassword() {
		return true, nil
	}
	n, err := countOtherCredentials(ctx, tx, p.UserID)
	return n > 0, err
}

// BeginFirstSession signs in a person who has just set their first password by a mailed link.
func (s *Service) BeginFirstSession(ctx context.Context, userID string, o Origin) (SignedIn, error) {
	p, err := s.Find(ctx, userID)
	if err != nil {
		return SignedIn{}, err
	}
	return s.welcome(ctx, p, o, s.subjects(p.Email, o), ByLink)
}

package identity

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

type personRow struct {
	UserID            string     `db:"user_id"`
	Email             string     `db:"email"`
	Name              *string    `db:"name"`
	PasswordHash      *string    `db:"password_hash"`
	PasswordChangedAt *time.Time `db:"password_changed_at"`
	TOTPSecret        *string    `db:"totp_secret"`
	TOTPConfirmedAt   *time.Time `db:"totp_confirmed_at"`
	TOTPStep          *int64     `db:"totp_step"`
	RecoveryCodes     *string    `db:"recovery_codes"`
}

func (r personRow) person() Person {
	p := Person{UserID: r.UserID, Email: r.Email, Name: db.OrEmpty(r.Name), passwordHash: db.OrEmpty(r.PasswordHash),
		passwordChangedAt: r.PasswordChangedAt, totpSecret: db.OrEmpty(r.TOTPSecret), totpConfirmedAt: r.TOTPConfirmedAt,
		recoveryCodes: strings.Fields(db.OrEmpty(r.RecoveryCodes))}
	if r.TOTPStep != nil {
		p.totpStep = *r.TOTPStep
	}
	return p
}

const personQuery = "SELECT u.user_id, u.email, u.name, c.password_hash, c.password_changed_at, c.totp_secret, c.totp_confirmed_at, " +
	"c.totp_step, c.recovery_codes FROM users u LEFT JOIN user_credentials c ON c.user_id = u.user_id WHERE "

func selectPerson(ctx context.Context, tx *db.Tx, userID string) (Person, error) {
	r, err := db.One[personRow](ctx, tx, "user", personQuery+"u.user_id = ?", userID)
	return r.person(), err
}

func selectPersonByEmail(ctx context.Context, tx *db.Tx, email string) (Person, error) {
	r, err := db.One[personRow](ctx, tx, "user", personQuery+"u.email = ?", email)
	return r.person(), err
}

// lockPerson returns a person whose credentials nobody else changes until the transaction ends. It creates the row if there is none.
func lockPerson(ctx context.Context, tx *db.Tx, userID string) (Person, error) {
	if _, err := tx.Exec(ctx, "INSERT INTO user_credentials (user_id, totp_step, recovery_codes) SELECT user_id, 0, '' FROM users "+
		"WHERE user_id = ? ON CONFLICT DO NOTHING", userID); err != nil {
		return Person{}, err
	}
	if _, err := db.One[string](ctx, tx, "user", "SELECT user_id FROM user_credentials WHERE user_id = ? {for_update}", userID); err != nil {
		return Person{}, err
	}
	return selectPerson(ctx, tx, userID)
}

func updateCredentials(ctx context.Context, tx *db.Tx, p Person) error {
	_, err := tx.Exec(ctx, "UPDATE user_credentials SET password_hash = ?, password_changed_at = ?, totp_secret = ?, totp_confirmed_at = ?, "+
		"totp_step = ?, recovery_codes = ? WHERE user_id = ?", db.OrNull(p.passwordHash), p.passwordChangedAt, db.OrNull(p.totpSecret),
		p.totpConfirmedAt, p.totpStep, strings.Join(p.recoveryCodes, " "), p.UserID)
	return err
}

// replaceHash replaces the hash of a password, unless it was changed meanwhile.
func replaceHash(ctx context.Context, tx *db.Tx, userID, from, to string) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE user_credentials SET password_hash = ? WHERE user_id = ? AND password_hash = ?", to, userID, from)
	return n > 0, err
}

type membershipRow struct {
	OrganizationID   string `db:"organization_id"`
	OrganizationName string `db:"name"`
	Role             string `db:"role"`
	LegalEntityIDs   string `db:"legal_entity_ids"`
}

func selectMemberships(ctx context.Context, tx *db.Tx, userID string, limit int) ([]Membership, error) {
	rows, err := db.All[membershipRow](ctx, tx, "SELECT m.organization_id, o.name, m.role, m.legal_entity_ids FROM members m "+
		"JOIN organizations o ON o.organization_id = m.organization_id WHERE m.user_id = ? ORDER BY o.name, m.organization_id LIMIT ?",
		userID, limit)
	out := make([]Membership, len(rows))
	for i, r := range rows {
		out[i] = Membership{OrganizationID: r.OrganizationID, OrganizationName: r.OrganizationName, Role: actor.Role(r.Role),
			LegalEntityIDs: strings.Fields(r.LegalEntityIDs)}
	}
	return out, err
}

type sessionRow struct {
	SessionID       string    `db:"session_id"`
	TokenHash       string    `db:"token_hash"`
	UserID          string    `db:"user_id"`
	Method          string    `db:"method"`
	Address         string    `db:"address"`
	UserAgent       string    `db:"user_agent"`
	OrganizationID  *string   `db:"chosen"`
	CreatedAt       time.Time `db:"created_at"`
	AuthenticatedAt time.Time `db:"authenticated_at"`
	SeenAt          time.Time `db:"seen_at"`
	ExpiresAt       time.Time `db:"expires_at"`
}

func (r sessionRow) session() Session {
	return Session{ID: r.SessionID, UserID: r.UserID, Method: Method(r.Method), Address: r.Address, UserAgent: r.UserAgent,
		OrganizationID: db.OrEmpty(r.OrganizationID), CreatedAt: r.CreatedAt, AuthenticatedAt: r.AuthenticatedAt, SeenAt: r.SeenAt,
		ExpiresAt: r.ExpiresAt, hash: r.TokenHash}
}

func insertSession(ctx context.Context, tx *db.Tx, s Session) error {
	return db.Insert(ctx, tx, "sessions", sessionRow{SessionID: s.ID, TokenHash: s.hash, UserID: s.UserID, Method: string(s.Method),
		Address: s.Address, UserAgent: s.UserAgent, OrganizationID: db.OrNull(s.OrganizationID), CreatedAt: s.CreatedAt,
		AuthenticatedAt: s.AuthenticatedAt, SeenAt: s.SeenAt, ExpiresAt: s.ExpiresAt})
}

func querySessions(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]Session, error) {
	rows, err := db.All[sessionRow](ctx, tx, "SELECT "+db.Columns[sessionRow]()+" FROM sessions WHERE "+condition, args...)
	out := make([]Session, len(rows))
	for i, r := range rows {
		out[i] = r.session()
	}
	return out, err
}

func selectSessionByHash(ctx context.Context, tx *db.Tx, hash string) (Session, error) {
	r, err := db.One[sessionRow](ctx, tx, "session", "SELECT "+db.Columns[sessionRow]()+" FROM sessions WHERE token_hash = ?", hash)
	return r.session(), err
}

func selectSession(ctx context.Context, tx *db.Tx, userID, sessionID string) (Session, error) {
	r, err := db.One[sessionRow](ctx, tx, "session", "SELECT "+db.Columns[sessionRow]()+" FROM sessions WHERE user_id = ? AND session_id = ?",
		userID, sessionID)
	return r.session(), err
}

// selectSessions reads the sessions of a person, the newest first.
func selectSessions(ctx context.Context, tx *db.Tx, userID string) ([]Session, error) {
	return querySessions(ctx, tx, "user_id = ? ORDER BY session_id DESC", userID)
}

func deleteSession(ctx context.Context, tx *db.Tx, sessionID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM sessions WHERE session_id = ?", sessionID)
	return err
}

func updateSeen(ctx context.Context, tx *db.Tx, sessionID string, at time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE sessions SET seen_at = ? WHERE session_id = ?", at, sessionID)
	return err
}

func updateAuthenticated(ctx context.Context, tx *db.Tx, sessionID string, at time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE sessions SET authenticated_at = ? WHERE session_id = ?", at, sessionID)
	return err
}

func updateChosen(ctx context.Context, tx *db.Tx, sessionID, organizationID string) error {
	_, err := tx.Exec(ctx, "UPDATE sessions SET chosen = ? WHERE session_id = ?", organizationID, sessionID)
	return err
}

type failuresRow struct {
	Failures int64     `db:"failures"`
	FailedAt time.Time `db:"failed_at"`
}

// lockFailures returns the failures of a subject, which may be none, and lets nobody else count until the transaction ends.
func lockFailures(ctx context.Context, tx *db.Tx, hash string, now time.Time) (failuresRow, error) {
	if _, err := tx.Exec(ctx, "INSERT INTO sign_in_failures (subject, failures, failed_at) VALUES (?, 0, ?) ON CONFLICT DO NOTHING", hash,
		now); err != nil {
		return failuresRow{}, err
	}
	return db.One[failuresRow](ctx, tx, "failures", "SELECT failures, failed_at FROM sign_in_failures WHERE subject = ? {for_update}", hash)
}

func updateFailures(ctx context.Context, tx *db.Tx, hash string, failures int64, at time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE sign_in_failures SET failures = ?, failed_at = ? WHERE subject = ?", failures, at, hash)
	return err
}

func takeBackFailure(ctx context.Context, tx *db.Tx, hash string) error {
	_, err := tx.Exec(ctx, "UPDATE sign_in_failures SET failures = failures - 1 WHERE subject = ? AND failures > 0", hash)
	return err
}

func deleteFailures(ctx context.Context, tx *db.Tx, hash string) error {
	_, err := tx.Exec(ctx, "DELETE FROM sign_in_failures WHERE subject = ?", hash)
	return err
}

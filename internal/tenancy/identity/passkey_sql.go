package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
)

type passkeyRow struct {
	PasskeyID    string     `db:"passkey_id"`
	UserID       string     `db:"user_id"`
	CredentialID string     `db:"credential_id"`
	Name         string     `db:"name"`
	Credential   string     `db:"credential"`
	CreatedAt    time.Time  `db:"created_at"`
	UsedAt       *time.Time `db:"used_at"`
}

func (r passkeyRow) passkey() Passkey {
	return Passkey{ID: r.PasskeyID, UserID: r.UserID, Name: r.Name, CreatedAt: r.CreatedAt, UsedAt: r.UsedAt, credentialID: r.CredentialID,
		sealed: r.Credential}
}

func insertPasskey(ctx context.Context, tx *db.Tx, k Passkey) error {
	return db.Insert(ctx, tx, "passkeys", passkeyRow{PasskeyID: k.ID, UserID: k.UserID, CredentialID: k.credentialID, Name: k.Name,
		Credential: k.sealed, CreatedAt: k.CreatedAt, UsedAt: k.UsedAt})
}

func queryPasskey(ctx context.Context, tx *db.Tx, condition string, args ...any) (Passkey, error) {
	r, err := db.One[passkeyRow](ctx, tx, "passkey", "SELECT "+db.Columns[passkeyRow]()+" FROM passkeys WHERE "+condition, args...)
	return r.passkey(), err
}

func selectPasskey(ctx context.Context, tx *db.Tx, userID, passkeyID string) (Passkey, error) {
	return queryPasskey(ctx, tx, "user_id = ? AND passkey_id = ?", userID, passkeyID)
}

func selectPasskeyByCredential(ctx context.Context, tx *db.Tx, credentialID string) (Passkey, error) {
	return queryPasskey(ctx, tx, "credential_id = ?", credentialID)
}

// lockPasskey returns a passkey that nobody else uses until the transaction ends, so that its count of uses cannot go back.
func lockPasskey(ctx context.Context, tx *db.Tx, credentialID string) (Passkey, error) {
	return queryPasskey(ctx, tx, "credential_id = ? {for_update}", credentialID)
}

func selectPasskeys(ctx context.Context, tx *db.Tx, userID string) ([]Passkey, error) {
	rows, err := db.All[passkeyRow](ctx, tx, "SELECT "+db.Columns[passkeyRow]()+" FROM passkeys WHERE user_id = ? ORDER BY passkey_id", userID)
	out := make([]Passkey, len(rows))
	for i, r := range rows {
		out[i] = r.passkey()
	}
	return out, err
}

func updatePasskeyName(ctx context.Context, tx *db.Tx, passkeyID, name string) error {
	_, err := tx.Exec(ctx, "UPDATE passkeys SET name = ? WHERE passkey_id = ?", name, passkeyID)
	return err
}

func updatePasskeyUsed(ctx context.Context, tx *db.Tx, k Passkey) error {
	_, err := tx.Exec(ctx, "UPDATE passkeys SET credential = ?, used_at = ? WHERE passkey_id = ?", k.sealed, k.UsedAt, k.ID)
	return err
}

func deletePasskey(ctx context.Context, tx *db.Tx, passkeyID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM passkeys WHERE passkey_id = ?", passkeyID)
	return err
}

// useOnce marks a random text as used until it expires. If it was used before, it returns the error.
func useOnce(ctx context.Context, tx *db.Tx, text string, expires time.Time, used error) error {
	n, err := tx.Exec(ctx, "INSERT INTO used_challenges (challenge_hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
		token.Hash(text), expires)
	if err == nil && n == 0 {
		return used
	}
	return err
}

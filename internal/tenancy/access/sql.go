package access

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

type userRow struct {
	UserID    string    `db:"user_id"`
	Email     string    `db:"email"`
	Name      *string   `db:"name"`
	CreatedAt time.Time `db:"created_at"`
}

// ensureUser returns the user with an email address, and creates one if there is none.
func ensureUser(ctx context.Context, tx *db.Tx, u userRow) (userRow, error) {
	if _, err := tx.Exec(ctx, "INSERT INTO users (user_id, email, name, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
		u.UserID, u.Email, u.Name, u.CreatedAt); err != nil {
		return u, err
	}
	return db.One[userRow](ctx, tx, "user", "SELECT user_id, email, name, created_at FROM users WHERE email = ?", u.Email)
}

// ChangeEmail sets the email address of a user. It is a building block for a transaction that is bound to no organization.
func ChangeEmail(ctx context.Context, tx *db.Tx, userID, email string) error {
	_, err := tx.Exec(ctx, "UPDATE users SET email = ? WHERE user_id = ?", email, userID)
	return err
}

type memberRow struct {
	UserID         string    `db:"user_id"`
	Role           string    `db:"role"`
	LegalEntityIDs string    `db:"legal_entity_ids"`
	CreatedAt      time.Time `db:"created_at"`
}

func insertMember(ctx context.Context, tx *db.Tx, m Member) error {
	return db.Insert(ctx, tx, "members", memberRow{m.UserID, string(m.Role), strings.Join(m.LegalEntityIDs, " "), m.JoinedAt})
}

func updateMember(ctx context.Context, tx *db.Tx, m Member) error {
	_, err := tx.Exec(ctx, "UPDATE members SET role = ?, legal_entity_ids = ? WHERE organization_id = @org AND user_id = ?", string(m.Role),
		strings.Join(m.LegalEntityIDs, " "), m.UserID)
	return err
}

func deleteMember(ctx context.Context, tx *db.Tx, userID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM members WHERE organization_id = @org AND user_id = ?", userID)
	return err
}

func selectRole(ctx context.Context, tx *db.Tx, userID string) (actor.Role, error) {
	role, err := db.One[string](ctx, tx, "member", "SELECT role FROM members WHERE organization_id = @org AND user_id = ?", userID)
	return actor.Role(role), err
}

func countRole(ctx context.Context, tx *db.Tx, role actor.Role) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM members WHERE organization_id = @org AND role = ?", string(role))
}

type memberUserRow struct {
	UserID         string    `db:"user_id"`
	Email          string    `db:"email"`
	Name           *string   `db:"name"`
	Role           string    `db:"role"`
	LegalEntityIDs string    `db:"legal_entity_ids"`
	CreatedAt      time.Time `db:"created_at"`
}

const memberQuery = "SELECT m.user_id, u.email, u.name, m.role, m.legal_entity_ids, m.created_at FROM members m JOIN users u " +
	"ON u.user_id = m.user_id WHERE m.organization_id = @org"

// selectMembers reads members by user id, which sorts by the creation of the user.
func selectMembers(ctx context.Context, tx *db.Tx, after string, limit int) ([]Member, error) {
	rows, err := db.All[memberUserRow](ctx, tx, memberQuery+" AND m.user_id > ? ORDER BY m.user_id LIMIT ?", after, limit)
	out := make([]Member, len(rows))
	for i, r := range rows {
		out[i] = r.member()
	}
	return out, err
}

// ownersMax bounds how many owners of an organization are told about something.
const ownersMax = 20

// OwnerEmails returns the addresses of the owners of the organization. It is a building block.
func OwnerEmails(ctx context.Context, tx *db.Tx) ([]string, error) {
	rows, err := db.All[memberUserRow](ctx, tx, memberQuery+" AND m.role = 'owner' ORDER BY m.user_id LIMIT ?", ownersMax)
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.Email
	}
	return out, err
}

func (r memberUserRow) member() Member {
	return Member{UserID: r.UserID, Email: r.Email, Name: db.OrEmpty(r.Name), Role: actor.Role(r.Role),
		LegalEntityIDs: strings.Fields(r.LegalEntityIDs), JoinedAt: r.CreatedAt}
}

// FindMember returns a member of the organization. It is a building block.
func FindMember(ctx context.Context, tx *db.Tx, userID string) (Member, error) {
	r, err := db.One[memberUserRow](ctx, tx, "member", memberQuery+" AND m.user_id = ?", userID)
	return r.member(), err
}

// MemberByEmail finds a member of the organization by email address, which an error of kind NotFound names.
func MemberByEmail(ctx context.Context, tx *db.Tx, email string) (Member, error) {
	r, err := db.One[memberUserRow](ctx, tx, "member", memberQuery+" AND u.email = ?", email)
	if fault.KindOf(err) == fault.NotFound {
		err = fmt.Errorf("%w: %s", err, email)
	}
	return r.member(), err
}

type keyRow struct {
	APIKeyID       string     `db:"api_key_id"`
	OrganizationID string     `db:"organization_id"`
	UserID         *string    `db:"user_id"`
	CreatedBy      *string    `db:"created_by"`
	ParentID       *string    `db:"parent_api_key_id"`
	Authorization  *string    `db:"oauth_authorization_id"`
	Successor      *string    `db:"successor_api_key_id"`
	RotatedWith    *string    `db:"rotated_with_api_key_id"`
	Name           string     `db:"name"`
	KeyHash        string     `db:"key_hash"`
	LastFour       string     `db:"last_four"`
	Scopes         string     `db:"scopes"`
	LegalEntityIDs string     `db:"legal_entity_ids"`
	ExpiresAt      *time.Time `db:"expires_at"`
	RevokedAt      *time.Time `db:"revoked_at"`
	RemindedAt     *time.Time `db:"reminded_at"`
	CreatedAt      time.Time  `db:"created_at"`
}

func insertKey(ctx context.Context, tx *db.Tx, k Key) error {
	return db.Insert(ctx, tx, "api_keys", keyRow{
		APIKeyID: k.ID, OrganizationID: k.OrganizationID, UserID: db.OrNull(k.UserID), CreatedBy: db.OrNull(k.CreatedBy),
		ParentID: db.OrNull(k.ParentID), Authorization: db.OrNull(k.AuthorizationID), Successor: db.OrNull(k.SuccessorID),
		RotatedWith: db.OrNull(k.RotatedWithID), Name: k.Name, KeyHash: k.hash, LastFour: k.LastFour, Scopes: actor.JoinScopes(k.Scopes),
		LegalEntityIDs: strings.Join(k.LegalEntityIDs, " "), ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, RemindedAt: k.RemindedAt,
		CreatedAt: k.CreatedAt,
	})
}

func (r keyRow) key() Key {
	return Key{
		ID: r.APIKeyID, OrganizationID: r.OrganizationID, UserID: db.OrEmpty(r.UserID), CreatedBy: db.OrEmpty(r.CreatedBy),
		ParentID: db.OrEmpty(r.ParentID), AuthorizationID: db.OrEmpty(r.Authorization), SuccessorID: db.OrEmpty(r.Successor),
		RotatedWithID: db.OrEmpty(r.RotatedWith), Name: r.Name, LastFour: r.LastFour, Scopes: actor.SplitScopes(r.Scopes),
		LegalEntityIDs: strings.Fields(r.LegalEntityIDs), ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt,
		RemindedAt: r.RemindedAt, CreatedAt: r.CreatedAt, hash: r.KeyHash,
	}
}

func selectKeyByHash(ctx context.Context, tx *db.Tx, hash string) (Key, error) {
	r, err := db.One[keyRow](ctx, tx, "API key", "SELECT "+db.Columns[keyRow]()+" FROM api_keys WHERE key_hash = ?", hash)
	return r.key(), err
}

func selectKey(ctx context.Context, tx *db.Tx, keyID string) (Key, error) {
	r, err := db.One[keyRow](ctx, tx, "API key", "SELECT "+db.Columns[keyRow]()+
		" FROM api_keys WHERE organization_id = @org AND api_key_id = ?", keyID)
	return r.key(), err
}

func selectKeys(ctx context.Context, tx *db.Tx, below string, limit int) ([]Key, error) {
	return queryKeys(ctx, tx, "api_key_id < ? ORDER BY api_key_id DESC LIMIT ?", below, limit)
}

// selectKeysOf reads the keys that act for a user or were created by the user, the oldest first.
func selectKeysOf(ctx context.Context, tx *db.Tx, userID string) ([]Key, error) {
	return queryKeys(ctx, tx, "(user_id = ? OR created_by = ?) ORDER BY api_key_id", userID, userID)
}

// selectKeysOfAuthorization reads the keys that an app has created, the oldest first.
func selectKeysOfAuthorization(ctx context.Context, tx *db.Tx, authorizationID string) ([]Key, error) {
	return queryKeys(ctx, tx, "oauth_authorization_id = ? ORDER BY api_key_id", authorizationID)
}

// selectChildren reads the keys that were created with some keys, the oldest first.
func selectChildren(ctx context.Context, tx *db.Tx, parentIDs []string) ([]Key, error) {
	return queryKeys(ctx, tx, "parent_api_key_id {any} ORDER BY api_key_id", parentIDs)
}

// selectRotatedWith reads the keys that replaced others, or themselves, by the hand of some keys, the oldest first.
func selectRotatedWith(ctx context.Context, tx *db.Tx, keyIDs []string) ([]Key, error) {
	return queryKeys(ctx, tx, "rotated_with_api_key_id {any} ORDER BY api_key_id", keyIDs)
}

func queryKeys(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]Key, error) {
	rows, err := db.All[keyRow](ctx, tx, "SELECT "+db.Columns[keyRow]()+" FROM api_keys WHERE organization_id = @org AND "+condition, args...)
	out := make([]Key, len(rows))
	for i, r := range rows {
		out[i] = r.key()
	}
	return out, err
}

// updateKey stores what can change of a key.
func updateKey(ctx context.Context, tx *db.Tx, k Key) error {
	_, err := tx.Exec(ctx, "UPDATE api_keys SET parent_api_key_id = ?, successor_api_key_id = ?, expires_at = ?, revoked_at = ?, "+
		"reminded_at = ? WHERE organization_id = @org AND api_key_id = ?", db.OrNull(k.ParentID), db.OrNull(k.SuccessorID), k.ExpiresAt,
		k.RevokedAt, k.RemindedAt, k.ID)
	return err
}

// expiring names a key that expires soon.
type expiring struct {
	OrganizationID string    `db:"organization_id"`
	KeyID          string    `db:"api_key_id"`
	ExpiresAt      time.Time `db:"expires_at"`
}

// selectExpiring reads keys of all organizations that expire after another one and until a time, of which nobody was told, the first ones
// first. Keys that were replaced are left out: they are meant to expire.
func selectExpiring(ctx context.Context, tx *db.Tx, after expiring, until time.Time, limit int) ([]expiring, error) {
	return db.All[expiring](ctx, tx, "SELECT organization_id, api_key_id, expires_at FROM api_keys WHERE revoked_at IS NULL AND "+
		"expires_at IS NOT NULL AND (expires_at, api_key_id) > (?, ?) AND expires_at <= ? AND reminded_at IS NULL AND "+
		"successor_api_key_id IS NULL ORDER BY expires_at, api_key_id LIMIT ?", after.ExpiresAt, after.KeyID, until, limit)
}

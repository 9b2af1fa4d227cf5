package oauth

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

type clientRow struct {
	ClientID       string     `db:"oauth_client_id"`
	OrganizationID *string    `db:"registered_for"`
	Name           string     `db:"name"`
	RedirectURIs   string     `db:"redirect_uris"`
	HomepageURL    *string    `db:"homepage_url"`
	RegisteredBy   string     `db:"registered_by"`
	CreatedBy      *string    `db:"created_by"`
	CreatedAt      time.Time  `db:"created_at"`
	RevokedAt      *time.Time `db:"revoked_at"`
}

func (r clientRow) client() Client {
	return Client{ID: r.ClientID, OrganizationID: db.OrEmpty(r.OrganizationID), Name: r.Name, RedirectURIs: strings.Fields(r.RedirectURIs),
		HomepageURL: db.OrEmpty(r.HomepageURL), RegisteredBy: Registrar(r.RegisteredBy), CreatedBy: db.OrEmpty(r.CreatedBy),
		CreatedAt: r.CreatedAt, RevokedAt: r.RevokedAt}
}

func insertClient(ctx context.Context, tx *db.Tx, c Client) error {
	return db.Insert(ctx, tx, "oauth_clients", clientRow{ClientID: c.ID, OrganizationID: db.OrNull(c.OrganizationID), Name: c.Name,
		RedirectURIs: strings.Join(c.RedirectURIs, " "), HomepageURL: db.OrNull(c.HomepageURL), RegisteredBy: string(c.RegisteredBy),
		CreatedBy: db.OrNull(c.CreatedBy), CreatedAt: c.CreatedAt, RevokedAt: c.RevokedAt})
}

func selectClient(ctx context.Context, tx *db.Tx, clientID string) (Client, error) {
	r, err := db.One[clientRow](ctx, tx, "OAuth client", "SELECT "+db.Columns[clientRow]()+" FROM oauth_clients WHERE oauth_client_id = ?",
		clientID)
	return r.client(), err
}

func selectClients(ctx context.Context, tx *db.Tx, below string, limit int) ([]Client, error) {
	rows, err := db.All[clientRow](ctx, tx, "SELECT "+db.Columns[clientRow]()+" FROM oauth_clients WHERE registered_for = @org AND "+
		"oauth_client_id < ? ORDER BY oauth_client_id DESC LIMIT ?", below, limit)
	out := make([]Client, len(rows))
	for i, r := range rows {
		out[i] = r.client()
	}
	return out, err
}

type codeRow struct {
	CodeHash        string     `db:"code_hash"`
	UserID          string     `db:"user_id"`
	ClientID        string     `db:"oauth_client_id"`
	RedirectURI     string     `db:"redirect_uri"`
	Challenge       string     `db:"code_challenge"`
	Scopes          string     `db:"scopes"`
	CreatedAt       time.Time  `db:"created_at"`
	ExpiresAt       time.Time  `db:"expires_at"`
	UsedAt          *time.Time `db:"used_at"`
	AuthorizationID *string    `db:"oauth_authorization_id"`
}

func insertCode(ctx context.Context, tx *db.Tx, c code) error {
	return db.Insert(ctx, tx, "oauth_codes", codeRow{CodeHash: c.hash, UserID: c.UserID, ClientID: c.ClientID, RedirectURI: c.RedirectURI,
		Challenge: c.Challenge, Scopes: actor.JoinScopes(c.Scopes), CreatedAt: c.CreatedAt, ExpiresAt: c.ExpiresAt})
}

func selectCode(ctx context.Context, tx *db.Tx, hash string) (code, error) {
	return queryCode(ctx, tx, hash, "")
}

// lockCode returns a code that nobody else can use until the transaction ends.
func lockCode(ctx context.Context, tx *db.Tx, hash string) (code, error) {
	return queryCode(ctx, tx, hash, "{for_update}")
}

func queryCode(ctx context.Context, tx *db.Tx, hash, lock string) (code, error) {
	r, err := db.One[codeRow](ctx, tx, "code", "SELECT "+db.Columns[codeRow]()+
		" FROM oauth_codes WHERE organization_id = @org AND code_hash = ? "+lock, hash)
	return code{hash: r.CodeHash, UserID: r.UserID, ClientID: r.ClientID, RedirectURI: r.RedirectURI, Challenge: r.Challenge,
		Scopes: actor.SplitScopes(r.Scopes), CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, UsedAt: r.UsedAt,
		AuthorizationID: db.OrEmpty(r.AuthorizationID)}, err
}

func updateCodeUsed(ctx context.Context, tx *db.Tx, hash, authorizationID string, at time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE oauth_codes SET used_at = ?, oauth_authorization_id = ? WHERE organization_id = @org AND code_hash = ?", at,
		authorizationID, hash)
	return err
}

type authorizationRow struct {
	AuthorizationID string     `db:"oauth_authorization_id"`
	UserID          string     `db:"user_id"`
	ClientID        string     `db:"oauth_client_id"`
	Scopes          string     `db:"scopes"`
	CreatedAt       time.Time  `db:"created_at"`
	EndedAt         *time.Time `db:"ended_at"`
	EndReason       *string    `db:"end_reason"`
}

func (r authorizationRow) authorization() Authorization {
	return Authorization{ID: r.AuthorizationID, UserID: r.UserID, ClientID: r.ClientID, Scopes: actor.SplitScopes(r.Scopes),
		CreatedAt: r.CreatedAt, EndedAt: r.EndedAt, EndReason: EndReason(db.OrEmpty(r.EndReason))}
}

func insertAuthorization(ctx context.Context, tx *db.Tx, a Authorization) error {
	return db.Insert(ctx, tx, "oauth_authorizations", authorizationRow{AuthorizationID: a.ID, UserID: a.UserID, ClientID: a.ClientID,
		Scopes: actor.JoinScopes(a.Scopes), CreatedAt: a.CreatedAt})
}

func queryAuthorizations(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]Authorization, error) {
	rows, err := db.All[authorizationRow](ctx, tx, "SELECT "+db.Columns[authorizationRow]()+
		" FROM oauth_authorizations WHERE organization_id = @org AND "+condition, args...)
	out := make([]Authorization, len(rows))
	for i, r := range rows {
		out[i] = r.authorization()
	}
	return out, err
}

func lockAuthorization(ctx context.Context, tx *db.Tx, authorizationID string) (Authorization, error) {
	r, err := db.One[authorizationRow](ctx, tx, noun, "SELECT "+db.Columns[authorizationRow]()+
		" FROM oauth_authorizations WHERE organization_id = @org AND oauth_authorization_id = ? {for_update}", authorizationID)
	return r.authorization(), err
}

// selectActive reads the authorizations of an app by a person, of which there is one at most.
func selectActive(ctx context.Context, tx *db.Tx, userID, clientID string) ([]Authorization, error) {
	return queryAuthorizations(ctx, tx, "user_id = ? AND oauth_client_id = ? AND ended_at IS NULL {for_update}", userID, clientID)
}

// selectAuthorization reads an authorization with its app.
func selectAuthorization(ctx context.Context, tx *db.Tx, authorizationID string) (a Authorization, err error) {
	rows, err := queryAuthorizations(ctx, tx, "oauth_authorization_id = ?", authorizationID)
	if err != nil {
		return a, err
	}
	if len(rows) == 0 {
		return a, fault.Missing(noun)
	}
	if err = addClients(ctx, tx, rows); err == nil {
		err = addPeople(ctx, tx, rows)
	}
	return rows[0], err
}

// selectAuthorizations reads authorizations that have not ended and that an actor sees, the newest first, with their apps.
func selectAuthorizations(ctx context.Context, tx *db.Tx, sees sight, below string, limit int) ([]Authorization, error) {
	condition, args := "ended_at IS NULL AND user_id = ?", []any{sees.userID}
	if sees.all {
		condition, args = "ended_at IS NULL", nil
	}
	rows, err := queryAuthorizations(ctx, tx, condition+" AND oauth_authorization_id < ? ORDER BY oauth_authorization_id DESC LIMIT ?",
		append(args, below, limit)...)
	if err == nil {
		err = addClients(ctx, tx, rows)
	}
	if err == nil {
		err = addPeople(ctx, tx, rows)
	}
	return rows, err
}

type placedRow struct {
	OrganizationID string `db:"organization_id"`
	authorizationRow
}

// selectOfPerson reads the authorizations of a person in some organizations that have not ended, with their apps.
func selectOfPerson(ctx context.Context, tx *db.Tx, userID string, organizationIDs []string, limit int) ([]Authorization, error) {
	rows, err := db.All[placedRow](ctx, tx, "SELECT "+db.Columns[placedRow]()+" FROM oauth_authorizations WHERE organization_id {any} AND "+
		"user_id = ? AND ended_at IS NULL ORDER BY organization_id, oauth_authorization_id DESC LIMIT ?", organizationIDs, userID, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Authorization, len(rows))
	for i, r := range rows {
		out[i] = r.authorization()
		out[i].OrganizationID = r.OrganizationID
	}
	return out, addClients(ctx, tx, out)
}

// addClients reads the apps of authorizations.
func addClients(ctx context.Context, tx *db.Tx, all []Authorization) error {
	ids := make([]string, len(all))
	for i, a := range all {
		ids[i] = a.ClientID
	}
	rows, err := db.All[clientRow](ctx, tx, "SELECT "+db.Columns[clientRow]()+" FROM oauth_clients WHERE oauth_client_id {any}", ids)
	if err != nil {
		return err
	}
	byID := map[string]Client{}
	for _, r := range rows {
		byID[r.ClientID] = r.client()
	}
	for i := range all {
		all[i].Client = byID[all[i].ClientID]
	}
	return nil
}

func updateEnded(ctx context.Context, tx *db.Tx, a Authorization) error {
	_, err := tx.Exec(ctx, "UPDATE oauth_authorizations SET ended_at = ?, end_reason = ? WHERE organization_id = @org AND "+
		"oauth_authorization_id = ?", a.EndedAt, string(a.EndReason), a.ID)
	return err
}

type tokenRow struct {
	TokenHash       string     `db:"token_hash"`
	AuthorizationID string     `db:"oauth_authorization_id"`
	Kind            string     `db:"kind"`
	Scopes          string     `db:"scopes"`
	Salt            string     `db:"salt"`
	CreatedAt       time.Time  `db:"created_at"`
	ExpiresAt       time.Time  `db:"expires_at"`
	ReplacedAt      *time.Time `db:"replaced_at"`
}

func insertTokens(ctx context.Context, tx *db.Tx, tokens ...stored) error {
	rows := make([]tokenRow, len(tokens))
	for i, t := range tokens {
		rows[i] = tokenRow{TokenHash: t.hash, AuthorizationID: t.AuthorizationID, Kind: string(t.Kind), Scopes: actor.JoinScopes(t.Scopes),
			Salt: t.salt, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt}
	}
	return db.Insert(ctx, tx, "oauth_tokens", rows...)
}

func queryToken(ctx context.Context, tx *db.Tx, hash, lock string) (stored, error) {
	r, err := db.One[tokenRow](ctx, tx, "token", "SELECT "+db.Columns[tokenRow]()+
		" FROM oauth_tokens WHERE organization_id = @org AND token_hash = ? "+lock, hash)
	return stored{hash: r.TokenHash, AuthorizationID: r.AuthorizationID, Kind: kind(r.Kind), Scopes: actor.SplitScopes(r.Scopes), salt: r.Salt,
		CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, ReplacedAt: r.ReplacedAt}, err
}

func selectToken(ctx context.Context, tx *db.Tx, hash string) (stored, error) {
	return queryToken(ctx, tx, hash, "")
}

// lockToken returns a token and its authorization, which nobody else changes until the transaction ends.
func lockToken(ctx context.Context, tx *db.Tx, hash string) (t stored, a Authorization, err error) {
	if t, err = queryToken(ctx, tx, hash, ""); err != nil {
		return t, a, err
	}
	if a, err = lockAuthorization(ctx, tx, t.AuthorizationID); err != nil { // first, as whoever ends an authorization does
		return t, a, err
	}
	t, err = queryToken(ctx, tx, hash, "{for_update}")
	return t, a, err
}

// selectAccess returns an access token, and its authorization if neither that nor the app has ended.
func selectAccess(ctx context.Context, tx *db.Tx, hash string) (t stored, a Authorization, err error) {
	if t, err = queryToken(ctx, tx, hash, ""); err != nil {
		return t, a, err
	}
	found, err := db.One[authorizationRow](ctx, tx, noun, "SELECT a.oauth_authorization_id, a.user_id, a.oauth_client_id, a.scopes, "+
		"a.created_at, a.ended_at, a.end_reason FROM oauth_authorizations a JOIN oauth_clients c ON c.oauth_client_id = a.oauth_client_id "+
		"WHERE a.organization_id = @org AND a.oauth_authorization_id = ? AND a.ended_at IS NULL AND c.revoked_at IS NULL AND ? = 'access'",
		t.AuthorizationID, string(t.Kind))
	return t, found.authorization(), err
}

func updateReplaced(ctx context.Context, tx *db.Tx, hash string, at time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE oauth_tokens SET replaced_at = ? WHERE organization_id = @org AND token_hash = ?", at, hash)
	return err
}

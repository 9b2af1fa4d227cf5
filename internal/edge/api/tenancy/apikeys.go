package tenancy

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

func (h handlers) listAPIKeys(ctx context.Context, in *struct{ wire.Paging }) (wire.List[APIKey], error) {
	keys, err := h.app.Access.Keys(ctx, in.Request())
	return wire.ListOf(keys, viewAPIKey), err
}

func (h handlers) createAPIKey(ctx context.Context, in *struct{ Body CreateAPIKey }) (wire.Data[NewAPIKey], error) {
	b := in.Body
	p := access.CreateKeyParams{Name: b.Name, UserID: actor.From(ctx).UserID, LegalEntityIDs: b.LegalEntityIDs}
	if b.UserID.Set {
		p.UserID = b.UserID.Value // null creates a key without a user
	}
	for _, s := range b.Scopes {
		p.Scopes = append(p.Scopes, actor.Scope(s))
	}
	if b.ExpiresAt.Set && !b.ExpiresAt.Null {
		at := time.Time(b.ExpiresAt.Value)
		p.ExpiresAt = &at
	}
	key, text, err := h.app.Access.CreateKey(ctx, p)
	if err != nil {
		return wire.Data[NewAPIKey]{}, err
	}
	return wire.DataOf(NewAPIKey{viewAPIKey(key), text.Reveal()}), nil
}

func (h handlers) rotateAPIKey(ctx context.Context, in *struct {
	ID   string `path:"api_key_id" minLength:"1" maxLength:"64" doc:"API key to replace."`
	Body *RotateAPIKey
}) (wire.Data[NewAPIKey], error) {
	p := access.RotateKeyParams{Overlap: access.OverlapDefault}
	if in.Body != nil && in.Body.OverlapHours != nil {
		p.Overlap = time.Duration(*in.Body.OverlapHours) * time.Hour
	}
	if in.Body != nil && in.Body.ExpiresAt.Set {
		if p.NewExpiry = true; !in.Body.ExpiresAt.Null {
			p.ExpiresAt = new(time.Time(in.Body.ExpiresAt.Value))
		}
	}
	key, text, err := h.app.Access.RotateKey(ctx, in.ID, p)
	if err != nil {
		return wire.Data[NewAPIKey]{}, err
	}
	return wire.DataOf(NewAPIKey{viewAPIKey(key), text.Reveal()}), nil
}

func (h handlers) revokeAPIKey(ctx context.Context, in *struct {
	ID string `path:"api_key_id" minLength:"1" maxLength:"64" doc:"API key to revoke."`
}) (wire.Data[RevokedAPIKey], error) {
	revoked, err := h.app.Access.RevokeKey(ctx, in.ID)
	return wire.DataOf(RevokedAPIKey{ID: in.ID, Deleted: true, RevokedAPIKeyIDs: append([]string{}, revoked...)}), err
}

func viewAPIKey(k access.Key) APIKey {
	out := APIKey{
		ID:             k.ID,
		Name:           k.Name,
		LastFour:       k.LastFour,
		Scopes:         actor.ScopeNames(k.Scopes),
		UserID:         db.OrNull(k.UserID),
		ParentAPIKeyID: db.OrNull(k.ParentID),
		LegalEntityIDs: append([]string{}, k.LegalEntityIDs...),
		ExpiresAt:      wire.TimestampOrNull(k.ExpiresAt),
		RevokedAt:      wire.TimestampOrNull(k.RevokedAt),
		CreatedAt:      wire.Timestamp(k.CreatedAt),

		OAuthAuthorizationID: db.OrNull(k.AuthorizationID),
		SuccessorAPIKeyID:    db.OrNull(k.SuccessorID),
		RotatedWithAPIKeyID:  db.OrNull(k.RotatedWithID),
	}
	if k.LastUse != nil {
		out.LastUsedAt, out.LastUsedFrom = wire.TimestampOrNull(&k.LastUse.At), db.OrNull(k.LastUse.From)
	}
	return out
}

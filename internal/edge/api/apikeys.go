package api

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

func (a *API) listAPIKeys(ctx context.Context, in *struct{ paging }) (List[APIKey], error) {
	keys, err := a.app.Access.Keys(ctx, in.request())
	return listOf(keys, viewAPIKey), err
}

func (a *API) createAPIKey(ctx context.Context, in *struct{ Body CreateAPIKey }) (Data[NewAPIKey], error) {
	b := in.Body
	p := access.CreateKeyParams{Name: b.Name, UserID: actor.From(ctx).UserID, LegalEntityIDs: b.LegalEntityIDs}
	if b.UserID.Set {
		p.UserID = b.UserID.Value // null makes a key of no person
	}
	for _, s := range b.Scopes {
		p.Scopes = append(p.Scopes, actor.Scope(s))
	}
	if b.ExpiresAt.Set && !b.ExpiresAt.Null {
		at := time.Time(b.ExpiresAt.Value)
		p.ExpiresAt = &at
	}
	key, text, err := a.app.Access.CreateKey(ctx, p)
	if err != nil {
		return Data[NewAPIKey]{}, err
	}
	return Data[NewAPIKey]{NewAPIKey{viewAPIKey(key), text.Reveal()}}, nil
}

func (a *API) revokeAPIKey(ctx context.Context, in *struct {
	ID string `path:"api_key_id" minLength:"1" maxLength:"64" doc:"The key to revoke"`
}) (Data[Deleted], error) {
	err := a.app.Access.RevokeKey(ctx, in.ID)
	return Data[Deleted]{Deleted{in.ID, true}}, err
}

func viewAPIKey(k access.Key) APIKey {
	scopes := make([]string, len(k.Scopes))
	for i, s := range k.Scopes {
		scopes[i] = string(s)
	}
	return APIKey{
		ID: k.ID, Name: k.Name, LastFour: k.LastFour, Scopes: scopes, UserID: db.OrNull(k.UserID), LegalEntityIDs: append([]string{},
			k.LegalEntityIDs...),
		ExpiresAt: stampOrNull(k.ExpiresAt), RevokedAt: stampOrNull(k.RevokedAt), CreatedAt: stamp(k.CreatedAt),
	}
}

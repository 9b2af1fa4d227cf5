package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/spam"
)

func (a *API) listSpamListings(ctx context.Context, in *struct {
	paging
	Verdict string `query:"verdict" enum:"allow,deny" doc:"Only listings that decide this"`
	Kind    string `query:"kind" enum:"contract,address,symbol" doc:"Only listings about this"`
}) (List[SpamListing], error) {
	listings, err := a.app.Spam.List(ctx, spam.Filter{Verdict: spam.Verdict(in.Verdict), Kind: spam.Kind(in.Kind)}, in.request())
	return listOf(listings, viewSpamListing), err
}

func (a *API) createSpamListing(ctx context.Context, in *struct{ Body CreateSpamListing }) (Data[SpamListing], error) {
	b := in.Body
	l, err := a.app.Spam.Create(ctx, spam.CreateParams{Verdict: spam.Verdict(b.Verdict), Kind: spam.Kind(b.Kind),
		Chain: db.OrEmpty(b.Chain), Value: b.Value, Note: db.OrEmpty(b.Note)})
	return Data[SpamListing]{viewSpamListing(l)}, err
}

func (a *API) deleteSpamListing(ctx context.Context, in *struct {
	ID string `path:"spam_listing_id" minLength:"1" maxLength:"64" doc:"The listing"`
}) (Data[Deleted], error) {
	err := a.app.Spam.Delete(ctx, in.ID)
	return Data[Deleted]{Deleted{in.ID, true}}, err
}

func viewSpamListing(l spam.Listing) SpamListing {
	return SpamListing{
		ID: l.ID, Verdict: string(l.Verdict), Kind: string(l.Kind), Chain: db.OrNull(l.Chain), Value: l.Value, Note: db.OrNull(l.Note),
		CreatedBy: db.OrNull(l.CreatedBy), CreatedAt: stamp(l.CreatedAt),
	}
}

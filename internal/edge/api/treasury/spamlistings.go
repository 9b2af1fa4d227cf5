package treasury

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/treasury/spam"
)

func (h handlers) listSpamListings(ctx context.Context, in *struct {
	wire.Paging
	Verdict string `query:"verdict" enum:"allow,deny" doc:"Return only listings with this verdict."`
	Kind    string `query:"kind" enum:"contract,address,symbol" doc:"Return only listings of this kind."`
}) (wire.List[SpamListing], error) {
	listings, err := h.app.Spam.List(ctx, spam.Filter{Verdict: spam.Verdict(in.Verdict), Kind: spam.Kind(in.Kind)}, in.Request())
	return wire.ListOf(listings, viewSpamListing), err
}

func (h handlers) createSpamListing(ctx context.Context, in *struct{ Body CreateSpamListing }) (wire.Data[SpamListing], error) {
	b := in.Body
	l, err := h.app.Spam.Create(ctx, spam.CreateParams{
		Verdict: spam.Verdict(b.Verdict),
		Kind:    spam.Kind(b.Kind),
		Chain:   db.OrEmpty(b.Chain),
		Value:   b.Value,
		Note:    db.OrEmpty(b.Note),
	})
	return wire.DataOf(viewSpamListing(l)), err
}

func (h handlers) deleteSpamListing(ctx context.Context, in *struct {
	ID string `path:"spam_listing_id" minLength:"1" maxLength:"64" doc:"Identifier of the spam listing."`
}) (wire.Data[wire.Deleted], error) {
	err := h.app.Spam.Delete(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

func viewSpamListing(l spam.Listing) SpamListing {
	return SpamListing{
		ID:        l.ID,
		Verdict:   string(l.Verdict),
		Kind:      string(l.Kind),
		Chain:     db.OrNull(l.Chain),
		Value:     l.Value,
		Note:      db.OrNull(l.Note),
		CreatedBy: db.OrNull(l.CreatedBy),
		CreatedAt: wire.Timestamp(l.CreatedAt),
	}
}

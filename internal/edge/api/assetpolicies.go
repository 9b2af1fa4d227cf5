package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
)

// assetTypePath is the parameter of operations on what is said of one asset.
type assetTypePath struct {
	AssetType string `path:"asset_type" minLength:"1" maxLength:"100" doc:"The symbol of the asset, as transactions have it, capitals included"`
}

func (a *API) listAssetPolicies(ctx context.Context, in *struct{ paging }) (List[AssetPolicy], error) {
	policies, err := a.app.AssetPolicies.List(ctx, in.request())
	return listOf(policies, viewAssetPolicy), err
}

func (a *API) getAssetPolicy(ctx context.Context, in *struct{ assetTypePath }) (Data[AssetPolicy], error) {
	p, err := a.app.AssetPolicies.Get(ctx, in.AssetType)
	return Data[AssetPolicy]{viewAssetPolicy(p)}, err
}

func (a *API) putAssetPolicy(ctx context.Context, in *struct {
	assetTypePath
	Body PutAssetPolicy
}) (Data[AssetPolicy], error) {
	p, err := a.app.AssetPolicies.Put(ctx, assetpolicy.PutParams{AssetType: in.AssetType, InScope: in.Body.ASC350, OwnToken: in.Body.OwnToken})
	return Data[AssetPolicy]{viewAssetPolicy(p)}, err
}

func (a *API) deleteAssetPolicy(ctx context.Context, in *struct{ assetTypePath }) (Data[Deleted], error) {
	err := a.app.AssetPolicies.Delete(ctx, in.AssetType)
	return Data[Deleted]{Deleted{in.AssetType, true}}, err
}

func viewAssetPolicy(p assetpolicy.Policy) AssetPolicy {
	out := AssetPolicy{AssetType: p.AssetType, ASC350: p.InScope, OwnToken: p.OwnToken, IsDefault: p.IsDefault,
		UpdatedAt: stampOrNull(p.UpdatedAt)}
	if !p.IsDefault {
		out.CreatedAt = stampOrNull(&p.CreatedAt)
	}
	return out
}

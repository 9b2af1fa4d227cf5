package assets

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// assetTypePath is the parameter of operations on one asset policy.
type assetTypePath struct {
	AssetType string `path:"asset_type" minLength:"1" maxLength:"100" doc:"Symbol of the asset exactly as in transactions; case-sensitive."`
}

func (h handlers) listAssetPolicies(ctx context.Context, in *struct{ wire.Paging }) (wire.List[AssetPolicy], error) {
	policies, err := h.app.AssetPolicies.List(ctx, in.Request())
	return wire.ListOf(policies, viewAssetPolicy), err
}

func (h handlers) getAssetPolicy(ctx context.Context, in *struct{ assetTypePath }) (wire.Data[AssetPolicy], error) {
	p, err := h.app.AssetPolicies.Get(ctx, in.AssetType)
	return wire.DataOf(viewAssetPolicy(p)), err
}

func (h handlers) putAssetPolicy(ctx context.Context, in *struct {
	assetTypePath
	Body PutAssetPolicy
}) (wire.Data[AssetPolicy], error) {
	p, err := h.app.AssetPolicies.Put(ctx, assetpolicy.PutParams{AssetType: in.AssetType, InScope: in.Body.ASC350, OwnToken: in.Body.OwnToken})
	return wire.DataOf(viewAssetPolicy(p)), err
}

func (h handlers) deleteAssetPolicy(ctx context.Context, in *struct{ assetTypePath }) (wire.Data[wire.Deleted], error) {
	err := h.app.AssetPolicies.Delete(ctx, in.AssetType)
	return wire.DeletedOf(in.AssetType), err
}

func viewAssetPolicy(p assetpolicy.Policy) AssetPolicy {
	out := AssetPolicy{
		AssetType: p.AssetType,
		ASC350:    p.InScope,
		OwnToken:  p.OwnToken,
		IsDefault: p.IsDefault,
		UpdatedAt: wire.TimestampOrNull(p.UpdatedAt),
	}
	if !p.IsDefault {
		out.CreatedAt = wire.TimestampOrNull(&p.CreatedAt)
	}
	return out
}

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// AssetPolicy is how an asset is treated.
type AssetPolicy struct {
	AssetType string     `json:"asset_type"`
	ASC350    bool       `json:"asc350_60"`
	OwnToken  bool       `json:"own_token"`
	IsDefault bool       `json:"is_default"`
	CreatedAt *time.Time `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
}

// PutAssetPolicy describes how an asset is treated; nil means the default.
type PutAssetPolicy struct {
	ASC350   *bool `json:"asc350_60,omitempty"`
	OwnToken *bool `json:"own_token,omitempty"`
}

// AssetPolicies iterates over the asset policies, by symbol.
func (c *Client) AssetPolicies(ctx context.Context) iter.Seq2[AssetPolicy, error] {
	return each[AssetPolicy](ctx, c, "/v1/asset-policies", nil)
}

// AssetPolicy returns the policy of an asset.
func (c *Client) AssetPolicy(ctx context.Context, assetType string) (AssetPolicy, error) {
	return one[AssetPolicy](ctx, c, Call{Method: http.MethodGet, Path: "/v1/asset-policies/" + url.PathEscape(assetType)})
}

// PutAssetPolicy creates or replaces the policy of an asset.
func (c *Client) PutAssetPolicy(ctx context.Context, assetType string, policy PutAssetPolicy) (AssetPolicy, error) {
	return one[AssetPolicy](ctx, c, Call{Method: http.MethodPut, Path: "/v1/asset-policies/" + url.PathEscape(assetType), Body: policy})
}

// DeleteAssetPolicy deletes an asset policy; the default applies again.
func (c *Client) DeleteAssetPolicy(ctx context.Context, assetType string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/asset-policies/" + url.PathEscape(assetType)}, nil)
}

package assets

// AssetPolicy is what holds of an asset, on the wire.
type AssetPolicy struct {
	AssetType string  `json:"asset_type" doc:"The symbol of the asset, as transactions have it" example:"ETH"`
	ASC350    bool    `json:"asc350_60" doc:"Whether it is in the scope of ASU 2023-08 (ASC 350-60), which asks for fair value"`
	OwnToken  bool    `json:"own_token" doc:"Whether the organization issues it itself, so that it is no asset of its own"`
	IsDefault bool    `json:"is_default" doc:"Whether this is what holds because nobody said anything else"`
	CreatedAt *string `json:"created_at" format:"date-time" doc:"When it was first said; null for a default"`
	UpdatedAt *string `json:"updated_at" format:"date-time" doc:"When it was last changed"`
}

// PutAssetPolicy says what holds of an asset.
type PutAssetPolicy struct {
	ASC350   *bool `json:"asc350_60,omitempty" doc:"Whether it is in the scope of ASU 2023-08 (ASC 350-60). Left out, it is, unless it is a known stablecoin, wrapped token or receipt of staking"`
	OwnToken *bool `json:"own_token,omitempty" default:"false" doc:"Whether the organization issues it itself"`
}

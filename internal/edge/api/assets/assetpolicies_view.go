package assets

// AssetPolicy is the policy of an asset.
type AssetPolicy struct {
	AssetType string  `json:"asset_type" doc:"Symbol of the asset, as in transactions." example:"ETH"`
	ASC350    bool    `json:"asc350_60" doc:"Whether the asset is in the scope of ASU 2023-08 (ASC 350-60), which requires fair value."`
	OwnToken  bool    `json:"own_token" doc:"Whether the organization issues the asset itself. An own token is not an asset of its books."`
	IsDefault bool    `json:"is_default" doc:"Whether this is the default because the organization has no policy for the asset."`
	CreatedAt *string `json:"created_at" format:"date-time" doc:"When the policy was created; null for a default."`
	UpdatedAt *string `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// PutAssetPolicy describes an asset policy.
type PutAssetPolicy struct {
	ASC350   *bool `json:"asc350_60,omitempty" doc:"Whether the asset is in the scope of ASU 2023-08 (ASC 350-60). Defaults to true, except for known stablecoins, wrapped tokens and staking receipts."`
	OwnToken *bool `json:"own_token,omitempty" default:"false" doc:"Whether the organization issues the asset itself. Defaults to false."`
}

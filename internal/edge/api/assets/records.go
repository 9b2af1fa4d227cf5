package assets

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Records says what events contain of the resources of the group.
func Records() []wire.Record {
	return []wire.Record{
		wire.RecordAt("asset", "/v1/assets/{asset_id}", "asset.created", "asset.updated", "asset.deleted"),
		wire.Viewed(wire.RecordAt("lot_selection", "", "lot_selection.stored").OrDeleted(),
			func(_ context.Context, s lots.Selection) LotSelection { return viewLotSelection(s) }),
		wire.RecordAt("asset_policy", "/v1/asset-policies/{asset_type}", "asset_policy.created", "asset_policy.updated", "asset_policy.deleted"),
		wire.Viewed(wire.RecordAt("price", "/v1/prices/{price_id}", "price.created", "price.updated", "price.deleted"),
			func(_ context.Context, p price.Price) Price { return viewPrice(p) }),
		wire.RecordAt("revaluation", "/v1/revaluations/{revaluation_id}", "revaluation.posted", "revaluation.reversed"),
	}
}

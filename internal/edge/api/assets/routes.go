package assets

import (
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// handlers holds the handlers of the group.
type handlers struct{ app *app.App }

// Routes returns the operations of the group.
func Routes(a *app.App) []wire.Route {
	h := handlers{a}
	return slices.Concat(h.assets(), h.assetPolicies(), h.prices(), h.revaluations())
}

func (h handlers) assets() []wire.Route {
	return wire.Tag{Name: "Assets", Description: "Lots: quantities acquired at one time and cost."}.Routes(
		wire.Get("/v1/assets", h.listAssets, "List lots and their remaining quantities, newest first"),
		wire.Post("/v1/assets", h.createAsset, "Create a lot as an opening balance").
			Describe("For what was held before the books began. Posts the cost of the lot as an opening balance.").Creates(),
		wire.Get("/v1/assets/{asset_id}", h.getAsset, "Get a lot"),
		wire.Patch("/v1/assets/{asset_id}", h.updateAsset, "Update a lot that was created as an opening balance").
			Describe("Corrects its journal entry and computes its disposals again."),
		wire.Delete("/v1/assets/{asset_id}", h.deleteAsset, "Delete a lot that was created as an opening balance").
			Describe("Reverses its journal entry. Fails if anything has been consumed from the lot."),
		wire.Get("/v1/assets/{asset_id}/dispositions", h.listAssetDispositions, "List the disposals of a lot, latest first"),
		wire.Get("/v1/assets/lot-selections", h.getLotSelection, "Get the lots selected for a transaction"),
		wire.Post("/v1/assets/lot-selections", h.storeLotSelection, "Select the lots that a transaction will consume").
			Describe("For the cost basis method specific_id. Replaces an earlier selection; an empty list removes it."),
	)
}

func (h handlers) assetPolicies() []wire.Route {
	return wire.Tag{Name: "Asset policies", Description: "How the organization accounts for an asset."}.Routes(
		wire.Get("/v1/asset-policies", h.listAssetPolicies, "List asset policies by symbol").
			Describe("Assets without a policy follow the default."),
		wire.Get("/v1/asset-policies/{asset_type}", h.getAssetPolicy, "Get the policy of an asset, or the default"),
		wire.Put("/v1/asset-policies/{asset_type}", h.putAssetPolicy, "Create or replace an asset policy").WholeOrganization(),
		wire.Delete("/v1/asset-policies/{asset_type}", h.deleteAssetPolicy,
			"Delete an asset policy").WholeOrganization().
			Describe("The organization's default applies again."),
	)
}

func (h handlers) prices() []wire.Route {
	upload := wire.Post("/v1/prices/import", h.importPrices, "Import a CSV file of prices, all or none").WholeOrganization().
		Describe("Prices that are already stored are skipped.").Creates().LargeWrite()
	return wire.Tag{Name: "Prices", Description: "Market prices of assets."}.Routes(
		wire.Get("/v1/prices", h.listPrices, "List prices, latest first"),
		wire.Post("/v1/prices", h.createPrice, "Create a price of an asset for a time or the close of a day").WholeOrganization().Creates(),
		wire.Post("/v1/prices/batch", h.createPrices, "Create up to 1,000 prices, all or none").WholeOrganization().Creates(),
		wire.First(upload, h.receivePrices, h.checkPrices),
		wire.Get("/v1/prices/{price_id}", h.getPrice, "Get a price"),
		wire.Patch("/v1/prices/{price_id}", h.updatePrice, "Update a price").WholeOrganization(),
		wire.Delete("/v1/prices/{price_id}", h.deletePrice, "Delete a price that nothing depends on").WholeOrganization(),
	)
}

func (h handlers) revaluations() []wire.Route {
	return wire.Tag{Name: "Revaluations", Description: "Measurement of holdings at the end of a period."}.Routes(
		wire.Get("/v1/revaluations", h.listRevaluations, "List revaluations, newest first"),
		wire.Post("/v1/revaluations", h.createRevaluation, "Revalue holdings at the end of an accounting period").
			Describe("Measures what is held by the rules of each legal entity and posts the differences. Running it again replaces "+
				"what changed.").Creates().LargeWrite(),
		wire.Get("/v1/revaluations/{revaluation_id}", h.getRevaluation, "Get a revaluation and its totals"),
		wire.Get("/v1/revaluations/{revaluation_id}/rows", h.listRevaluationRows, "List the lots and accounts of a revaluation"),
		wire.Post("/v1/revaluations/{revaluation_id}/reverse", h.reverseRevaluation, "Reverse the latest revaluation of an open period").
			Describe("Reverses its journal entries.").LargeWrite(),
	)
}

package apitest

import (
	"testing"

	"github.com/bursarhq/bursar/client"
)

// NewAsset creates an asset, by default 2.5 ETH that cost 6,000 dollars, in a wallet of its own.
func (n *Tenant) NewAsset(t *testing.T, a client.CreateAsset) client.Asset {
	t.Helper()
	made, err := n.Client.CreateAsset(t.Context(), n.CompleteAsset(t, a))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// CompleteAsset fills the empty fields of an asset with the defaults of NewAsset.
func (n *Tenant) CompleteAsset(t *testing.T, a client.CreateAsset) client.CreateAsset {
	t.Helper()
	fill := func(field *string, usual string) {
		if *field == "" {
			*field = usual
		}
	}
	fill(&a.LegalEntityID, n.LegalEntity.ID)
	if a.SourceID == "" {
		a.SourceID = n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", LegalEntityID: a.LegalEntityID}).ID
	}
	if a.LedgerAccountID == "" {
		s, err := n.Client.Source(t.Context(), a.SourceID)
		if err != nil {
			t.Fatal(err)
		}
		a.LedgerAccountID = s.LedgerAccountID
	}
	fill(&a.AssetType, "ETH")
	fill(&a.Quantity, "2.5")
	fill(&a.CostBasis, "6000.00")
	return a
}

// IdentifyLots makes the legal entity use specific identification of lots.
func (n *Tenant) IdentifyLots(t *testing.T) {
	t.Helper()
	if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID,
		client.UpdateLegalEntity{CostBasisMethod: new("specific_id")}); err != nil {
		t.Fatal(err)
	}
}

// NewRevaluation revalues a period without holdings.
func (n *Tenant) NewRevaluation(t *testing.T) client.Revaluation {
	t.Helper()
	r, err := n.Client.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: n.ClosablePeriod(t).ID,
		LegalEntityIDs: []string{n.LegalEntity.ID}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

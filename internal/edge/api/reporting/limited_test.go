package reporting_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestALotFromAnotherLegalEntityDoesNotNameTheLotItWasPartOf(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"})
		parent := n.NewAsset(t, client.CreateAsset{})
		at := time.Now().Add(-time.Hour)
		to := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", LegalEntityID: other.ID}).ID
		out := n.NewCrypto(t, *parent.SourceID, "debit", "ETH", "1", at)
		in := n.NewCrypto(t, to, "credit", "ETH", "1", at)
		pair := map[string]any{"transaction_ids": []string{out.ID, in.ID}}
		if a := n.PostJSON(t, "/v1/transactions/link", pair, nil); a.Status != http.StatusOK {
			t.Fatalf("%s", a.Body)
		}
		book := map[string]any{"transaction_id": out.ID, "transaction_type": "INTERCOMPANY TRANSFER", "auto_post": true}
		if a := n.PostJSON(t, "/v1/journal-entries", book, nil); a.Status != http.StatusCreated {
			t.Fatalf("%s", a.Body)
		}
		key := n.Limited(t, other.ID)
		lot := ""
		for a, err := range client.New(s.URL, key).Assets(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			lot = a.ID
		}
		for _, path := range []string{"/v1/assets", "/v1/assets/" + lot, "/v1/reports/asset-tax-lots",
			"/v1/reports/explain?report=asset-tax-lots&asset_id=" + lot,
			"/v1/reports/explain?report=treasury-balances&asset_type=ETH&legal_entity_id=" + other.ID + "&source_id=" + to} {
			a := s.Send(t, apitest.Request{Method: "GET", Path: path, Key: key})
			if text := string(a.Body); a.Status != http.StatusOK || strings.Contains(text, parent.ID) ||
				!strings.Contains(text, `"parent_asset_id":null`) {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
			a = s.Send(t, apitest.Request{Method: "GET", Path: path, Key: n.Key})
			if !strings.Contains(string(a.Body), `"parent_asset_id":"`+parent.ID+`"`) {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	})
}

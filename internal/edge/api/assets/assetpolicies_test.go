package assets_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestWhatNobodySaysOfAnAssetIsAsUsual(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for symbol, inScope := range map[string]bool{
			"ETH": true, "BTC": true, "MYTOKEN": true, "a/b c%": true, "USDC": false, "USDT": false, "WBTC": false, "WETH": false,
			"stETH": false, "wstETH": false, "cbETH": false, "rETH": false,
		} {
			p, err := n.Client.AssetPolicy(t.Context(), symbol)
			if err != nil || p.AssetType != symbol || p.ASC350 != inScope || p.OwnToken || !p.IsDefault || p.CreatedAt != nil || p.UpdatedAt != nil {
				t.Errorf("%s: %s %v", symbol, apitest.JSON(t, p), err)
			}
		}
		for p, err := range n.Client.AssetPolicies(t.Context()) {
			t.Errorf("listed %v, %v", p, err)
		}
	})
}

func TestAnOrganizationSaysWhatHoldsOfAnAsset(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, other := s.Found(t, "mine"), s.Found(t, "other")
		put := func(symbol string, p client.PutAssetPolicy) client.AssetPolicy {
			t.Helper()
			made, err := n.Client.PutAssetPolicy(t.Context(), symbol, p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := n.Client.AssetPolicy(t.Context(), symbol)
			if err != nil || apitest.JSON(t, got) != apitest.JSON(t, made) {
				t.Errorf("read %s, made %s, %v", apitest.JSON(t, got), apitest.JSON(t, made), err)
			}
			return made
		}
		if p := put("MINE", client.PutAssetPolicy{ASC350: new(false), OwnToken: new(true)}); p.ASC350 || !p.OwnToken || p.IsDefault ||
			p.CreatedAt == nil || p.UpdatedAt != nil {
			t.Error(apitest.JSON(t, p))
		}
		before := n.AuditCount(t)
		if p := put("MINE", client.PutAssetPolicy{ASC350: new(false), OwnToken: new(true)}); p.UpdatedAt != nil || n.AuditCount(t) != before {
			t.Errorf("the same again: %s", apitest.JSON(t, p))
		}
		if p := put("MINE", client.PutAssetPolicy{}); !p.ASC350 || p.OwnToken || p.IsDefault || p.UpdatedAt == nil ||
			n.AuditCount(t) != before+1 {
			t.Errorf("what is left out is as usual: %s", apitest.JSON(t, p))
		}
		if p := put("USDC", client.PutAssetPolicy{ASC350: new(true)}); !p.ASC350 {
			t.Error(apitest.JSON(t, p))
		}
		put("a/b", client.PutAssetPolicy{})
		if a := s.Send(t, apitest.Request{Method: "PUT", Path: "/v1/asset-policies/a%00b", Key: n.Key, Body: `{}`}); a.Status != 400 ||
			!a.Blames(t, "asset_type") {
			t.Errorf("%d %s", a.Status, a.Body)
		}

		var listed []string
		for p, err := range n.Client.AssetPolicies(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, fmt.Sprint(p.AssetType, " ", p.ASC350, " ", p.IsDefault))
		}
		if want := []string{"MINE true false", "USDC true false", "a/b true false"}; !slices.Equal(listed, want) {
			t.Errorf("listed %v, want %v", listed, want)
		}
		if p, err := other.Client.AssetPolicy(t.Context(), "USDC"); err != nil || p.ASC350 || !p.IsDefault {
			t.Errorf("another organization: %s %v", apitest.JSON(t, p), err)
		}
		if err := other.Client.DeleteAssetPolicy(t.Context(), "USDC"); !client.IsNotFound(err) {
			t.Errorf("another organization: %v", err)
		}

		if err := n.Client.DeleteAssetPolicy(t.Context(), "USDC"); err != nil {
			t.Error(err)
		}
		if p, err := n.Client.AssetPolicy(t.Context(), "USDC"); err != nil || p.ASC350 || !p.IsDefault {
			t.Errorf("taken back: %s %v", apitest.JSON(t, p), err)
		}
		if err := n.Client.DeleteAssetPolicy(t.Context(), "USDC"); !client.IsNotFound(err) {
			t.Errorf("again: %v", err)
		}
	})
}

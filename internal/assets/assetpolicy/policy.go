// Package assetpolicy stores how an organization classifies its assets, as far as postings and reports depend on it: whether
// an asset is in the scope of ASU 2023-08, and whether the organization issued it. Every asset has a policy; without a stored
// one a default applies.
package assetpolicy

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// noun is what error messages call a policy.
const noun = "asset policy"

// symbolMax is the maximum length of an asset type in characters, as in transactions.
const symbolMax = 100

// Policy is the classification of an asset.
type Policy struct {
	AssetType string // the symbol, as in transactions
	InScope   bool   // in the scope of ASU 2023-08 (ASC 350-60), which requires fair value
	OwnToken  bool   // issued by the organization itself, and so not an asset in its books
	IsDefault bool   // no policy is stored
	CreatedAt time.Time
	UpdatedAt *time.Time
}

// facts returns what audit records and events contain of a policy.
func (p Policy) facts() map[string]any {
	return map[string]any{"asset_type": p.AssetType, "asc350_60": p.InScope, "own_token": p.OwnToken}
}

// outOfScope are the symbols of assets that give their holder a claim on another asset, which ASC 350-60-15-1 excludes:
// redeemable stablecoins, wrapped tokens and staking receipts. Chains differ in upper and lower case, so symbols are compared
// in upper case.
var outOfScope = func() map[string]bool {
	out := map[string]bool{}
	for _, symbols := range []string{
		"USDC USDC.E USDBC USDT USDT.E USDT0 DAI SDAI XDAI USDS SUSDS BUSD TUSD USDP GUSD PYUSD FDUSD RLUSD USD1 USDD USDE SUSDE HUSD " +
			"SUSD LUSD FRAX FRXUSD " +
			"CRVUSD GHO MIM DOLA EURC EURT EURS EURE EURI EURCV AGEUR EURA XSGD GYEN JPYC ZCHF",
		"WETH WBTC CBBTC TBTC RENBTC HBTC BTCB LBTC SOLVBTC FBTC WBNB WMATIC WPOL WAVAX WFTM WSOL WTRX WXDAI WGLMR WCRO WCELO WSEI WBERA WHYPE",
		"STETH WSTETH CBETH RETH FRXETH SFRXETH OSETH SWETH ANKRETH METH EETH WEETH EZETH RSETH ETHX OETH PUFETH BETH WBETH LSETH " +
			"MSOL JITOSOL BSOL STSOL JUPSOL BNSOL SAVAX STATOM STKATOM STOSMO STMATIC MATICX STDOT VDOT BNBX STNEAR",
	} {
		for symbol := range strings.FieldsSeq(symbols) {
			out[symbol] = true
		}
	}
	return out
}()

// defaultPolicy returns the policy of an asset for which none is stored.
func defaultPolicy(assetType string) Policy {
	return Policy{AssetType: assetType, InScope: !outOfScope[strings.ToUpper(assetType)], IsDefault: true}
}

// ForAssets returns the policies of assets by symbol, with the default where none is stored. It is a building block.
func ForAssets(ctx context.Context, tx *db.Tx, assetTypes []string) (map[string]Policy, error) {
	out := make(map[string]Policy, len(assetTypes))
	if len(assetTypes) == 0 {
		return out, nil
	}
	for _, symbol := range assetTypes {
		out[symbol] = defaultPolicy(symbol)
	}
	stored, err := selectByAssetType(ctx, tx, assetTypes)
	for _, p := range stored {
		out[p.AssetType] = p
	}
	return out, err
}

// validate returns an error with every fault of the symbol.
func (p Policy) validate() error {
	var faults fault.List
	switch n := utf8.RuneCountInString(p.AssetType); {
	case n < 1 || n > symbolMax:
		faults.Addf("asset_type", "must have 1 to %d characters", symbolMax)
	case strings.ContainsRune(p.AssetType, 0) || !utf8.ValidString(p.AssetType):
		faults.Addf("asset_type", "must be UTF-8 without the character U+0000")
	}
	return faults.Err()
}

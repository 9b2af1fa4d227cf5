// Package assetpolicy holds what an organization says of the assets it deals in, where reports and postings depend on
// what kind of asset it is.
package assetpolicy

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// noun is what a policy is called where it is missing.
const noun = "asset policy"

// SymbolMax is how many characters an asset type may have, as in transactions.
const SymbolMax = 100

// Policy is what holds of an asset.
type Policy struct {
	AssetType string // the symbol as transactions have it
	InScope   bool   // of ASU 2023-08 (ASC 350-60), which asks for fair value
	OwnToken  bool   // issued by the organization itself, so that it is no asset of its own
	IsDefault bool   // nobody said anything else
	CreatedAt time.Time
	UpdatedAt *time.Time
}

// facts is what the audit and events say of a policy.
func (p Policy) facts() map[string]any {
	return map[string]any{"asset_type": p.AssetType, "asc350_60": p.InScope, "own_token": p.OwnToken}
}

// outOfScope are the symbols of what gives its holder a claim on something else, which ASC 350-60-15-1 leaves out:
// stablecoins that are redeemed, wrapped tokens and receipts of staking. A chain may spell them otherwise, so they
// are compared in capitals.
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

// defaultPolicy is the policy of an asset of which nobody said anything.
func defaultPolicy(assetType string) Policy {
	return Policy{AssetType: assetType, InScope: !outOfScope[strings.ToUpper(assetType)], IsDefault: true}
}

// ForAssets gives the policies of some assets, the usual ones where nobody said anything. It is a building block.
func ForAssets(ctx context.Context, tx *db.Tx, assetTypes []string) (map[string]Policy, error) {
	out := make(map[string]Policy, len(assetTypes))
	if len(assetTypes) == 0 {
		return out, nil
	}
	for _, symbol := range assetTypes {
		out[symbol] = defaultPolicy(symbol)
	}
	given, err := selectByAssetType(ctx, tx, assetTypes)
	for _, p := range given {
		out[p.AssetType] = p
	}
	return out, err
}

// validate finds every fault in a symbol.
func (p Policy) validate() error {
	var faults fault.List
	switch n := utf8.RuneCountInString(p.AssetType); {
	case n < 1 || n > SymbolMax:
		faults.Addf("asset_type", "must have 1 to %d characters", SymbolMax)
	case strings.ContainsRune(p.AssetType, 0) || !utf8.ValidString(p.AssetType):
		faults.Addf("asset_type", "must be UTF-8 without the character U+0000")
	}
	return faults.Err()
}

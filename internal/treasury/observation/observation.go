// Package observation keeps what sources state that they hold: in files that were imported, and when their providers are asked. It keeps
// the newest balances, and all of them over time.
package observation

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// Balance is how much of an asset a source held at a time.
type Balance struct {
	AssetType string
	Account   string // tells balances of one asset of a source apart, such as those of wallets of an exchange account; empty if there is one
	Quantity  money.Decimal
	At        time.Time
}

// Observed is a balance that a source had at a time, and who stated it: a file, a connection, or somebody who entered it.
type Observed struct {
	Balance
	ImportID     string
	ConnectionID string
	UserID       string
	APIKeyID     string
	Memo         string
}

// Entered reports whether somebody entered the balance.
func (o Observed) Entered() bool {
	return o.ImportID == "" && o.ConnectionID == "" && o.UserID+o.APIKeyID != ""
}

// Latest returns the newest balances of a source, by asset. Those of several accounts are added up. A balance of the source as a whole
// replaces those of its accounts that are older. It is a building block.
func Latest(ctx context.Context, tx *db.Tx, sourceID string) ([]Balance, error) {
	rows, err := selectStated(ctx, tx, sourceID)
	var out []Balance
	for start := 0; start < len(rows); {
		end := start
		for end < len(rows) && rows[end].AssetType == rows[start].AssetType {
			end++
		}
		out = append(out, total(rows[start:end]))
		start = end
	}
	return out, err
}

// total adds up the balances of the accounts of an asset.
func total(rows []statedRow) Balance {
	whole := time.Time{}
	if rows[0].Account == "" { // it sorts first
		whole = rows[0].At
	}
	out := Balance{AssetType: rows[0].AssetType}
	for _, r := range rows {
		if r.Account != "" && r.At.Before(whole) {
			continue
		}
		out.Quantity = out.Quantity.Add(r.Quantity)
		if r.At.After(out.At) {
			out.At = r.At
		}
	}
	return out
}

// Store stores balances that a file states. It is a building block.
func Store(ctx context.Context, tx *db.Tx, sourceID, importID string, all []Balance) error {
	if len(all) == 0 {
		return nil
	}
	record(ctx, tx, sourceID, map[string]any{"source_id": sourceID, "import_id": importID})
	return store(ctx, tx, sourceID, Observed{ImportID: importID}, all)
}

// StoreTold stores what a source holds at a time, as its provider states it. If that is complete, the source holds nothing of other assets;
// otherwise nothing is known of them, and what is stored of them stays. That a source holds nothing is stored only if it is new. It is a
// building block.
func StoreTold(ctx context.Context, tx *db.Tx, sourceID, connectionID string, all []Balance, complete bool, at time.Time) error {
	known, err := Latest(ctx, tx, sourceID)
	if err != nil {
		return err
	}
	rows := make([]Balance, 0, len(all)+len(known))
	for _, b := range all {
		if !b.Quantity.IsZero() {
			rows = append(rows, Balance{AssetType: b.AssetType, Quantity: b.Quantity, At: at})
		}
	}
	for _, k := range known {
		n := slices.IndexFunc(all, func(b Balance) bool { return b.AssetType == k.AssetType })
		gone := n < 0 && complete || n >= 0 && all[n].Quantity.IsZero()
		if gone && !k.Quantity.IsZero() {
			rows = append(rows, Balance{AssetType: k.AssetType, At: at})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	record(ctx, tx, sourceID, map[string]any{"source_id": sourceID, "connection_id": connectionID})
	return store(ctx, tx, sourceID, Observed{ConnectionID: connectionID}, rows)
}

// record records the balances of a source in the audit log, which then states all that are known.
func record(ctx context.Context, tx *db.Tx, sourceID string, after map[string]any) {
	audit.Record(ctx, tx, audit.Change{Action: "stated_balance.stored", ResourceType: "stated_balance", ResourceID: sourceID, After: after,
		NoEvent: true})
}

// store stores balances as the newest ones, unless newer ones are known, and what the source then held of each asset. by says who states
// them.
func store(ctx context.Context, tx *db.Tx, sourceID string, by Observed, all []Balance) error {
	rows := make([]statedRow, len(all))
	for n, b := range all {
		rows[n] = statedRow{SourceID: sourceID, AssetType: b.AssetType, Account: b.Account, Quantity: b.Quantity, At: clock.Stamp(b.At)}
	}
	if err := upsertStated(ctx, tx, rows); err != nil {
		return err
	}
	latest, err := Latest(ctx, tx, sourceID)
	if err != nil {
		return err
	}
	history := map[historyKey]historyRow{}
	for _, b := range all {
		// The balance of an account says what the source held only together with the newest ones of its other accounts.
		if b.Account == "" {
			by.Balance = Balance{AssetType: b.AssetType, Quantity: b.Quantity, At: clock.Stamp(b.At)}
			history[historyKey{b.AssetType, by.At}] = toHistory(sourceID, by)
			continue
		}
		at := slices.IndexFunc(latest, func(one Balance) bool { return one.AssetType == b.AssetType })
		by.Balance = latest[at]
		history[historyKey{b.AssetType, by.At}] = toHistory(sourceID, by)
	}
	return upsertHistory(ctx, tx, slices.Collect(maps.Values(history)))
}

// historyKey identifies a balance of a source.
type historyKey struct {
	asset string
	at    time.Time
}

// Before returns the latest balance of each asset of a source up to a time, of some assets or of all if none are named. It is a building
// block.
func Before(ctx context.Context, tx *db.Tx, sourceID string, at time.Time, assetTypes ...string) ([]Observed, error) {
	return selectLastBefore(ctx, tx, sourceID, at, assetTypes)
}

// History returns what a source held of an asset, the latest first, before a time. It is a building block.
func History(ctx context.Context, tx *db.Tx, sourceID, assetType string, before time.Time, limit int) ([]Observed, error) {
	return selectHistory(ctx, tx, sourceID, assetType, before, limit)
}

// SourcesIn returns the sources with a balance from a time until another. It is a building block and does not check what the actor may see.
func SourcesIn(ctx context.Context, tx *db.Tx, start, end time.Time) ([]string, error) {
	return selectSourcesIn(ctx, tx, start, end)
}

// AssetsOf returns the assets of which a source has stated a balance, sorted. It is a building block.
func AssetsOf(ctx context.Context, tx *db.Tx, sourceID string) ([]string, error) {
	return selectAssetsOf(ctx, tx, sourceID)
}

// AssetsOfSome returns the assets of which some sources have stated a balance, by source. It is a building block.
func AssetsOfSome(ctx context.Context, tx *db.Tx, sourceIDs []string) (map[string][]string, error) {
	return selectAssetsOfSome(ctx, tx, sourceIDs)
}

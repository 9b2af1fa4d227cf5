// Package observation keeps what sources state that they hold: in files that were imported, and when their providers are asked. It keeps
// the newest balances, and all of them over time.
package observation

import (
	"context"
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
	return store(ctx, tx, sourceID, nil, all)
}

// StoreWhole stores all that a source holds at a time, as its provider states it: it holds nothing of other assets. It is a building block.
func StoreWhole(ctx context.Context, tx *db.Tx, sourceID, connectionID string, all []Balance, at time.Time) error {
	known, err := Latest(ctx, tx, sourceID)
	if err != nil {
		return err
	}
	rows := make([]Balance, 0, len(all)+len(known))
	for _, b := range all {
		rows = append(rows, Balance{AssetType: b.AssetType, Quantity: b.Quantity, At: at})
	}
	for _, k := range known {
		gone := !slices.ContainsFunc(all, func(b Balance) bool { return b.AssetType == k.AssetType })
		if gone && !k.Quantity.IsZero() {
			rows = append(rows, Balance{AssetType: k.AssetType, At: at})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	record(ctx, tx, sourceID, map[string]any{"source_id": sourceID, "connection_id": connectionID})
	return store(ctx, tx, sourceID, &connectionID, rows)
}

// record records the balances of a source in the audit log, which then states all that are known.
func record(ctx context.Context, tx *db.Tx, sourceID string, after map[string]any) {
	audit.Record(ctx, tx, audit.Change{Action: "stated_balance.stored", ResourceType: "stated_balance", ResourceID: sourceID, After: after,
		NoEvent: true})
}

// store stores balances as the newest ones, unless newer ones are known, and what the source then held of each asset.
func store(ctx context.Context, tx *db.Tx, sourceID string, connectionID *string, all []Balance) error {
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
	var history []historyRow
	for _, b := range latest {
		if slices.ContainsFunc(all, func(one Balance) bool { return one.AssetType == b.AssetType }) {
			history = append(history, historyRow{SourceID: sourceID, AssetType: b.AssetType, At: b.At, Quantity: b.Quantity,
				ConnectionID: connectionID})
		}
	}
	return upsertHistory(ctx, tx, history)
}

// At returns the latest balance of each asset of a source up to a time. It is a building block.
func At(ctx context.Context, tx *db.Tx, sourceID string, at time.Time) ([]Balance, error) {
	rows, err := selectLastBefore(ctx, tx, sourceID, at)
	out := make([]Balance, len(rows))
	for n, r := range rows {
		out[n] = Balance{AssetType: r.AssetType, Quantity: r.Quantity, At: r.At}
	}
	return out, err
}

// History returns what a source held of an asset, the latest first, before a time if it is not zero. It is a building block.
func History(ctx context.Context, tx *db.Tx, sourceID, assetType string, before time.Time, limit int) ([]Balance, error) {
	rows, err := selectHistory(ctx, tx, sourceID, assetType, before, limit)
	out := make([]Balance, len(rows))
	for n, r := range rows {
		out[n] = Balance{AssetType: r.AssetType, Quantity: r.Quantity, At: r.At}
	}
	return out, err
}

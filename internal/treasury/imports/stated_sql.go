package imports

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// StatedBalance is how much of an asset a source held at a time, according to the files that were imported into it.
type StatedBalance struct {
	AssetType string
	Quantity  money.Decimal
	At        time.Time
}

// StatedBalances returns the newest balances that files state for a source, by asset. Those of several accounts in a file, such as wallets
// of an exchange account, are added up. It runs in the caller's transaction.
func StatedBalances(ctx context.Context, tx *db.Tx, sourceID string) ([]StatedBalance, error) {
	rows, err := db.All[statedRow](ctx, tx, "SELECT "+db.Columns[statedRow]()+
		" FROM stated_balances WHERE organization_id = @org AND source_id = ? ORDER BY asset_type, account", sourceID)
	var out []StatedBalance
	for _, r := range rows {
		if n := len(out); n > 0 && out[n-1].AssetType == r.AssetType {
			out[n-1].Quantity = out[n-1].Quantity.Add(r.Quantity)
			if r.At.After(out[n-1].At) {
				out[n-1].At = r.At
			}
			continue
		}
		out = append(out, StatedBalance{r.AssetType, r.Quantity, r.At})
	}
	return out, err
}

type statedRow struct {
	SourceID  string        `db:"source_id"`
	AssetType string        `db:"asset_type"`
	Account   string        `db:"account"`
	Quantity  money.Decimal `db:"quantity"`
	At        time.Time     `db:"stated_at"`
}

// storeStated stores the balances that the file of an import states, and an audit record of all balances that are then known of the
// source.
func storeStated(ctx context.Context, tx *db.Tx, i Import, stated []intake.Stated) error {
	if len(stated) == 0 {
		return nil
	}
	audit.Record(ctx, tx, audit.Change{Action: "stated_balance.stored", ResourceType: "stated_balance", ResourceID: i.SourceID,
		After: map[string]any{"source_id": i.SourceID, "import_id": i.ID}, NoEvent: true})
	return upsertStated(ctx, tx, i.SourceID, stated)
}

// upsertStated stores balances, unless a newer one is known from another file.
func upsertStated(ctx context.Context, tx *db.Tx, sourceID string, stated []intake.Stated) error {
	rows := make([]statedRow, len(stated))
	for i, s := range stated {
		rows[i] = statedRow{SourceID: sourceID, AssetType: s.Currency, Account: s.Account, Quantity: s.Amount, At: s.At}
	}
	slices.SortFunc(rows, func(a, b statedRow) int {
		return cmp.Or(cmp.Compare(a.AssetType, b.AssetType), cmp.Compare(a.Account, b.Account))
	})
	return db.Upsert(ctx, tx, "stated_balances", rows, `ON CONFLICT (organization_id, source_id, asset_type, account)
		DO UPDATE SET quantity = excluded.quantity, stated_at = excluded.stated_at WHERE excluded.stated_at >= stated_balances.stated_at`)
}

package lots

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Handover is a part of a lot that became a lot of another asset or of another legal entity at its cost: by a conversion, a bridge to
// another asset or an intercompany transfer.
type Handover struct {
	FromID        string // the lot
	LegalEntityID string // of that lot
	AssetType     string // of that lot
	Quantity      money.Decimal
	ToID          string    // the new lot
	Date          time.Time // accounting date
	At            time.Time
}

type handoverRow struct {
	UseID         string        `db:"use_id"`
	FromID        string        `db:"from_id"`
	EntryID       string        `db:"journal_entry_id"`
	LegalEntityID string        `db:"legal_entity_id"`
	AssetType     string        `db:"asset_type"`
	Date          time.Time     `db:"accounting_date"`
	At            time.Time     `db:"disposed_at"`
	Quantity      money.Decimal `db:"quantity"`
	ToID          string        `db:"to_id"`
	ToQuantity    money.Decimal `db:"to_quantity"`
}

// unitDigits is the number of decimal places to which a quantity is divided among the lots that it became.
const unitDigits = 30

// Handovers returns the handovers with an accounting date from one instant on and before another, in order. Corrections of those in
// closed periods are not among them. It is a building block.
func Handovers(ctx context.Context, tx *db.Tx, from, until time.Time) ([]Handover, error) {
	rows, err := db.All[handoverRow](ctx, tx, `SELECT u.use_id, u.asset_id AS from_id, u.journal_entry_id, u.legal_entity_id, u.asset_type,
		u.accounting_date, u.disposed_at, u.quantity, l.asset_id AS to_id, l.quantity AS to_quantity FROM lot_uses u
		JOIN lots l ON l.organization_id = @org AND l.parent_asset_id = u.asset_id AND l.journal_entry_id = u.journal_entry_id
		WHERE u.organization_id = @org AND u.accounting_date >= ? AND u.accounting_date < ? AND u.kind IN ('move', 'convert')
			AND NOT u.is_correction AND (l.legal_entity_id <> u.legal_entity_id OR l.asset_type <> u.asset_type)
		ORDER BY u.accounting_date, u.disposed_at, u.use_id, l.asset_id`, from, until)
	if err != nil {
		return nil, err
	}
	type source struct{ lotID, entryID string }
	used, created := map[source]map[string]money.Decimal{}, map[source]map[string]money.Decimal{}
	for _, r := range rows {
		at := source{r.FromID, r.EntryID}
		if used[at] == nil {
			used[at], created[at] = map[string]money.Decimal{}, map[string]money.Decimal{}
		}
		used[at][r.UseID], created[at][r.ToID] = r.Quantity, r.ToQuantity
	}
	var out []Handover
	for _, r := range rows {
		at := source{r.FromID, r.EntryID}
		whole, there := created[at][r.ToID]
		if !there {
			continue // it is in the list already
		}
		h := Handover{FromID: r.FromID, LegalEntityID: r.LegalEntityID, AssetType: r.AssetType, ToID: r.ToID, Date: r.Date, At: r.At}
		h.Quantity = takeShare(used[at], created[at], whole)
		delete(created[at], r.ToID)
		out = append(out, h)
	}
	return out, nil
}

// takeShare returns the part of what was used that belongs to one of the lots that were created from it, and takes it from what is
// left. The last lot gets the rest.
func takeShare(used, created map[string]money.Decimal, whole money.Decimal) money.Decimal {
	var left, of money.Decimal
	for _, quantity := range used {
		left = left.Add(quantity)
	}
	if len(created) == 1 {
		return left
	}
	for _, quantity := range created {
		of = of.Add(quantity)
	}
	share := left.Mul(whole).Quo(of, unitDigits)
	clear(used)
	used[""] = left.Sub(share)
	return share
}

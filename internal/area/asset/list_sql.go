package asset

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// assetRow is what is shown of a lot; how the pool orders its lots is not.
type assetRow struct {
	ID                string        `db:"asset_id"`
	Pool              string        `db:"pool"`
	Place             string        `db:"place"`
	Seq               int64         `db:"seq"`
	LegalEntityID     string        `db:"legal_entity_id"`
	SourceID          *string       `db:"source_id"`
	LedgerAccountID   string        `db:"ledger_account_id"`
	AssetType         string        `db:"asset_type"`
	Chain             *string       `db:"chain"`
	TokenID           *string       `db:"token_id"`
	AcquiredAt        time.Time     `db:"acquired_at"`
	Quantity          money.Decimal `db:"quantity"`
	RemainingQuantity money.Decimal `db:"remaining_quantity"`
	CostBasis         money.Decimal `db:"cost_basis"`
	RemainingBasis    money.Decimal `db:"remaining_basis"`
	Currency          string        `db:"currency"`
	Origin            string        `db:"origin"`
	ParentID          *string       `db:"parent_asset_id"`
	TransactionID     *string       `db:"transaction_id"`
	JournalEntryID    string        `db:"journal_entry_id"`
	BasisPending      bool          `db:"basis_pending"`
	Provisional       bool          `db:"provisional"`
	CreatedAt         time.Time     `db:"created_at"`
	UpdatedAt         *time.Time    `db:"updated_at"`
}

func (r assetRow) lot() Lot {
	return Lot{
		ID: r.ID, Pool: r.Pool, Place: Place(r.Place), Seq: r.Seq, LegalEntityID: r.LegalEntityID, SourceID: db.OrEmpty(r.SourceID), LedgerAccountID: r.LedgerAccountID,
		AssetType: r.AssetType, Chain: db.OrEmpty(r.Chain), TokenID: db.OrEmpty(r.TokenID), AcquiredAt: r.AcquiredAt, Quantity: r.Quantity, RemainingQuantity: r.RemainingQuantity,
		CostBasis: r.CostBasis, RemainingBasis: r.RemainingBasis, Currency: r.Currency, Origin: Origin(r.Origin), ParentID: db.OrEmpty(r.ParentID),
		TransactionID: db.OrEmpty(r.TransactionID), JournalEntryID: r.JournalEntryID, BasisPending: r.BasisPending, Provisional: r.Provisional,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

var selectAssetRows = "SELECT " + db.Columns[assetRow]() + " FROM lots WHERE organization_id = @org"

func queryAssets(ctx context.Context, tx *db.Tx, text string, args ...any) ([]Lot, error) {
	rows, err := db.All[assetRow](ctx, tx, text, args...)
	out := make([]Lot, len(rows))
	for i, r := range rows {
		out[i] = r.lot()
	}
	return out, err
}

func selectAsset(ctx context.Context, tx *db.Tx, assetID string) (Lot, error) {
	r, err := db.One[assetRow](ctx, tx, noun, selectAssetRows+" AND asset_id = ?", assetID)
	return r.lot(), err
}

func selectNamed(ctx context.Context, tx *db.Tx, ids []string) (map[string]Lot, error) {
	lots, err := queryAssets(ctx, tx, selectAssetRows+" AND asset_id {any}", ids)
	out := make(map[string]Lot, len(lots))
	for _, l := range lots {
		out[l.ID] = l
	}
	return out, err
}

// selectAssets reads downward from an id. The few lots of one transaction are found by its entry and then sorted.
func selectAssets(ctx context.Context, tx *db.Tx, f Filter, below string, limit int) ([]Lot, error) {
	q := db.Select(selectAssetRows)
	if below != "" {
		q.And("asset_id < ?", below)
	}
	among := func(column string, list []string) {
		if len(list) > 0 {
			q.And(column+" {any}", list)
		}
	}
	among("legal_entity_id", f.limited)
	among("legal_entity_id", f.LegalEntityIDs)
	among("asset_type", f.AssetTypes)
	among("source_id", f.sources)
	if f.LedgerAccountID != "" {
		q.And("ledger_account_id = ?", f.LedgerAccountID)
	}
	if f.Chain != "" {
		q.And("chain = ?", f.Chain)
	}
	if f.Manual != nil {
		q.And(map[bool]string{true: "origin = ?", false: "origin <> ?"}[*f.Manual], string(Manual))
	}
	if f.Open != nil {
		q.And("is_open = ?", *f.Open)
	}
	if f.TransactionID != "" {
		q.And("journal_entry_id = ? AND transaction_id = ?", f.entryID, f.TransactionID)
		return queryAssets(ctx, tx, q.Then("ORDER BY {unindexed}asset_id DESC LIMIT ?", limit), q.Args...)
	}
	return queryAssets(ctx, tx, q.Then("ORDER BY asset_id DESC LIMIT ?", limit), q.Args...)
}

func selectPoolSums(ctx context.Context, tx *db.Tx, pools []string) (map[string]poolSum, error) {
	if len(pools) == 0 {
		return nil, nil
	}
	rows, err := db.All[poolSum](ctx, tx, "SELECT pool, quantity, basis FROM lot_pools WHERE organization_id = @org AND pool {any}", pools)
	out := make(map[string]poolSum, len(rows))
	for _, s := range rows {
		out[s.Pool] = s
	}
	return out, err
}

// takenRow is what is shown of a use.
type takenRow struct {
	ID              string        `db:"use_id"`
	LotID           string        `db:"asset_id"`
	Kind            string        `db:"kind"`
	Correction      bool          `db:"is_correction"`
	JournalEntryID  string        `db:"journal_entry_id"`
	TransactionID   *string       `db:"transaction_id"`
	TransactionType string        `db:"transaction_type"`
	LegalEntityID   string        `db:"legal_entity_id"`
	SourceID        *string       `db:"source_id"`
	AssetType       string        `db:"asset_type"`
	AccountingDate  time.Time     `db:"accounting_date"`
	PeriodID        string        `db:"accounting_period_id"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
	Proceeds        money.Decimal `db:"proceeds"`
	Fee             money.Decimal `db:"fee"`
	Gain            money.Decimal `db:"gain"`
	Currency        string        `db:"currency"`
	AcquiredAt      time.Time     `db:"acquired_at"`
	DisposedAt      time.Time     `db:"disposed_at"`
	Days            int64         `db:"days_held"`
	Term            string        `db:"term"`
	Method          string        `db:"method"`
}

func (r takenRow) use() Use {
	return Use{
		ID: r.ID, LotID: r.LotID, Kind: r.Kind, Correction: r.Correction, JournalEntryID: r.JournalEntryID, TransactionID: db.OrEmpty(r.TransactionID),
		TransactionType: r.TransactionType, LegalEntityID: r.LegalEntityID, SourceID: db.OrEmpty(r.SourceID), AssetType: r.AssetType, AccountingDate: r.AccountingDate,
		PeriodID: r.PeriodID, Quantity: r.Quantity, Basis: r.Basis, Proceeds: r.Proceeds, Fee: r.Fee, Gain: r.Gain, Currency: r.Currency,
		AcquiredAt: r.AcquiredAt, DisposedAt: r.DisposedAt, Days: r.Days, Term: r.Term, Method: r.Method,
	}
}

// selectUsesOf reads the uses of a lot back from a place.
func selectUsesOf(ctx context.Context, tx *db.Tx, assetID string, before usePlace, limit int) ([]Use, error) {
	q := db.Select("SELECT "+db.Columns[takenRow]()+" FROM lot_uses WHERE organization_id = @org").And("asset_id = ?", assetID)
	if before.id != "" {
		q.And("(disposed_at, use_id) < (?, ?)", before.at, before.id)
	}
	rows, err := db.All[takenRow](ctx, tx, q.Then("ORDER BY disposed_at DESC, use_id DESC LIMIT ?", limit), q.Args...)
	out := make([]Use, len(rows))
	for i, r := range rows {
		out[i] = r.use()
	}
	return out, err
}

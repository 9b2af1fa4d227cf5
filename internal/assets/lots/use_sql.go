package lots

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

type useRow struct {
	ID              string        `db:"use_id"`
	Pool            string        `db:"pool"`
	OrderKey        string        `db:"order_key"`
	Position        int64         `db:"position"`
	LotID           string        `db:"asset_id"`
	Kind            string        `db:"kind"`
	Correction      bool          `db:"is_correction"`
	JournalEntryID  string        `db:"journal_entry_id"`
	TransactionID   *string       `db:"transaction_id"`
	TransactionType string        `db:"transaction_type"`
	LegalEntityID   string        `db:"legal_entity_id"`
	SourceID        *string       `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	AssetType       string        `db:"asset_type"`
	Chain           *string       `db:"chain"`
	TokenID         *string       `db:"token_id"`
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
	LotCount        int64         `db:"lot_count"`
}

func usesOf(rows []useRow) []Use {
	out := make([]Use, len(rows))
	for i, r := range rows {
		out[i] = Use{
			ID: r.ID, Pool: r.Pool, OrderKey: lot.OrderKey(r.OrderKey), Position: r.Position, LotID: r.LotID, Kind: r.Kind,
			Correction: r.Correction, JournalEntryID: r.JournalEntryID, TransactionID: db.OrEmpty(r.TransactionID),
			TransactionType: r.TransactionType, LegalEntityID: r.LegalEntityID, SourceID: db.OrEmpty(r.SourceID),
			LedgerAccountID: r.LedgerAccountID, AssetType: r.AssetType, Chain: db.OrEmpty(r.Chain), TokenID: db.OrEmpty(r.TokenID),
			AccountingDate: r.AccountingDate, PeriodID: r.PeriodID, Quantity: r.Quantity, Basis: r.Basis, Proceeds: r.Proceeds,
			Fee: r.Fee, Gain: r.Gain, Currency: r.Currency, AcquiredAt: r.AcquiredAt, DisposedAt: r.DisposedAt, Days: r.Days,
			Term: r.Term, Method: r.Method, LotCount: r.LotCount,
		}
	}
	return out
}

func insertUses(ctx context.Context, tx *db.Tx, uses []Use) error {
	rows := make([]useRow, len(uses))
	for i, u := range uses {
		rows[i] = useRow{
			ID: u.ID, Pool: u.Pool, OrderKey: string(u.OrderKey), Position: u.Position, LotID: u.LotID, Kind: u.Kind,
			Correction: u.Correction, JournalEntryID: u.JournalEntryID, TransactionID: db.OrNull(u.TransactionID),
			TransactionType: u.TransactionType, LegalEntityID: u.LegalEntityID, SourceID: db.OrNull(u.SourceID),
			LedgerAccountID: u.LedgerAccountID, AssetType: u.AssetType, Chain: db.OrNull(u.Chain), TokenID: db.OrNull(u.TokenID),
			AccountingDate: u.AccountingDate, PeriodID: u.PeriodID, Quantity: u.Quantity, Basis: u.Basis, Proceeds: u.Proceeds,
			Fee: u.Fee, Gain: u.Gain, Currency: u.Currency, AcquiredAt: u.AcquiredAt, DisposedAt: u.DisposedAt, Days: u.Days,
			Term: u.Term, Method: u.Method, LotCount: u.LotCount,
		}
	}
	return db.Insert(ctx, tx, "lot_uses", rows...)
}

const fromUses = " FROM lot_uses WHERE organization_id = @org AND "

// UsesSince returns the uses of a pool at an order key or later, corrections too, in order. It is a building block.
func UsesSince(ctx context.Context, tx *db.Tx, pool string, from lot.OrderKey) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+
		"pool = ? AND order_key >= ? ORDER BY order_key, use_id", pool, string(from))
	return usesOf(rows), err
}

// UsesAt returns the uses of one consumption, corrections too. It is a building block.
func UsesAt(ctx context.Context, tx *db.Tx, pool string, at lot.OrderKey) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+
		"pool = ? AND order_key = ? ORDER BY use_id", pool, string(at))
	return usesOf(rows), err
}

// ReadMarks reads the marks of the lots of stored uses and sets them in the uses given. A use without a lot has an estimated basis. It is a
// building block.
func ReadMarks(ctx context.Context, tx *db.Tx, groups ...[]Use) error {
	ids := map[string]bool{}
	for _, uses := range groups {
		for _, u := range uses {
			if u.LotID != "" {
				ids[u.LotID] = true
			}
		}
	}
	marks := make(map[string]lot.Marks, len(ids))
	for some := range slices.Chunk(slices.Sorted(maps.Keys(ids)), marksMax) {
		found, err := ByID(ctx, tx, some)
		if err != nil {
			return err
		}
		for _, l := range found {
			marks[l.ID] = l.Marks()
		}
	}
	for _, uses := range groups {
		for i := range uses {
			if uses[i].Marks = marks[uses[i].LotID]; uses[i].LotID == "" {
				uses[i].Marks = lot.Marks{BasisPending: true}
			}
		}
	}
	return nil
}

// marksMax bounds how many lots one query of ReadMarks reads.
const marksMax = 1000

// UsesOfEntry returns the uses that are written under an entry. It is a building block.
func UsesOfEntry(ctx context.Context, tx *db.Tx, entryID string) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+
		"use_id IN (SELECT u.use_id FROM lot_uses AS u WHERE u.organization_id = @org AND u.journal_entry_id = ?)", entryID)
	slices.SortFunc(rows, func(a, b useRow) int { return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID)) })
	return usesOf(rows), err
}

func deleteUses(ctx context.Context, tx *db.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return tx.Queue(ctx, "DELETE"+fromUses+"use_id {any}", ids)
}

// updateEntry moves the rows of an entry to another one.
func updateEntry(ctx context.Context, tx *db.Tx, r reassignment, date *time.Time) error {
	set, args := "journal_entry_id = ?", []any{r.to}
	if r.table == Lots {
		set, args = set+", entered_at = ?", append(args, date)
	}
	return tx.Queue(ctx, "UPDATE "+string(r.table)+" SET "+set+" WHERE organization_id = @org AND journal_entry_id = ?",
		append(args, r.from)...)
}

// HasOpenLots reports whether a legal entity has open lots on an account. It is a building block.
func HasOpenLots(ctx context.Context, tx *db.Tx, legalEntityID, ledgerAccountID string) (bool, error) {
	found, err := db.All[string](ctx, tx,
		"SELECT asset_id"+fromLots+"ledger_account_id = ? AND is_open = ? AND legal_entity_id = ? LIMIT 1", ledgerAccountID, true, legalEntityID)
	return len(found) > 0, err
}

// HasPosition reports whether lots of an asset are or were held on an account of a legal entity. It is a building block.
func HasPosition(ctx context.Context, tx *db.Tx, legalEntityID, ledgerAccountID, assetType string) (bool, error) {
	found, err := db.All[string](ctx, tx, `SELECT asset_type FROM lot_positions WHERE organization_id = @org AND legal_entity_id = ?
		AND ledger_account_id = ? AND asset_type = ? LIMIT 1`, legalEntityID, ledgerAccountID, assetType)
	return len(found) > 0, err
}

// HasParkedPool reports whether lots of an asset are parked under an account of a legal entity, or were expected to be. It is a
// building block.
func HasParkedPool(ctx context.Context, tx *db.Tx, legalEntityID, ledgerAccountID, assetType string) (bool, error) {
	found, err := db.All[string](ctx, tx, `SELECT pool FROM lot_pools WHERE organization_id = @org AND ledger_account_id = ?
		AND source_id IS NULL AND legal_entity_id = ? AND asset_type = ? LIMIT 1`, ledgerAccountID, legalEntityID, assetType)
	return len(found) > 0, err
}

// moveUses sets the date and the period of the uses of an entry to those of another one.
func moveUses(ctx context.Context, tx *db.Tx, entryID string, to EntryRef) error {
	return tx.Queue(ctx, "UPDATE lot_uses SET accounting_date = ?, accounting_period_id = ? WHERE organization_id = @org AND "+
		"journal_entry_id = ? AND is_correction = ?",
		to.AccountingDate, to.PeriodID, entryID, false)
}

// between selects rows of a period that are dated between two instants.
const between = "accounting_date >= ? AND accounting_date < ? AND accounting_period_id = ?"

func selectUsesBetween(ctx context.Context, tx *db.Tx, m period.Reassignment) ([]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+fromUses+between, m.Start, m.End, m.FromID)
	return usesOf(rows), err
}

// moveBetween sets the period of the rows of a table that are dated between two instants.
func moveBetween(ctx context.Context, tx *db.Tx, table string, m period.Reassignment) error {
	return tx.Queue(ctx, "UPDATE "+table+" SET accounting_period_id = ? WHERE organization_id = @org AND "+between, m.ToID, m.Start,
		m.End, m.FromID)
}

func selectLotsBetween(ctx context.Context, tx *db.Tx, m period.Reassignment) ([]Lot, error) {
	rows, err := db.All[lotRow](ctx, tx, "SELECT "+db.Columns[lotRow]()+fromLots+`journal_entry_id IN (
		SELECT e.journal_entry_id FROM journal_entries e WHERE e.organization_id = @org
		AND e.accounting_date >= ? AND e.accounting_date < ? AND e.accounting_period_id = ?)`, m.Start, m.End, m.ToID)
	return lotsOf(rows), err
}

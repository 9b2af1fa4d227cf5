package source

import (
	"context"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// table is the name of the table of sources.
const table = "sources"

type row struct {
	ID              string     `db:"source_id"`
	AccountID       *string    `db:"account_id"`
	Type            string     `db:"source_type"`
	Provider        string     `db:"provider"`
	Name            string     `db:"name"`
	LegalEntityID   string     `db:"legal_entity_id"`
	LedgerAccountID string     `db:"ledger_account_id"`
	Chain           *string    `db:"chain"`
	Address         *string    `db:"address"`
	AddressKey      *string    `db:"address_key"`
	Currency        *string    `db:"currency"`
	Manual          bool       `db:"is_manual"`
	ItemID          *string    `db:"item_id"`
	ExternalID      *string    `db:"external_id"`
	DeletedAt       *time.Time `db:"deleted_at"`
	CreatedAt       time.Time  `db:"created_at"`
	UpdatedAt       *time.Time `db:"updated_at"`
}

func toRow(s Source) row {
	return row{
		ID: s.ID, AccountID: db.OrNull(s.AccountID),
		Type: string(s.Type), Provider: s.Provider, Name: s.Name, LegalEntityID: s.LegalEntityID, LedgerAccountID: s.LedgerAccountID,
		Chain: db.OrNull(s.Chain), Address: db.OrNull(s.Address),
		AddressKey: db.OrNull(AddressKey(s.Address)), Currency: db.OrNull(s.Currency), Manual: s.Manual,
		ItemID: db.OrNull(s.ItemID), ExternalID: db.OrNull(s.ExternalID), DeletedAt: s.DeletedAt, CreatedAt: s.CreatedAt,
		UpdatedAt: s.UpdatedAt,
	}
}

func (r row) source() Source {
	return Source{
		ID: r.ID, AccountID: db.OrEmpty(r.AccountID),
		Type: Type(r.Type), Provider: r.Provider, Name: r.Name, LegalEntityID: r.LegalEntityID, LedgerAccountID: r.LedgerAccountID,
		Chain: db.OrEmpty(r.Chain), Address: db.OrEmpty(r.Address),
		Currency: db.OrEmpty(r.Currency), Manual: r.Manual, ItemID: db.OrEmpty(r.ItemID),
		ExternalID: db.OrEmpty(r.ExternalID), DeletedAt: r.DeletedAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM sources WHERE organization_id = @org"

var selectActive = selectRows + " AND deleted_at IS NULL"

func find(ctx context.Context, tx *db.Tx, sourceID string) (Source, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND (source_id = ? OR account_id = ?)", sourceID, sourceID)
	return r.source(), err
}

func selectAll(ctx context.Context, tx *db.Tx) ([]Source, error) {
	return query(ctx, tx, selectActive+" ORDER BY source_id")
}

// OfFiles returns sources whose transactions are uploaded, by name. It is a building block.
func OfFiles(ctx context.Context, tx *db.Tx, limit int) ([]Source, error) {
	return query(ctx, tx, selectActive+" AND provider = ? AND is_manual ORDER BY name, source_id LIMIT ?", File, limit)
}

func query(ctx context.Context, tx *db.Tx, text string, args ...any) ([]Source, error) {
	rows, err := db.All[row](ctx, tx, text, args...)
	out := make([]Source, len(rows))
	for i, r := range rows {
		out[i] = r.source()
	}
	return out, err
}

func selectSome(ctx context.Context, tx *db.Tx, ids []string) (map[string]Source, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND source_id {any}", ids)
	out := make(map[string]Source, len(rows))
	for _, r := range rows {
		out[r.ID] = r.source()
	}
	return out, err
}

// selectPage reads sources in the order of their ids.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, above string, limit int) ([]Source, error) {
	q := db.Select(selectActive).And("source_id > ?", above)
	for _, only := range [][]string{f.limited, f.LegalEntityIDs} {
		if len(only) > 0 {
			q.And("legal_entity_id {any}", only)
		}
	}
	if f.Type != "" {
		q.And("source_type = ?", string(f.Type))
	}
	if f.Chain != "" {
		q.And("chain = ?", f.Chain)
	}
	return query(ctx, tx, q.Then("ORDER BY source_id LIMIT ?", limit), q.Args...)
}

func selectOfLedgerAccount(ctx context.Context, tx *db.Tx, ledgerAccountID string) ([]Source, error) {
	return query(ctx, tx, selectActive+" AND ledger_account_id = ? ORDER BY source_id", ledgerAccountID)
}

// selectOwners returns the legal entities of the sources that have some ledger accounts, by account.
func selectOwners(ctx context.Context, tx *db.Tx, accountIDs []string) (map[string][]string, error) {
	rows, err := db.All[struct {
		AccountID     string `db:"ledger_account_id"`
		LegalEntityID string `db:"legal_entity_id"`
	}](ctx, tx, "SELECT DISTINCT ledger_account_id, legal_entity_id FROM sources WHERE organization_id = @org AND deleted_at IS NULL "+
		"AND ledger_account_id {any}", accountIDs)
	out := map[string][]string{}
	for _, r := range rows {
		out[r.AccountID] = append(out[r.AccountID], r.LegalEntityID)
	}
	return out, err
}

// TypesByAccount returns the types of the sources that have each ledger account. It is a building block.
func TypesByAccount(ctx context.Context, tx *db.Tx) (map[string][]Type, error) {
	rows, err := db.All[struct {
		AccountID string `db:"ledger_account_id"`
		Type      string `db:"source_type"`
	}](ctx, tx, "SELECT DISTINCT ledger_account_id, source_type FROM sources WHERE organization_id = @org")
	out := map[string][]Type{}
	for _, r := range rows {
		out[r.AccountID] = append(out[r.AccountID], Type(r.Type))
	}
	return out, err
}

func selectIDsOfEntities(ctx context.Context, tx *db.Tx, legalEntityIDs []string) ([]string, error) {
	ids, err := db.All[string](ctx, tx, "SELECT source_id FROM sources WHERE organization_id = @org AND legal_entity_id {any}", legalEntityIDs)
	return append([]string{}, ids...), err
}

func selectByAddress(ctx context.Context, tx *db.Tx, key string) ([]Source, error) {
	return query(ctx, tx, selectActive+" AND address_key = ? ORDER BY source_id", key)
}

// findLast returns the latest source of a type.
func findLast(ctx context.Context, tx *db.Tx, t Type) (Source, error) {
	r, err := db.One[row](ctx, tx, noun, selectActive+" AND source_type = ? ORDER BY source_id DESC LIMIT 1", string(t))
	return r.source(), err
}

func insert(ctx context.Context, tx *db.Tx, s Source) error {
	return db.Insert(ctx, tx, table, toRow(s))
}

func update(ctx context.Context, tx *db.Tx, s Source) error {
	r := toRow(s)
	_, err := tx.Exec(ctx, "UPDATE sources SET provider = ?, name = ?, legal_entity_id = ?, ledger_account_id = ?, chain = ?, "+
		"address = ?, address_key = ?, currency = ?, "+
		"updated_at = ? WHERE organization_id = @org AND source_id = ?",
		r.Provider, r.Name, r.LegalEntityID, r.LedgerAccountID, r.Chain, r.Address, r.AddressKey, r.Currency, r.UpdatedAt, r.ID)
	return err
}

func deleteRow(ctx context.Context, tx *db.Tx, sourceID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM sources WHERE organization_id = @org AND source_id = ?", sourceID)
	return err
}

func markDeleted(ctx context.Context, tx *db.Tx, sourceID string) error {
	_, err := tx.Exec(ctx, "UPDATE sources SET deleted_at = ?, updated_at = ? WHERE organization_id = @org AND source_id = ?",
		tx.Now(), tx.Now(), sourceID)
	return err
}

// countMax bounds the count, because other writes of the organization wait for it.
const countMax = 1000

// entryUse is the number of journal entries made from transactions of a source, and the number of the first one.
type entryUse struct {
	Count int64  `db:"count"`
	First *int64 `db:"first"`
}

// selectEntryUse counts the journal entries made from transactions of a source, drafts too.
func selectEntryUse(ctx context.Context, tx *db.Tx, sourceID string) (entryUse, error) {
	return db.One[entryUse](ctx, tx, "count",
		"SELECT count(*) AS count, min(number) AS first FROM (SELECT e.number FROM transactions t JOIN journal_entries e "+
			"ON e.organization_id = t.organization_id AND e.transaction_id = t.transaction_id AND e.status <> 'deleted' "+
			"WHERE t.organization_id = @org AND t.source_id = ? LIMIT "+strconv.Itoa(countMax)+") AS e", sourceID)
}

// usage decides what may be done to a source: whether something refers to it, whether journal entries were made from its
// transactions (only for an aggregator's account), and how many other accounts its item has.
type usage struct {
	SourceID string `db:"source_id"`
	Used     bool   `db:"used"`
	Booked   bool   `db:"booked"`
	Siblings int64  `db:"siblings"`
}

func selectUsages(ctx context.Context, tx *db.Tx, ids []string) (map[string]usage, error) {
	rows, err := db.All[usage](ctx, tx, "SELECT s.source_id, "+
		reference.Used(table, "s.source_id")+" AS used, "+
		"s.item_id IS NOT NULL AND EXISTS (SELECT 1 FROM transactions b JOIN journal_entries e ON e.organization_id = @org AND "+
		"e.transaction_id = b.transaction_id "+
		"AND e.status <> 'deleted' WHERE b.organization_id = @org AND b.source_id = s.source_id) AS booked, "+
		"(SELECT count(*) FROM sources o WHERE o.organization_id = @org AND o.item_id = s.item_id AND o.deleted_at IS NULL AND "+
		"o.source_id <> s.source_id) AS siblings "+
		"FROM sources s WHERE s.organization_id = @org AND s.source_id {any}", ids)
	out := make(map[string]usage, len(rows))
	for _, r := range rows {
		out[r.SourceID] = r
	}
	return out, err
}

type itemRow struct {
	ID         string     `db:"item_id"`
	Provider   string     `db:"provider"`
	ExternalID string     `db:"external_id"`
	RemovedAt  *time.Time `db:"removed_at"`
	CreatedAt  time.Time  `db:"created_at"`
}

var selectItems = "SELECT " + db.Columns[itemRow]() + " FROM aggregator_items WHERE organization_id = @org"

func insertItem(ctx context.Context, tx *db.Tx, i Item) error {
	return db.Insert(ctx, tx, "aggregator_items", itemRow(i))
}

func findItem(ctx context.Context, tx *db.Tx, itemID string) (Item, error) {
	r, err := db.One[itemRow](ctx, tx, "item", selectItems+" AND item_id = ?", itemID)
	return Item(r), err
}

// findActiveItem finds an item that is not removed.
func findActiveItem(ctx context.Context, tx *db.Tx, provider, externalID string) (Item, error) {
	r, err := db.One[itemRow](ctx, tx, "item", selectItems+" AND provider = ? AND external_id = ? AND removed_at IS NULL", provider,
		externalID)
	return Item(r), err
}

// findAccount reads the source of an account, which may be deleted.
func findAccount(ctx context.Context, tx *db.Tx, itemID, externalID string) (Source, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+
		" AND item_id = ? AND external_id = ? ORDER BY deleted_at IS NOT NULL, source_id DESC LIMIT 1", itemID, externalID)
	return r.source(), err
}

// OfItemsUnchecked returns the accounts of some items, in the order of their creation. It does not check what the actor may see. It is a
// building block.
func OfItemsUnchecked(ctx context.Context, tx *db.Tx, itemIDs ...string) ([]Source, error) {
	return query(ctx, tx, selectActive+" AND item_id {any} ORDER BY source_id", itemIDs)
}

func markRemoved(ctx context.Context, tx *db.Tx, itemID string) (int64, error) {
	return tx.Exec(ctx,
		"UPDATE aggregator_items SET removed_at = ? WHERE organization_id = @org AND item_id = ? AND removed_at IS NULL", tx.Now(), itemID)
}

// verifyRow is a stored source, deleted or not, with the related fields that must agree with it.
type verifyRow struct {
	row
	AccountType  *string `db:"account_type"`
	Archived     bool    `db:"archived"`
	ItemProvider *string `db:"item_provider"`
	Transactions bool    `db:"has_transactions"`
}

func (r verifyRow) source() Source { return r.row.source() }

func selectForVerify(ctx context.Context, tx *db.Tx) ([]verifyRow, error) {
	return db.All[verifyRow](ctx, tx, "SELECT "+db.Columns[row]()+", "+
		"(SELECT a.type FROM ledger_accounts a WHERE a.organization_id = @org AND a.ledger_account_id = sources.ledger_account_id) AS "+
		"account_type, "+
		"EXISTS (SELECT 1 FROM ledger_accounts p WHERE p.organization_id = @org AND p.ledger_account_id = sources.ledger_account_id "+
		"AND p.archived_at IS NOT NULL) AS archived, "+
		"(SELECT i.provider FROM aggregator_items i WHERE i.organization_id = @org AND i.item_id = sources.item_id) AS item_provider, "+
		"EXISTS (SELECT 1 FROM transactions t WHERE t.organization_id = @org AND t.visibility IN (0, 1) AND t.source_id = "+
		"sources.source_id) AS has_transactions "+
		"FROM sources WHERE organization_id = @org ORDER BY source_id")
}

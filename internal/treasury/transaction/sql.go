package transaction

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// row is a stored transaction.
type row struct {
	ID             string         `db:"transaction_id"`
	Number         int64          `db:"number"`
	Visibility     int64          `db:"visibility"`
	SourceID       string         `db:"source_id"`
	ExternalID     string         `db:"external_id"`
	At             time.Time      `db:"transaction_date"`
	Description    string         `db:"description"`
	Direction      string         `db:"direction"`
	Quantity       *money.Decimal `db:"quantity"`
	Currency       string         `db:"currency"`
	Gross          *money.Decimal `db:"value_gross"`
	Fee            *money.Decimal `db:"value_fee"`
	ValueCurrency  *string        `db:"value_currency"`
	Category       *string        `db:"provider_category"`
	Vendor         *string        `db:"vendor"`
	Memo           *string        `db:"memo"`
	Details        *string        `db:"details"`
	EventKey       *string        `db:"event_key"`
	GroupID        *string        `db:"group_id"`
	Type           string         `db:"transaction_type"`
	TypeBefore     *string        `db:"type_before_spam"`
	Status         string         `db:"status"`
	Spam           *string        `db:"spam"`
	Suggested      *string        `db:"suggested"`
	JournalEntryID *string        `db:"journal_entry_id"`
	TagIDs         string         `db:"tag_ids"`
	CreatedAt      time.Time      `db:"created_at"`
	UpdatedAt      time.Time      `db:"updated_at"`
}

// keyedRow adds the derived columns that transactions are found and sorted by, which are written but not read.
type keyedRow struct {
	row
	Asset       string  `db:"asset_type"`
	Chain       string  `db:"chain"`
	From        *string `db:"from_key"`
	To          *string `db:"to_key"`
	CategoryKey *string `db:"category_key"`
	GrossAmount string  `db:"gross_amount_key"`
	NetAmount   string  `db:"net_amount_key"`
	GrossPrice  string  `db:"gross_price_key"`
	Search      string  `db:"search"`
}

func toRow(t Transaction) keyedRow {
	k := t.keys()
	r := keyedRow{
		row: row{
			ID: t.ID, Number: t.Number, Visibility: t.visibility(), SourceID: t.Source.ID, ExternalID: t.ExternalID, At: t.At,
			Description: t.Description, Direction: string(t.Direction),
			Quantity: t.Quantity, Currency: t.Currency, Category: db.OrNull(t.Category), Vendor: db.OrNull(t.Vendor), Memo: db.OrNull(t.Memo),
			EventKey: db.OrNull(t.EventKey), GroupID: db.OrNull(t.GroupID), Type: string(t.Type), TypeBefore: db.OrNull(string(t.TypeBeforeSpam)),
			Status: string(t.Status), JournalEntryID: db.OrNull(t.JournalEntryID), TagIDs: strings.Join(t.TagIDs, " "),
			CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		},
		Asset: k.asset, Chain: k.chain, From: db.OrNull(k.from), To: db.OrNull(k.to), CategoryKey: db.OrNull(k.category),
		GrossAmount: k.grossAmount, NetAmount: k.netAmount, GrossPrice: k.grossPrice, Search: k.search,
	}
	if r.Details, r.Spam = t.details, t.spam; r.Details == nil && (t.Crypto != nil || t.Bank != nil || t.Card != nil) {
		r.Details = toJSON(details{t.Crypto, t.Bank, t.Card})
	}
	if r.Spam == nil && t.Spam != nil {
		r.Spam = toJSON(t.Spam)
	}
	if v := t.Value; v != nil {
		r.Gross, r.Fee, r.ValueCurrency = &v.Gross, &v.Fee, &v.Currency
	}
	return r
}

func (r row) transaction(s source.Source) (Transaction, error) {
	t := Transaction{
		ID: r.ID, Number: r.Number, Source: s, ExternalID: r.ExternalID, At: r.At, Description: r.Description, Direction: Direction(r.Direction),
		Quantity: r.Quantity, Currency: r.Currency, Category: db.OrEmpty(r.Category), Vendor: db.OrEmpty(r.Vendor), Memo: db.OrEmpty(r.Memo),
		EventKey: db.OrEmpty(r.EventKey), GroupID: db.OrEmpty(r.GroupID), Type: Type(r.Type), TypeBeforeSpam: Type(db.OrEmpty(r.TypeBefore)),
		Status: Status(r.Status), JournalEntryID: db.OrEmpty(r.JournalEntryID), TagIDs: strings.Fields(r.TagIDs),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, details: r.Details, spam: r.Spam,
	}
	if r.Gross != nil && r.Fee != nil && r.ValueCurrency != nil {
		t.Value = &Value{*r.Gross, *r.Fee, *r.ValueCurrency}
	}
	if r.Details != nil {
		var d details
		if err := json.Unmarshal([]byte(*r.Details), &d); err != nil {
			return t, fmt.Errorf("transaction: the stored details of %s: %w", r.ID, err)
		}
		t.Crypto, t.Bank, t.Card = d.Crypto, d.Bank, d.Card
	}
	if r.Spam != nil {
		if err := json.Unmarshal([]byte(*r.Spam), &t.Spam); err != nil {
			return t, fmt.Errorf("transaction: the stored spam verdict on %s: %w", r.ID, err)
		}
	}
	if r.Suggested != nil && t.Status == Pending && t.JournalEntryID == "" {
		if err := json.Unmarshal([]byte(*r.Suggested), &t.Suggested); err != nil {
			return t, fmt.Errorf("transaction: the stored suggestion for %s: %w", r.ID, err)
		}
	}
	return t, nil
}

// digest returns the digest of what is stored of a transaction without links.
func (r keyedRow) digest() string {
	d := audit.NewDigest("transaction")
	audit.AddRows(d, "transactions", r)
	return d.Sum()
}

// state returns what is stored of a transaction, for the audit log, or an empty text if that has to be read, because the
// transaction is linked.
func (t Transaction) state() string {
	if t.GroupID != "" {
		return ""
	}
	return toRow(t).digest()
}

type tagRow struct {
	TagID         string `db:"tag_id"`
	TransactionID string `db:"transaction_id"`
}

func tagsOf(all []Transaction) (out []tagRow) {
	for _, t := range all {
		for _, id := range t.TagIDs {
			out = append(out, tagRow{id, t.ID})
		}
	}
	return out
}

// insertAll stores transactions and returns the rows.
func insertAll(ctx context.Context, tx *db.Tx, all []Transaction) ([]keyedRow, error) {
	rows := make([]keyedRow, len(all))
	for i, t := range all {
		rows[i] = toRow(t)
	}
	if err := db.Insert(ctx, tx, "transactions", rows...); err != nil {
		return nil, err
	}
	return rows, db.Insert(ctx, tx, "transaction_tags", tagsOf(all)...)
}

// countKey identifies one count that is kept: transactions of a source and status, in total or with one value of one
// column.
type countKey struct {
	Facet    string `db:"facet"`
	Value    string `db:"value"`
	SourceID string `db:"source_id"`
	Status   string `db:"status"`
}

type countedRow struct {
	countKey
	Count int64 `db:"count"`
}

// addCounts writes changes of the counts, always in the same order, and deletes counts that become
// zero.
func addCounts(ctx context.Context, tx *db.Tx, c counts) error {
	rows, fewer := make([]countedRow, 0, len(c)), false
	for k, n := range c {
		if n != 0 {
			rows = append(rows, countedRow{k, n})
			fewer = fewer || n < 0
		}
	}
	slices.SortFunc(rows, func(a, b countedRow) int {
		return cmp.Or(cmp.Compare(a.Facet, b.Facet), cmp.Compare(a.Value, b.Value), cmp.Compare(a.SourceID, b.SourceID),
			cmp.Compare(a.Status, b.Status))
	})
	err := db.Upsert(ctx, tx, "transaction_counts", rows,
		"ON CONFLICT (organization_id, facet, value, source_id, status) DO UPDATE SET count = transaction_counts.count + excluded.count")
	if err != nil || !fewer {
		return err
	}
	return tx.Queue(ctx, "DELETE FROM transaction_counts WHERE organization_id = @org AND count = 0")
}

// selectByExternalID returns the ids of transactions of a source by the source's own ids.
func selectByExternalID(ctx context.Context, tx *db.Tx, sourceID string, externalIDs []string) (map[string]string, error) {
	type pair struct {
		ExternalID string  `db:"external_id"`
		ID         *string `db:"transaction_id"`
	}
	// One lookup in the index by external id for each of them. On a table that was not analyzed yet, PostgreSQL takes any index that begins
	// with the source for as good and reads all of its transactions; only this one has the order that is asked for.
	rows, err := db.All[pair](ctx, tx, `SELECT w.value AS external_id, (SELECT CASE WHEN t.external_id = w.value THEN t.transaction_id END
		FROM transactions t WHERE t.organization_id = @org AND t.source_id = ? AND t.external_id <= w.value
		ORDER BY t.external_id DESC LIMIT 1) AS transaction_id FROM {texts}`, sourceID, externalIDs)
	out := map[string]string{}
	for _, r := range rows {
		if r.ID != nil {
			out[r.ExternalID] = *r.ID
		}
	}
	return out, err
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM transactions WHERE organization_id = @org"

// read converts rows to transactions with their sources.
func read(ctx context.Context, tx *db.Tx, rows []row, cache *sourceCache) ([]Transaction, error) {
	var ids []string
	for _, r := range rows {
		if !slices.Contains(ids, r.SourceID) {
			ids = append(ids, r.SourceID)
		}
	}
	sources, err := cache.find(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Transaction, len(rows))
	for i, r := range rows {
		if out[i], err = r.transaction(sources[r.SourceID]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// withoutDeleted removes deleted rows. This is not a condition of the query, because without statistics a database may
// choose to scan all rows that are not deleted.
func withoutDeleted(rows []row) []row {
	return slices.DeleteFunc(rows, func(r row) bool { return r.Visibility >= deleted })
}

// selectSome returns transactions by id, in the order of their numbers. They are sorted here, because a database might otherwise read the
// index of numbers instead of looking up the ids.
func selectSome(ctx context.Context, tx *db.Tx, ids []string) ([]Transaction, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND transaction_id {any}", ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.Number, b.Number) })
	return read(ctx, tx, withoutDeleted(rows), nil)
}

// selectNumbered reads transactions by the index of numbers.
func selectNumbered(ctx context.Context, tx *db.Tx, first, last int64, limit int) ([]Transaction, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND number >= ? AND number <= ? AND {unindexed}visibility < ? ORDER BY number LIMIT ?",
		first, last, deleted, limit)
	if err != nil {
		return nil, err
	}
	return read(ctx, tx, rows, nil)
}

// selectOne asks for a single id: with a list of ids and without statistics, a database may choose to scan the whole
// organization.
func selectOne(ctx context.Context, tx *db.Tx, transactionID string) (Transaction, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND transaction_id = ?", transactionID)
	if err != nil {
		return Transaction{}, err
	}
	found, err := read(ctx, tx, withoutDeleted(rows), nil)
	if err == nil && len(found) == 0 {
		err = fault.Missing(noun)
	}
	if err != nil {
		return Transaction{}, err
	}
	return found[0], nil
}

// selectCategories returns all category keys in use.
func selectCategories(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT DISTINCT value FROM transaction_counts WHERE organization_id = @org AND facet = 'category_key'")
}

// selectCount adds up the counts of some values of a column, or of all transactions if column is empty.
func selectCount(ctx context.Context, tx *db.Tx, column string, values []string, rest []condition) (int64, error) {
	var s statement
	s.add("SELECT CAST(COALESCE(sum(c.count), 0) AS {integer}) FROM transaction_counts c WHERE c.organization_id = @org AND "+
		"c.facet = ?", column)
	if column != "" {
		s.add(" AND c.value {any}", values)
	}
	s.and("c", true, rest...)
	return db.One[int64](ctx, tx, "count", s.String(), s.args...)
}

func update(ctx context.Context, tx *db.Tx, t Transaction) error {
	r := toRow(t)
	return tx.Queue(ctx, `UPDATE transactions SET visibility = ?, memo = ?, vendor = ?, search = ?, group_id = ?, transaction_type = ?,
		type_before_spam = ?, status = ?,
		journal_entry_id = ?, tag_ids = ?, updated_at = ? WHERE organization_id = @org AND transaction_id = ?`,
		r.Visibility, r.Memo, r.Vendor, r.Search, r.GroupID, r.Type, r.TypeBefore, r.Status, r.JournalEntryID, r.TagIDs, r.UpdatedAt, t.ID)
}

func replaceTags(ctx context.Context, tx *db.Tx, before, after Transaction) error {
	if len(before.TagIDs) > 0 {
		if err := tx.Queue(ctx, "DELETE FROM transaction_tags WHERE organization_id = @org AND transaction_id = ? AND tag_id {any}",
			before.ID, before.TagIDs); err != nil {
			return err
		}
	}
	return db.Insert(ctx, tx, "transaction_tags", tagsOf([]Transaction{after})...)
}

// KnownUnchecked returns which of some external ids any of some sources has. It does not check what the actor may see. It is a building
// block.
func KnownUnchecked(ctx context.Context, tx *db.Tx, sourceIDs, externalIDs []string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, sourceID := range sourceIDs {
		found, err := selectByExternalID(ctx, tx, sourceID, externalIDs)
		if err != nil {
			return nil, err
		}
		for externalID := range found {
			out[externalID] = true
		}
	}
	return out, nil
}

// OfExternalIDsUnchecked returns the transactions of some sources with some external ids. It does not check what the actor may see. It is a
// building block.
func OfExternalIDsUnchecked(ctx context.Context, tx *db.Tx, sourceIDs, externalIDs []string) ([]Transaction, error) {
	var ids []string
	for _, sourceID := range sourceIDs {
		found, err := selectByExternalID(ctx, tx, sourceID, externalIDs)
		if err != nil {
			return nil, err
		}
		for _, externalID := range externalIDs {
			if id := found[externalID]; id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return FindSomeUnchecked(ctx, tx, ids)
}

// markWithdrawn marks one transaction as deleted, and frees its external id.
func markWithdrawn(ctx context.Context, tx *db.Tx, before, after Transaction) error {
	if err := replaceTags(ctx, tx, before, after); err != nil {
		return err
	}
	return tx.Queue(ctx, "UPDATE transactions SET visibility = ?, external_id = ?, tag_ids = ?, updated_at = ? "+
		"WHERE organization_id = @org AND transaction_id = ?", deleted, after.ExternalID, toRow(after).TagIDs, after.UpdatedAt, after.ID)
}

type originalRow struct {
	TransactionID string `db:"transaction_id"`
	Content       string `db:"content"`
}

// insertOriginals stores what providers have sent about new transactions.
func insertOriginals(ctx context.Context, tx *db.Tx, rows []originalRow) error {
	if len(rows) == 0 {
		return nil
	}
	return db.Insert(ctx, tx, "transaction_originals", rows...)
}

// selectOriginal reads what a provider has sent about a transaction; it is empty if the transaction did not come from one.
func selectOriginal(ctx context.Context, tx *db.Tx, transactionID string) (string, error) {
	found, err := db.All[string](ctx, tx, "SELECT content FROM transaction_originals WHERE organization_id = @org AND transaction_id = ?",
		transactionID)
	return strings.Join(found, ""), err
}

func markDeleted(ctx context.Context, tx *db.Tx, sourceID string) error {
	if err := tx.Queue(ctx,
		"UPDATE transactions SET visibility = ?, updated_at = ? WHERE organization_id = @org AND source_id = ? AND visibility < ?", deleted,
		tx.Now(), sourceID, deleted); err != nil {
		return err
	}
	if err := tx.Queue(ctx, `DELETE FROM transaction_tags WHERE organization_id = @org AND transaction_id IN
		(SELECT t.transaction_id FROM transactions t WHERE t.organization_id = @org AND t.source_id = ?)`, sourceID); err != nil {
		return err
	}
	if err := tx.Queue(ctx, "DELETE FROM transaction_quantities WHERE organization_id = @org AND source_id = ?", sourceID); err != nil {
		return err
	}
	return tx.Queue(ctx, "DELETE FROM transaction_counts WHERE organization_id = @org AND source_id = ?", sourceID)
}

// selectTexts returns the search texts of the latest transactions, as a sample.
func selectTexts(ctx context.Context, tx *db.Tx, limit int) ([]string, error) {
	return db.All[string](ctx, tx,
		"SELECT search FROM transactions WHERE organization_id = @org AND visibility = ? ORDER BY transaction_date DESC, number DESC LIMIT ?",
		listed, limit)
}

// selectFrom reads transactions by number with their derived columns, deleted ones too.
func selectFrom(ctx context.Context, tx *db.Tx, number int64, limit int) ([]keyedRow, error) {
	return db.All[keyedRow](ctx, tx,
		"SELECT "+allColumns+" FROM transactions WHERE organization_id = @org AND number >= ? ORDER BY number LIMIT ?", number, limit)
}

// countByTag returns the number of transaction_tags rows of each tag.
func countByTag(ctx context.Context, tx *db.Tx) (map[string]int64, error) {
	rows, err := db.All[struct {
		TagID string `db:"tag_id"`
		Count int64  `db:"count"`
	}](ctx, tx, "SELECT tag_id, count(*) AS count FROM transaction_tags WHERE organization_id = @org GROUP BY tag_id")
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.TagID] = r.Count
	}
	return out, err
}

// countStrayTags counts transaction_tags rows whose transaction does not exist or does not have the tag.
func countStrayTags(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count",
		`SELECT count(*) FROM transaction_tags m WHERE m.organization_id = @org AND NOT EXISTS (SELECT 1 FROM transactions t
		WHERE t.organization_id = m.organization_id AND t.transaction_id = m.transaction_id AND t.visibility < ? AND ' ' || t.tag_ids || ' '
		LIKE '% ' || m.tag_id || ' %')`, deleted)
}

func selectCounts(ctx context.Context, tx *db.Tx) ([]countedRow, error) {
	return db.All[countedRow](ctx, tx, "SELECT "+db.Columns[countedRow]()+" FROM transaction_counts WHERE organization_id = @org")
}

// countUnsearchable counts transactions without a row in SQLite's full-text index. PostgreSQL's index is part of the
// table.
func countUnsearchable(ctx context.Context, tx *db.Tx) (int64, error) {
	if tx.DB().Engine() != db.SQLite {
		return 0, nil
	}
	return db.One[int64](ctx, tx, "count",
		"SELECT count(*) FROM transactions t WHERE t.organization_id = @org AND NOT EXISTS (SELECT 1 FROM transaction_texts_docsize d "+
			"WHERE d.id = t.row_key)")
}

// updateSuggestion stores the suggestion for a transaction as JSON.
func updateSuggestion(ctx context.Context, tx *db.Tx, transactionID string, body *string) error {
	return tx.Queue(ctx, "UPDATE transactions SET suggested = ? WHERE organization_id = @org AND transaction_id = ?", body, transactionID)
}

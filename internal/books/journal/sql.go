package journal

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/book"
)

type entryRow struct {
	ID             string     `db:"journal_entry_id"`
	Number         int64      `db:"number"`
	Status         string     `db:"status"`
	OriginatedBy   string     `db:"originated_by"`
	LegalEntityID  string     `db:"legal_entity_id"`
	AutoEntity     bool       `db:"legal_entity_auto_assigned"`
	AccountingDate time.Time  `db:"accounting_date"`
	IntendedDate   *time.Time `db:"intended_accounting_date"`
	Reassigned     bool       `db:"period_auto_reassigned"`
	PeriodID       *string    `db:"accounting_period_id"`
	PostedAt       *time.Time `db:"posted_at"`
	Memo           *string    `db:"memo"`
	Classification string     `db:"classification"`
	TransactionID  *string    `db:"transaction_id"`
	TransactionNo  *int64     `db:"transaction_number"`
	TagIDs         string     `db:"tag_ids"`
	PreviousID     *string    `db:"previous_entry_id"`
	NextID         *string    `db:"next_entry_id"`
	Search         string     `db:"search"`
	CreatedAt      time.Time  `db:"created_at"`
	UpdatedAt      time.Time  `db:"updated_at"`
}

func toRow(e Entry) entryRow {
	return entryRow{
		ID: e.ID, Number: e.Number, Status: string(e.Status), OriginatedBy: e.OriginatedBy,
		LegalEntityID: e.LegalEntityID, AutoEntity: e.AutoEntity,
		AccountingDate: e.AccountingDate, IntendedDate: e.IntendedDate, Reassigned: e.Reassigned(),
		PeriodID: db.OrNull(e.PeriodID), PostedAt: e.PostedAt, Memo: db.OrNull(e.Memo), Classification: e.Classification,
		TransactionID: db.OrNull(e.TransactionID), TransactionNo: numberOrNull(e.TransactionNo),
		TagIDs: strings.Join(e.TagIDs, " "), PreviousID: db.OrNull(e.PreviousID), NextID: db.OrNull(e.NextID),
		Search: e.search(), CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
	}
}

func numberOrNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func (r entryRow) entry() Entry {
	e := Entry{
		ID: r.ID, Number: r.Number, Status: Status(r.Status), OriginatedBy: r.OriginatedBy,
		LegalEntityID: r.LegalEntityID, AutoEntity: r.AutoEntity,
		AccountingDate: r.AccountingDate, IntendedDate: r.IntendedDate, PeriodID: db.OrEmpty(r.PeriodID),
		PostedAt: r.PostedAt, Memo: db.OrEmpty(r.Memo), Classification: r.Classification,
		TransactionID: db.OrEmpty(r.TransactionID), TagIDs: strings.Fields(r.TagIDs),
		PreviousID: db.OrEmpty(r.PreviousID), NextID: db.OrEmpty(r.NextID), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.TransactionNo != nil {
		e.TransactionNo = *r.TransactionNo
	}
	return e
}

type lineRow struct {
	EntryID         string         `db:"journal_entry_id"`
	Position        int64          `db:"position"`
	ID              string         `db:"journal_line_id"`
	LedgerAccountID string         `db:"ledger_account_id"`
	LegalEntityID   string         `db:"legal_entity_id"`
	Side            string         `db:"credit_or_debit"`
	Amount          money.Decimal  `db:"amount"`
	Currency        string         `db:"currency"`
	Base            *money.Decimal `db:"base_amount"`
	Memo            *string        `db:"memo"`
	TagIDs          string         `db:"tag_ids"`
	AccountingDate  time.Time      `db:"accounting_date"`
	Number          int64          `db:"number"`
	Posted          bool           `db:"is_posted"`
	Unit            *string        `db:"unit"`
	Quantity        *money.Decimal `db:"quantity"`
	Rates           *string        `db:"rates"`
}

func (r lineRow) line() Line {
	return Line{ID: r.ID, LedgerAccountID: r.LedgerAccountID, LegalEntityID: r.LegalEntityID, Side: book.Side(r.Side),
		Amount: r.Amount, Currency: r.Currency, Base: r.Base, BaseCurrency: "", Memo: db.OrEmpty(r.Memo),
		TagIDs: strings.Fields(r.TagIDs), Unit: db.OrEmpty(r.Unit), Quantity: r.Quantity, Rates: fx.Kept(db.OrEmpty(r.Rates))}
}

func (e Entry) lineRows() []lineRow {
	rows := make([]lineRow, len(e.Lines))
	for i, l := range e.Lines {
		rows[i] = lineRow{
			EntryID: e.ID, Position: int64(i), ID: l.ID, LedgerAccountID: l.LedgerAccountID, LegalEntityID: l.LegalEntityID,
			Side: string(l.Side), Amount: l.Amount, Currency: l.Currency, Base: l.Base, Memo: db.OrNull(l.Memo),
			TagIDs: strings.Join(l.TagIDs, " "), AccountingDate: e.AccountingDate, Number: e.Number,
			Posted: e.Status == Posted, Unit: db.OrNull(l.Unit), Quantity: l.Quantity, Rates: db.OrNull(string(l.Rates)),
		}
	}
	return rows
}

// state returns what is stored of an entry, for the audit log. It is computed from memory, because posting must not read.
func (e Entry) state() string {
	d := audit.NewDigest("journal_entry")
	audit.AddRows(d, "journal_entries", toRow(e))
	audit.AddRows(d, "journal_lines", e.lineRows()...)
	return d.Sum()
}

type tagRow struct {
	TagID          string    `db:"tag_id"`
	EntryID        string    `db:"journal_entry_id"`
	AccountingDate time.Time `db:"accounting_date"`
	Number         int64     `db:"number"`
}

// shareRow is a legal entity, other than that of the entry, that an entry has lines of.
type shareRow struct {
	EntryID        string    `db:"journal_entry_id"`
	LegalEntityID  string    `db:"legal_entity_id"`
	AccountingDate time.Time `db:"accounting_date"`
	Number         int64     `db:"number"`
}

func insertEntries(ctx context.Context, tx *db.Tx, entries []Entry) error {
	rows := make([]entryRow, len(entries))
	for i, e := range entries {
		rows[i] = toRow(e)
	}
	if err := db.Insert(ctx, tx, "journal_entries", rows...); err != nil {
		return err
	}
	return insertLines(ctx, tx, entries)
}

// insertLines writes the lines of entries and the rows by which entries are found by tag and by the legal entities of their lines.
func insertLines(ctx context.Context, tx *db.Tx, entries []Entry) error {
	var lines []lineRow
	var tags []tagRow
	var shares []shareRow
	for _, e := range entries {
		lines = append(lines, e.lineRows()...)
		for _, tag := range e.tags() {
			tags = append(tags, tagRow{tag, e.ID, e.AccountingDate, e.Number})
		}
		for _, entity := range e.entities()[1:] {
			shares = append(shares, shareRow{e.ID, entity, e.AccountingDate, e.Number})
		}
	}
	if err := db.Insert(ctx, tx, "journal_lines", lines...); err != nil {
		return err
	}
	if err := db.Insert(ctx, tx, "journal_shares", shares...); err != nil {
		return err
	}
	return db.Insert(ctx, tx, "journal_tags", tags...)
}

func selectEntry(ctx context.Context, tx *db.Tx, entryID string) (Entry, error) {
	r, err := db.One[entryRow](ctx, tx, noun, "SELECT "+db.Columns[entryRow]()+
		" FROM journal_entries WHERE organization_id = @org AND journal_entry_id = ?", entryID)
	if err != nil {
		return Entry{}, err
	}
	if Status(r.Status) == deleted {
		return Entry{}, fault.Missing(noun)
	}
	entries := []Entry{r.entry()}
	err = fillLines(ctx, tx, entries)
	return entries[0], err
}

func selectEntries(ctx context.Context, tx *db.Tx, ids []string) ([]Entry, error) {
	rows, err := db.All[entryRow](ctx, tx, "SELECT "+db.Columns[entryRow]()+
		" FROM journal_entries WHERE organization_id = @org AND journal_entry_id {any}", ids)
	if err != nil {
		return nil, err
	}
	out := make([]Entry, len(rows))
	for i, r := range rows {
		out[i] = r.entry()
	}
	return out, fillLines(ctx, tx, out)
}

func selectWithTrueUps(ctx context.Context, tx *db.Tx, transactionIDs []string) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT DISTINCT transaction_id FROM journal_entries WHERE organization_id = @org AND transaction_id {any}
		AND originated_by = 'true_up' AND status = 'posted' AND next_entry_id IS NULL`, transactionIDs)
}

func selectTrueUps(ctx context.Context, tx *db.Tx, transactionID string) ([]Entry, error) {
	rows, err := db.All[entryRow](ctx, tx, "SELECT "+db.Columns[entryRow]()+
		` FROM journal_entries WHERE organization_id = @org AND transaction_id = ? AND originated_by = 'true_up'
		AND status = 'posted' AND next_entry_id IS NULL ORDER BY number`, transactionID)
	out := make([]Entry, len(rows))
	for i, r := range rows {
		out[i] = r.entry()
	}
	if err != nil {
		return nil, err
	}
	return out, fillLines(ctx, tx, out)
}

// fillLines reads the lines of entries in one query.
func fillLines(ctx context.Context, tx *db.Tx, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	ids, at := make([]string, len(entries)), make(map[string]int, len(entries))
	for i, e := range entries {
		ids[i], at[e.ID] = e.ID, i
	}
	rows, err := db.All[lineRow](ctx, tx, "SELECT "+db.Columns[lineRow]()+
		" FROM journal_lines WHERE organization_id = @org AND journal_entry_id {any} ORDER BY journal_entry_id, position", ids)
	for _, r := range rows {
		e := &entries[at[r.EntryID]]
		e.Lines = append(e.Lines, r.line())
	}
	return err
}

// updateDraft writes an edited draft and replaces its lines.
func updateDraft(ctx context.Context, tx *db.Tx, was, e Entry) error {
	r := toRow(e)
	err := tx.Queue(ctx, `UPDATE journal_entries SET legal_entity_id = ?, legal_entity_auto_assigned = ?, accounting_date = ?,
		accounting_period_id = ?, memo = ?, tag_ids = ?, search = ?, updated_at = ?
		WHERE organization_id = @org AND journal_entry_id = ?`, r.LegalEntityID, r.AutoEntity, r.AccountingDate, r.PeriodID, r.Memo,
		r.TagIDs, r.Search, r.UpdatedAt, e.ID)
	if err != nil {
		return err
	}
	if err := deleteLines(ctx, tx, was); err != nil {
		return err
	}
	return insertLines(ctx, tx, []Entry{e})
}

// deleteLines deletes the lines of an entry and its rows in journal_shares and in journal_tags, whose key begins with the tag.
func deleteLines(ctx context.Context, tx *db.Tx, was Entry) error {
	for _, table := range []string{"journal_lines", "journal_shares"} {
		if err := tx.Queue(ctx, "DELETE FROM "+table+" WHERE organization_id = @org AND journal_entry_id = ?", was.ID); err != nil {
			return err
		}
	}
	return tx.Queue(ctx, "DELETE FROM journal_tags WHERE organization_id = @org AND tag_id {any} AND journal_entry_id = ?", was.tags(), was.ID)
}

// markDeleted marks a draft as deleted and deletes its lines, so that nothing they referred to is in use by them.
func markDeleted(ctx context.Context, tx *db.Tx, was, e Entry) error {
	if err := deleteLines(ctx, tx, was); err != nil {
		return err
	}
	return tx.Queue(ctx, "UPDATE journal_entries SET status = ?, updated_at = ? WHERE organization_id = @org AND journal_entry_id = ?",
		string(e.Status), e.UpdatedAt, e.ID)
}

// updatePosting writes an entry that was posted or unposted: its state and date, and on its lines the booked amounts and the
// columns that repeat those of the entry.
func updatePosting(ctx context.Context, tx *db.Tx, e Entry) error {
	r := toRow(e)
	err := tx.Queue(ctx, `UPDATE journal_entries SET status = ?, accounting_date = ?, intended_accounting_date = ?,
		period_auto_reassigned = ?, accounting_period_id = ?, posted_at = ?, updated_at = ?
		WHERE organization_id = @org AND journal_entry_id = ?`, r.Status, r.AccountingDate, r.IntendedDate, r.Reassigned, r.PeriodID,
		r.PostedAt, r.UpdatedAt, e.ID)
	if err != nil {
		return err
	}
	for i, l := range e.Lines {
		err := tx.Queue(ctx, "UPDATE journal_lines SET base_amount = ?, rates = ?, accounting_date = ?, is_posted = ? "+
			"WHERE organization_id = @org AND journal_entry_id = ? AND position = ?",
			l.Base, db.OrNull(string(l.Rates)), e.AccountingDate, e.Status == Posted, e.ID, int64(i))
		if err != nil {
			return err
		}
	}
	if len(e.entities()) > 1 {
		err := tx.Queue(ctx, "UPDATE journal_shares SET accounting_date = ? WHERE organization_id = @org AND journal_entry_id = ?",
			e.AccountingDate, e.ID)
		if err != nil {
			return err
		}
	}
	return tx.Queue(ctx,
		"UPDATE journal_tags SET accounting_date = ? WHERE organization_id = @org AND tag_id {any} AND journal_entry_id = ?",
		e.AccountingDate, e.tags(), e.ID)
}

func updateNext(ctx context.Context, tx *db.Tx, e Entry) error {
	return tx.Queue(ctx,
		"UPDATE journal_entries SET next_entry_id = ?, updated_at = ? WHERE organization_id = @org AND journal_entry_id = ?",
		db.OrNull(e.NextID), e.UpdatedAt, e.ID)
}

type accountLineRow struct {
	lineRow
	EntryMemo *string `db:"entry_memo"`
}

func selectLines(ctx context.Context, tx *db.Tx, f LineFilter, below *cursorKey, position int64, limit int) ([]AccountLine, error) {
	q := db.Select("SELECT l."+strings.ReplaceAll(db.Columns[lineRow](), ", ", ", l.")+`, e.memo AS entry_memo FROM journal_lines l
		JOIN journal_entries e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id WHERE
		l.organization_id = @org`).
		And("l.ledger_account_id = ?", f.LedgerAccountID).And("l.is_posted = ?", true)
	for _, ids := range [][]string{f.LegalEntityIDs, f.limited} {
		if len(ids) > 0 {
			q.And("l.legal_entity_id {any}", ids)
		}
	}
	f.Span.addConditions(q, "l")
	if below != nil {
		q.And("(l.accounting_date, l.number, l.position) < (?, ?, ?)", below.date, below.number, position)
	}
	rows, err := db.All[accountLineRow](ctx, tx, q.Then("ORDER BY l.accounting_date DESC, l.number DESC, l.position DESC LIMIT ?",
		limit), q.Args...)
	out := make([]AccountLine, len(rows))
	for i, r := range rows {
		out[i] = AccountLine{Line: r.line(), EntryID: r.EntryID, Number: r.Number, Position: r.Position, AccountingDate: r.AccountingDate,
			EntryMemo: db.OrEmpty(r.EntryMemo)}
	}
	if err != nil {
		return nil, err
	}
	return out, BlankHidden(ctx, tx, out, func(l AccountLine) string { return l.EntryID }, func(l *AccountLine) { l.EntryMemo = "" })
}

// storedEntry is an entry for verification, with its stored search text and whether the columns that its lines repeat agree
// with it.
type storedEntry struct {
	Entry      Entry
	linesAgree bool
	search     string
}

// selectFromNumber reads entries in the order of their numbers, deleted ones included.
func selectFromNumber(ctx context.Context, tx *db.Tx, number int64, limit int) ([]storedEntry, error) {
	rows, err := db.All[entryRow](ctx, tx, "SELECT "+db.Columns[entryRow]()+
		" FROM journal_entries WHERE organization_id = @org AND number >= ? ORDER BY number LIMIT ?", number, limit)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	out, ids, at := make([]storedEntry, len(rows)), make([]string, len(rows)), map[string]int{}
	for i, r := range rows {
		out[i], ids[i], at[r.ID] = storedEntry{Entry: r.entry(), linesAgree: true, search: r.Search}, r.ID, i
	}
	lines, err := db.All[lineRow](ctx, tx, "SELECT "+db.Columns[lineRow]()+
		" FROM journal_lines WHERE organization_id = @org AND journal_entry_id {any} ORDER BY journal_entry_id, position", ids)
	for _, l := range lines {
		c := &out[at[l.EntryID]]
		c.linesAgree = c.linesAgree && l.Number == c.Entry.Number && l.AccountingDate.Equal(c.Entry.AccountingDate) &&
			l.Posted == (c.Entry.Status == Posted) && l.Position == int64(len(c.Entry.Lines))
		c.Entry.Lines = append(c.Entry.Lines, l.line())
	}
	return out, err
}

// countByTag counts the rows of journal_tags by tag.
func countByTag(ctx context.Context, tx *db.Tx) (map[string]int64, error) {
	rows, err := db.All[struct {
		TagID string `db:"tag_id"`
		Count int64  `db:"count"`
	}](ctx, tx, "SELECT tag_id, count(*) AS count FROM journal_tags WHERE organization_id = @org GROUP BY tag_id")
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.TagID] = r.Count
	}
	return out, err
}

// selectWrongShares returns the numbers of entries whose rows in journal_shares do not have the legal entities of their lines.
func selectWrongShares(ctx context.Context, tx *db.Tx) ([]int64, error) {
	return db.All[int64](ctx, tx, `SELECT l.number FROM journal_lines l
		JOIN journal_entries e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id
		WHERE l.organization_id = @org AND l.legal_entity_id <> e.legal_entity_id AND NOT EXISTS (SELECT 1 FROM journal_shares s
			WHERE s.organization_id = l.organization_id AND s.journal_entry_id = l.journal_entry_id AND s.legal_entity_id = l.legal_entity_id)
		UNION SELECT s.number FROM journal_shares s
		WHERE s.organization_id = @org AND NOT EXISTS (SELECT 1 FROM journal_lines l
			JOIN journal_entries e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id
			WHERE l.organization_id = s.organization_id AND l.journal_entry_id = s.journal_entry_id AND l.legal_entity_id = s.legal_entity_id
			AND e.legal_entity_id <> s.legal_entity_id)
		ORDER BY 1`)
}

// countOrphans counts the rows of a table that belong to no entry or differ from its date or number.
func countOrphans(ctx context.Context, tx *db.Tx, table string) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM "+table+
		` r LEFT JOIN journal_entries e ON e.organization_id = r.organization_id AND e.journal_entry_id = r.journal_entry_id
		WHERE r.organization_id = @org AND (e.journal_entry_id IS NULL OR e.number <> r.number OR e.accounting_date <> r.accounting_date)`)
}

// selectBrokenChains returns the numbers of entries whose neighbour in a chain does not refer back to them or has the wrong
// origin: after an original comes its reversal, after that its replacement.
func selectBrokenChains(ctx context.Context, tx *db.Tx) ([]int64, error) {
	return db.All[int64](ctx, tx, `SELECT e.number FROM journal_entries e
		LEFT JOIN journal_entries n ON n.organization_id = e.organization_id AND n.journal_entry_id = e.next_entry_id
		LEFT JOIN journal_entries p ON p.organization_id = e.organization_id AND p.journal_entry_id = e.previous_entry_id
		WHERE e.organization_id = @org AND (
			e.next_entry_id IS NOT NULL AND (n.previous_entry_id IS NULL OR n.previous_entry_id <> e.journal_entry_id OR n.status <>
			'posted' OR e.status <> 'posted')
			OR e.previous_entry_id IS NOT NULL AND (p.next_entry_id IS NULL OR p.next_entry_id <> e.journal_entry_id)
			OR e.originated_by = 'reversal' AND (e.previous_entry_id IS NULL OR p.originated_by = 'reversal')
			OR e.originated_by = 'correction' AND (e.previous_entry_id IS NULL OR p.originated_by <> 'reversal'))
		ORDER BY e.number`)
}

type linkRow struct {
	ID           string  `db:"journal_entry_id"`
	Number       int64   `db:"number"`
	Status       string  `db:"status"`
	OriginatedBy string  `db:"originated_by"`
	NextID       *string `db:"next_entry_id"`
}

func selectLinks(ctx context.Context, tx *db.Tx, ids []string) ([]Link, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.All[linkRow](ctx, tx, "SELECT "+db.Columns[linkRow]()+
		" FROM journal_entries WHERE organization_id = @org AND journal_entry_id {any}", ids)
	out := make([]Link, len(rows))
	for i, r := range rows {
		out[i] = Link{ID: r.ID, Number: r.Number, Status: Status(r.Status), OriginatedBy: r.OriginatedBy, NextID: db.OrEmpty(r.NextID)}
	}
	return out, err
}

// FirstPostedAt returns the date of the earliest posted entry of a legal entity, or nil if there is none. Opening balances do not
// count. It is a building block.
func FirstPostedAt(ctx context.Context, tx *db.Tx, legalEntityID string) (*time.Time, error) {
	type row struct {
		At time.Time `db:"accounting_date"`
	}
	rows, err := db.All[row](ctx, tx,
		"SELECT accounting_date FROM journal_entries WHERE organization_id = @org AND legal_entity_id = ? AND status = 'posted' "+
			"AND accounting_date > ? ORDER BY accounting_date, number LIMIT 1", legalEntityID, period.OpeningDate)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0].At, nil
}

package explain

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// useFilter is what was taken, and from where; what is empty does not narrow it.
type useFilter struct {
	id, lotID, entryID  string
	entities            []string
	sourceID, assetType string
	periodID            string
	from, until         time.Time
	realized            bool // only what realizes a gain or a loss
}

type useRow struct {
	ID              string        `db:"use_id"`
	Kind            string        `db:"kind"`
	LotID           string        `db:"asset_id"`
	AssetType       string        `db:"asset_type"`
	LegalEntityID   string        `db:"legal_entity_id"`
	JournalEntryID  string        `db:"journal_entry_id"`
	TransactionID   *string       `db:"transaction_id"`
	TransactionType string        `db:"transaction_type"`
	Date            time.Time     `db:"accounting_date"`
	DisposedAt      time.Time     `db:"disposed_at"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
	Proceeds        money.Decimal `db:"proceeds"`
	Fee             money.Decimal `db:"fee"`
	Gain            money.Decimal `db:"gain"`
	Currency        string        `db:"currency"`
	Term            string        `db:"term"`
	Method          string        `db:"method"`
	Correction      bool          `db:"is_correction"`
}

func (r useRow) use() Use {
	return Use{
		ID: r.ID, Kind: r.Kind, LotID: r.LotID, AssetType: r.AssetType, LegalEntityID: r.LegalEntityID, JournalEntryID: r.JournalEntryID,
		TransactionID:   db.OrEmpty(r.TransactionID),
		TransactionType: r.TransactionType, Date: r.Date, DisposedAt: r.DisposedAt, Quantity: r.Quantity, Basis: r.Basis,
		Proceeds: r.Proceeds, Fee: r.Fee, Gain: r.Gain,
		Currency: r.Currency, Term: r.Term, Method: r.Method, Correction: r.Correction,
	}
}

// narrow adds the conditions. Only the first of what names a few rows is looked up, the rest is looked at.
func (f useFilter) narrow(q *db.Query) *db.Query {
	by := func(column, value string) {
		if value != "" {
			q.And(column+" = ?", value)
		}
	}
	by("use_id", f.id)
	by("asset_id", f.lotID)
	by("journal_entry_id", f.entryID)
	by("{unindexed}source_id", f.sourceID)
	by("{unindexed}asset_type", f.assetType)
	by("{unindexed}accounting_period_id", f.periodID)
	if len(f.entities) > 0 {
		q.And("{unindexed}legal_entity_id {any}", f.entities)
	}
	if !f.from.IsZero() {
		q.And("accounting_date >= ?", f.from)
	}
	if !f.until.IsZero() {
		q.And("accounting_date < ?", f.until)
	}
	if f.realized {
		q.And("kind IN ('dispose', 'fee')")
	}
	return q
}

// selectUses reads what was taken by accounting date, after a row where one is named.
func selectUses(ctx context.Context, tx *db.Tx, f useFilter, after *usePlace, limit int) ([]Use, error) {
	if after != nil {
		f.from = time.Time{}
	}
	q := f.narrow(db.Select("SELECT " + db.Columns[useRow]() + " FROM lot_uses WHERE organization_id = @org"))
	if after != nil {
		q.And("(accounting_date, use_id) > (?, ?)", after.date, after.id)
	}
	rows, err := db.All[useRow](ctx, tx, q.Then("ORDER BY accounting_date, use_id LIMIT ?", int64(limit)), q.Args...)
	out := make([]Use, len(rows))
	for i, r := range rows {
		out[i] = r.use()
	}
	return out, err
}

// usePlace is where a row stands by accounting date.
type usePlace struct {
	date time.Time
	id   string
}

// sums is what rows come to, by the column that shows it.
type sums map[string]money.Decimal

type sumRow struct {
	Quantity *money.Decimal `db:"quantity"`
	Proceeds *money.Decimal `db:"proceeds"`
	Fee      *money.Decimal `db:"fee"`
	Basis    *money.Decimal `db:"basis"`
	Gain     *money.Decimal `db:"gain"`
	Currency *string        `db:"currency"`
}

// sumUses adds up what was taken. There is no currency when nothing was.
func sumUses(ctx context.Context, tx *db.Tx, f useFilter) (sums, string, error) {
	q := f.narrow(db.Select(`SELECT {dec_sum}(quantity) AS quantity, {dec_sum}(proceeds) AS proceeds, {dec_sum}(fee) AS fee,
		{dec_sum}(basis) AS basis, {dec_sum}(gain) AS gain,
		CASE WHEN min(currency) = max(currency) THEN min(currency) ELSE NULL END AS currency FROM lot_uses WHERE organization_id = @org`))
	r, err := db.One[sumRow](ctx, tx, "disposition", q.Then(""), q.Args...)
	out := sums{}
	for column, sum := range map[string]*money.Decimal{"quantity": r.Quantity, "proceeds": r.Proceeds, "fee": r.Fee,
		"cost_basis": r.Basis, "gain_loss": r.Gain} {
		if sum != nil {
			out[column] = *sum
		}
	}
	return out, db.OrEmpty(r.Currency), err
}

type addedRow struct {
	Quantity *money.Decimal `db:"quantity"`
	Basis    *money.Decimal `db:"basis"`
}

// selectAdded gives what was acquired in a period in one place.
func selectAdded(ctx context.Context, tx *db.Tx, place []string, periodID string) (quantity, basis money.Decimal, err error) {
	r, err := db.One[addedRow](ctx, tx, "position",
		`SELECT {dec_sum}(added_quantity) AS quantity, {dec_sum}(added_basis) AS basis FROM lot_positions WHERE organization_id = @org
		AND legal_entity_id = ? AND source_id = ? AND ledger_account_id = ? AND asset_type = ? AND chain = ? AND token_id = ? AND
		accounting_period_id = ?`,
		place[0], place[1], place[2], place[3], place[4], place[5], periodID)
	if r.Quantity != nil {
		quantity = *r.Quantity
	}
	if r.Basis != nil {
		basis = *r.Basis
	}
	return quantity, basis, err
}

package invoice

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// selectSome reads invoices in the order of their ids, in which all that lock several do so.
func selectSome(ctx context.Context, tx *db.Tx, ids []string, lock string) ([]Invoice, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND invoice_id {any} ORDER BY invoice_id "+lock, ids)
	if err != nil {
		return nil, err
	}
	return invoicesOf(ctx, tx, rows)
}

// matchRow is what deposits are matched with.
type matchRow struct {
	ID            string        `db:"invoice_id"`
	Number        string        `db:"invoice_number"`
	CustomerID    string        `db:"customer_id"`
	LegalEntityID *string       `db:"legal_entity_id"`
	Status        string        `db:"status"`
	Currency      string        `db:"currency"`
	Date          time.Time     `db:"invoice_date"`
	DueDate       time.Time     `db:"due_date"`
	Total         money.Decimal `db:"total"`
	AmountDue     money.Decimal `db:"amount_due"`
}

// selectEachMatchRow reads the rows of each of a list of texts, whose column w.value is: SQLite would not look up a list by an index that
// begins with the organization. The conditions end with {end_each}.
var selectEachMatchRow = "SELECT " + db.Columns[matchRow]() + " FROM {texts} CROSS JOIN {each} invoices WHERE organization_id = @org AND "

// selectPairedMatchRow is the same for pairs of texts, whose columns are w.value and w.other.
var selectPairedMatchRow = "SELECT " + db.Columns[matchRow]() + " FROM {pairs} CROSS JOIN {each} invoices WHERE organization_id = @org AND "

var selectMatchRows = "SELECT " + db.Columns[matchRow]() + " FROM invoices WHERE organization_id = @org"

func matchingOf(rows []matchRow, err error) ([]match.Invoice, error) {
	out := make([]match.Invoice, len(rows))
	for n, r := range rows {
		out[n] = match.Invoice{ID: r.ID, Number: r.Number, CustomerID: r.CustomerID, LegalEntityID: db.OrEmpty(r.LegalEntityID),
			Status: match.Status(r.Status), Currency: r.Currency, Total: r.Total, AmountDue: r.AmountDue, IssueDate: r.Date, DueDate: r.DueDate}
	}
	return out, err
}

// selectPoolSize counts by an index that has all columns of the conditions.
func selectPoolSize(ctx context.Context, tx *db.Tx, p Pool, ofNone bool) (int, error) {
	size, pools := 0, len(p.LegalEntityIDs)
	if ofNone {
		pools++
	}
	for n := range pools {
		q := db.Select("SELECT count(*) FROM invoices WHERE organization_id = @org AND status = 'open'").And("currency = ?", p.Currency).
			And("invoice_date <= ?", p.Until)
		if n == len(p.LegalEntityIDs) {
			q.And("legal_entity_id IS NULL")
		} else {
			q.And("legal_entity_id = ?", p.LegalEntityIDs[n])
		}
		found, err := db.One[int64](ctx, tx, "number", q.Then(""), q.Args...)
		if err != nil {
			return 0, err
		}
		size += int(found)
	}
	return size, nil
}

// selectOpenOf sorts the invoices only if the limit is reached.
func selectOpenOf(ctx context.Context, tx *db.Tx, customers []string, currency string, limit int) (out []match.Invoice, err error) {
	if len(customers) == 0 {
		return nil, nil
	}
	for _, order := range []string{"", "ORDER BY due_date, invoice_date, invoice_number, invoice_id "} {
		out, err = matchingOf(db.All[matchRow](ctx, tx, selectEachMatchRow+"{rare}(customer_id = w.value) AND status = 'open' "+
			"AND currency = ? {end_each} "+order+"LIMIT ?", customers, currency, limit))
		if err != nil || len(out) < limit {
			break
		}
	}
	return out, err
}

func selectPaidWith(ctx context.Context, tx *db.Tx, totals []CustomerTotal, currency string, limit int) ([]match.Invoice, error) {
	if len(totals) == 0 {
		return nil, nil
	}
	pairs := make([]string, len(totals))
	for n, t := range totals {
		pairs[n] = t.CustomerID + " " + amountKey(t.Total)
	}
	return matchingOf(db.All[matchRow](ctx, tx, selectPairedMatchRow+"{rare}(customer_id = w.value) AND status = 'paid' AND currency = ? "+
		"AND total_key = w.other {end_each} ORDER BY due_date, invoice_id LIMIT ?", pairs, currency, limit))
}

// selectWithAmountDue compares the keys of amounts: see amountKey. One range is read in the order of the index, up to the limit; several
// have to be sorted.
func selectWithAmountDue(ctx context.Context, tx *db.Tx, p Pool, ranges []Range, limit int) ([]match.Invoice, error) {
	// Not COALESCE(legal_entity_id, ''): PostgreSQL has no statistics about that and would expect hardly any invoices.
	const rest = " AND currency = ? AND status = ? AND (legal_entity_id IS NULL OR legal_entity_id {any}) AND invoice_date <= ? "
	switch len(ranges) {
	case 0:
		return nil, nil
	case 1:
		return matchingOf(db.All[matchRow](ctx, tx, selectMatchRows+" AND amount_due_key >= ? AND amount_due_key <= ?"+rest+
			"ORDER BY amount_due_key, invoice_id LIMIT ?", amountKey(ranges[0].Low), amountKey(ranges[0].High), p.Currency, string(Open),
			p.LegalEntityIDs, p.Until, limit))
	}
	pairs := make([]string, len(ranges))
	for n, r := range ranges {
		pairs[n] = amountKey(r.Low) + " " + amountKey(r.High)
	}
	return matchingOf(db.All[matchRow](ctx, tx, selectPairedMatchRow+"{rare}(amount_due_key >= w.value) AND amount_due_key <= w.other"+
		rest+"{end_each} ORDER BY amount_due_key, invoice_id LIMIT ?", pairs, p.Currency, string(Open), p.LegalEntityIDs, p.Until, limit))
}

func selectLookedUp(ctx context.Context, tx *db.Tx, l match.Lookup, limit int) (out []match.Invoice, more bool, err error) {
	for _, by := range []struct {
		condition string
		texts     []string
	}{{"{rare}(number_key = w.value)", l.Keys}, {"{rare}(number_digits = w.value) AND number_digits <> ''", l.Tails}} {
		if len(by.texts) == 0 {
			continue
		}
		found, err := matchingOf(db.All[matchRow](ctx, tx, selectEachMatchRow+by.condition+" {end_each} ORDER BY due_date, invoice_id "+
			"LIMIT ?", by.texts, limit))
		if err != nil {
			return nil, false, err
		}
		out, more = append(out, found...), more || len(found) == limit
	}
	for _, prefix := range l.Prefixes {
		found, err := matchingOf(db.All[matchRow](ctx, tx, selectMatchRows+" AND {rare}(number_prefix = ?) AND number_prefix <> '' "+
			"ORDER BY number_key, invoice_id LIMIT 1", prefix))
		if err != nil {
			return nil, false, err
		}
		out = append(out, found...)
	}
	return out, more, nil
}

// updateDue stores what is due on an invoice, and its status. SQLite would write all indexes anew if all columns were set.
func updateDue(ctx context.Context, tx *db.Tx, i Invoice) error {
	return tx.Queue(ctx, `UPDATE invoices SET status = ?, amount_due = ?, amount_due_key = ?, updated_at = ?
		WHERE organization_id = @org AND invoice_id = ?`, string(i.Status), i.AmountDue, amountKey(i.AmountDue), i.UpdatedAt, i.ID)
}

type numberRow struct {
	ID     string `db:"invoice_id"`
	Number string `db:"invoice_number"`
}

func selectNumbers(ctx context.Context, tx *db.Tx, ids []string) (map[string]string, error) {
	rows, err := db.All[numberRow](ctx, tx, "SELECT invoice_id, invoice_number FROM invoices WHERE organization_id = @org "+
		"AND invoice_id {any}", ids)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Number
	}
	return out, err
}

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
// begins with the organization.
var selectEachMatchRow = "SELECT " + db.Columns[matchRow]() + " FROM {texts} CROSS JOIN invoices WHERE organization_id = @org AND "

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
func selectPoolSize(ctx context.Context, tx *db.Tx, p Pool) (int, error) {
	size := 0
	for _, entity := range []*string{&p.LegalEntityID, nil} {
		q := db.Select("SELECT count(*) FROM invoices WHERE organization_id = @org").And("currency = ?", p.Currency).
			And("status = ?", string(Open)).And("invoice_date <= ?", p.Until)
		if entity == nil {
			q.And("legal_entity_id IS NULL")
		} else {
			q.And("legal_entity_id = ?", *entity)
		}
		n, err := db.One[int64](ctx, tx, "number", q.Then(""), q.Args...)
		if err != nil {
			return 0, err
		}
		size += int(n)
	}
	return size, nil
}

func selectOfCustomers(ctx context.Context, tx *db.Tx, customers []string, currency string, total money.Decimal, limit int) (
	[]match.Invoice, error) {
	if len(customers) == 0 {
		return nil, nil
	}
	open, err := matchingOf(db.All[matchRow](ctx, tx, selectEachMatchRow+"{rare}(customer_id = w.value) AND status = ? AND currency = ? "+
		"ORDER BY due_date, invoice_date, invoice_number, invoice_id LIMIT ?", customers, string(Open), currency, limit))
	if err != nil {
		return nil, err
	}
	paid, err := matchingOf(db.All[matchRow](ctx, tx, selectEachMatchRow+"{rare}(customer_id = w.value) AND status = ? AND currency = ? "+
		"AND total = ? LIMIT ?", customers, string(Paid), currency, total, sameMax))
	return append(open, paid...), err
}

// sameMax bounds how many invoices with the same number or total are read: so many identify none.
const sameMax = 100

func selectWithAmountDue(ctx context.Context, tx *db.Tx, p Pool, low, high money.Decimal, limit int) ([]match.Invoice, error) {
	return matchingOf(db.All[matchRow](ctx, tx, selectMatchRows+" AND currency = ? AND status = ? AND amount_due >= ? AND amount_due <= ? "+
		"AND (legal_entity_id = ? OR legal_entity_id IS NULL) AND invoice_date <= ? ORDER BY amount_due, invoice_id LIMIT ?",
		p.Currency, string(Open), low, high, p.LegalEntityID, p.Until, limit))
}

func selectLookedUp(ctx context.Context, tx *db.Tx, l match.Lookup) (out []match.Invoice, err error) {
	read := func(condition string, args ...any) {
		if err == nil {
			var found []match.Invoice
			found, err = matchingOf(db.All[matchRow](ctx, tx, selectEachMatchRow+condition+" LIMIT ?", append(args, sameMax)...))
			out = append(out, found...)
		}
	}
	if len(l.Keys) > 0 {
		read("{rare}(number_key = w.value)", l.Keys)
	}
	if len(l.Tails) > 0 {
		read("{rare}(number_digits = w.value) AND number_digits <> ''", l.Tails)
	}
	for _, s := range l.Series {
		if err == nil {
			var found []match.Invoice
			found, err = matchingOf(db.All[matchRow](ctx, tx, selectMatchRows+" AND number_key >= ? AND number_key <= ? AND "+
				"length(number_key) = ? LIMIT 1", s.First, s.Last, len([]rune(s.First))))
			out = append(out, found...)
		}
	}
	return out, err
}

package application

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/match"
)

const (
	table           = "cash_applications"
	allocationTable = "cash_application_allocations"
	settingsTable   = "cash_application_settings"
)

type row struct {
	ID              string        `db:"cash_application_id"`
	LegalEntityID   string        `db:"legal_entity_id"`
	DepositID       string        `db:"deposit_transaction_id"`
	SourceID        *string       `db:"source_application_id"`
	Status          string        `db:"status"`
	MatchType       string        `db:"match_type"`
	Currency        string        `db:"currency"`
	Total           money.Decimal `db:"total_amount"`
	Applied         money.Decimal `db:"applied_amount"`
	WrittenOff      money.Decimal `db:"written_off_amount"`
	Unapplied       money.Decimal `db:"unapplied_amount"`
	Available       money.Decimal `db:"available_amount"`
	Returned        money.Decimal `db:"returned_amount"`
	DepositMemo     *string       `db:"deposit_memo"`
	DepositAt       time.Time     `db:"txn_date"`
	PayerName       *string       `db:"payer_name"`
	PayerAddress    *string       `db:"payer_address"`
	Memo            *string       `db:"memo"`
	ReviewReason    *string       `db:"review_reason"`
	AppliedBy       *string       `db:"applied_by"`
	EntryID         *string       `db:"journal_entry_id"`
	ProcessorStatus string        `db:"stripe_status"`
	MarkedPaidAt    *time.Time    `db:"stripe_marked_paid_at"`
	ConfirmedBy     *string       `db:"confirmed_by"`
	ConfirmedAt     *time.Time    `db:"confirmed_at"`
	VoidReason      *string       `db:"void_reason"`
	ErrorMessage    *string       `db:"error_message"`
	Revision        int64         `db:"revision"`
	CreatedAt       time.Time     `db:"created_at"`
	UpdatedAt       *time.Time    `db:"updated_at"`
}

type allocationRow struct {
	ApplicationID string        `db:"cash_application_id"`
	Position      int64         `db:"position"`
	InvoiceID     string        `db:"invoice_id"`
	CustomerID    string        `db:"customer_id"`
	Amount        money.Decimal `db:"amount"`
	ReportedAt    *time.Time    `db:"reported_at"`
	Credits       *string       `db:"credits"`

	AttemptedAt *time.Time     `db:"attempted_at"`
	Attempted   *money.Decimal `db:"attempted_amount"`
	Reference   *string        `db:"report_reference"`
}

// attempted returns the amount that the processor may know of, nil if there is none.
func (l Allocation) attempted() *money.Decimal {
	if l.AttemptedAt == nil {
		return nil
	}
	return &l.Attempted
}

func (r allocationRow) allocation() (l Allocation, err error) {
	l = Allocation{InvoiceID: r.InvoiceID, CustomerID: r.CustomerID, Amount: r.Amount, AttemptedAt: r.AttemptedAt,
		Reference: db.OrEmpty(r.Reference), ReportedAt: r.ReportedAt}
	if r.Attempted != nil {
		l.Attempted = *r.Attempted
	}
	l.Credits, err = parseCredits(db.OrEmpty(r.Credits))
	return l, err
}

func toRow(a Application) row {
	return row{ID: a.ID, LegalEntityID: a.LegalEntityID, DepositID: a.DepositID, SourceID: db.OrNull(a.SourceID), Status: string(a.Status),
		MatchType: a.MatchType, Currency: a.Currency, Total: a.Total, Applied: a.Applied, WrittenOff: a.WrittenOff, Unapplied: a.Unapplied,
		Available: a.Available, Returned: a.Returned, DepositMemo: db.OrNull(a.DepositMemo), DepositAt: a.DepositAt,
		PayerName: db.OrNull(a.payerName), PayerAddress: db.OrNull(a.payerAddress), Memo: db.OrNull(a.Memo),
		ReviewReason: db.OrNull(a.ReviewReason), AppliedBy: db.OrNull(a.AppliedBy), EntryID: db.OrNull(a.EntryID),
		ProcessorStatus: a.ProcessorStatus, MarkedPaidAt: a.MarkedPaidAt, ConfirmedBy: db.OrNull(a.ConfirmedBy), ConfirmedAt: a.ConfirmedAt,
		VoidReason: db.OrNull(a.VoidReason), ErrorMessage: db.OrNull(a.ErrorMessage), Revision: a.revision, CreatedAt: a.CreatedAt,
		UpdatedAt: a.UpdatedAt}
}

func (r row) application() Application {
	return Application{ID: r.ID, LegalEntityID: r.LegalEntityID, DepositID: r.DepositID, SourceID: db.OrEmpty(r.SourceID),
		Status: Status(r.Status), MatchType: r.MatchType, Currency: r.Currency, Total: r.Total, Applied: r.Applied, WrittenOff: r.WrittenOff,
		Unapplied: r.Unapplied, Available: r.Available, Returned: r.Returned, DepositMemo: db.OrEmpty(r.DepositMemo), DepositAt: r.DepositAt,
		payerName: db.OrEmpty(r.PayerName), payerAddress: db.OrEmpty(r.PayerAddress), Memo: db.OrEmpty(r.Memo),
		ReviewReason: db.OrEmpty(r.ReviewReason), AppliedBy: db.OrEmpty(r.AppliedBy), EntryID: db.OrEmpty(r.EntryID),
		ProcessorStatus: r.ProcessorStatus, MarkedPaidAt: r.MarkedPaidAt, ConfirmedBy: db.OrEmpty(r.ConfirmedBy), ConfirmedAt: r.ConfirmedAt,
		VoidReason: db.OrEmpty(r.VoidReason), ErrorMessage: db.OrEmpty(r.ErrorMessage), revision: r.Revision, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, Allocations: []Allocation{}}
}

func toAllocations(a Application) []allocationRow {
	out := make([]allocationRow, len(a.Allocations))
	for n, l := range a.Allocations {
		out[n] = allocationRow{ApplicationID: a.ID, Position: int64(n), InvoiceID: l.InvoiceID, CustomerID: l.CustomerID, Amount: l.Amount,
			ReportedAt: l.ReportedAt, AttemptedAt: l.AttemptedAt, Attempted: l.attempted(), Reference: db.OrNull(l.Reference),
			Credits: db.OrNull(creditsText(l.Credits))}
	}
	return out
}

// state returns what is stored of an application, for the audit log.
func (a Application) state() string {
	d := audit.NewDigest(resourceType)
	audit.AddRows(d, table, toRow(a))
	audit.AddRows(d, allocationTable, toAllocations(a)...)
	return d.Sum()
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM cash_applications WHERE organization_id = @org"

// applicationsOf returns applications with their allocations, and the entries that their deposits have now: a correction of lots may have
// replaced the one that was posted first.
func applicationsOf(ctx context.Context, tx *db.Tx, rows []row) ([]Application, error) {
	out, ids, at := make([]Application, len(rows)), make([]string, len(rows)), map[string]int{}
	for n, r := range rows {
		out[n], ids[n], at[r.ID] = r.application(), r.ID, n
	}
	if len(rows) == 0 {
		return out, nil
	}
	lines, err := db.All[allocationRow](ctx, tx, "SELECT "+db.Columns[allocationRow]()+" FROM cash_application_allocations "+
		"WHERE organization_id = @org AND cash_application_id {any} ORDER BY cash_application_id, position", ids)
	if err != nil {
		return nil, err
	}
	paid, payers := make([]string, len(lines)), make([]string, len(lines))
	for n, l := range lines {
		paid[n], payers[n] = l.InvoiceID, l.CustomerID
	}
	numbers, err := invoice.NumbersUnchecked(ctx, tx, paid)
	if err != nil {
		return nil, err
	}
	names, err := customer.NamesUnchecked(ctx, tx, payers)
	if err != nil {
		return nil, err
	}
	for _, r := range lines {
		l, err := r.allocation()
		if err != nil {
			return nil, err
		}
		l.InvoiceNumber, l.CustomerName = numbers[l.InvoiceID], names[l.CustomerID]
		a := &out[at[r.ApplicationID]]
		a.Allocations = append(a.Allocations, l)
	}
	deposits, err := depositsOf(ctx, tx, out)
	for n, a := range out {
		if a.Status.booked() && a.booksTransaction() && deposits[a.DepositID].JournalEntryID != "" {
			out[n].EntryID = deposits[a.DepositID].JournalEntryID
		}
	}
	return out, err
}

func selectOne(ctx context.Context, tx *db.Tx, applicationID, lock string) (Application, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND cash_application_id = ? "+lock, applicationID)
	if err != nil {
		return Application{}, err
	}
	found, err := applicationsOf(ctx, tx, []row{r})
	if err != nil {
		return Application{}, err
	}
	return found[0], nil
}

// selectOfDeposits reads the applications that book some deposits, by deposit. It needs no lock: whoever changes an application has locked
// the state of the organization.
func selectOfDeposits(ctx context.Context, tx *db.Tx, transactionIDs []string) (map[string]*Application, error) {
	rows, err := db.All[row](ctx, tx, "SELECT "+db.Columns[row]()+" FROM {texts} CROSS JOIN cash_applications WHERE organization_id = @org "+
		"AND {rare}(deposit_transaction_id = w.value) AND status <> 'voided' AND source_application_id IS NULL", transactionIDs)
	out := make(map[string]*Application, len(rows))
	for _, r := range rows {
		a := r.application()
		out[a.DepositID] = &a
	}
	return out, err
}

// selectByEntry reads the id of the application that an entry books, empty if there is none.
func selectByEntry(ctx context.Context, tx *db.Tx, e journal.Entry) (string, error) {
	found, err := db.All[string](ctx, tx, "SELECT cash_application_id FROM cash_applications WHERE organization_id = @org AND "+
		"{rare}(journal_entry_id = ?)", e.ID)
	if err == nil && len(found) == 0 && e.TransactionID != "" {
		found, err = db.All[string](ctx, tx, "SELECT cash_application_id FROM cash_applications WHERE organization_id = @org AND "+
			"{rare}(deposit_transaction_id = ?) AND status <> 'voided' AND (source_application_id IS NULL OR total_amount < ?)", e.TransactionID,
			money.Decimal{})
	}
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// selectPage reads a page of applications, the latest first.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, entities []string, below string, limit int) ([]Application, error) {
	q := db.Select(selectRows).And("cash_application_id < ?", below)
	switch len(f.Statuses) {
	case 0:
	case 1:
		q.And("status = ?", string(f.Statuses[0]))
	default:
		texts := make([]string, len(f.Statuses))
		for n, s := range f.Statuses {
			texts[n] = string(s)
		}
		q.And("status {any}", texts)
	}
	if f.DepositID != "" {
		q.And("{rare}(deposit_transaction_id = ?)", f.DepositID)
	}
	const paying = "cash_application_id IN (SELECT l.cash_application_id FROM cash_application_allocations l " +
		"WHERE l.organization_id = @org AND l."
	if f.InvoiceID != "" {
		q.And(paying+"invoice_id = ?)", f.InvoiceID)
	}
	if f.CustomerID != "" {
		q.And(paying+"customer_id = ?)", f.CustomerID)
	}
	if entities != nil {
		q.And("legal_entity_id {any}", entities)
	}
	if f.Available {
		q.And("available_amount <> '0'")
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY cash_application_id DESC LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	return applicationsOf(ctx, tx, rows)
}

type reservationRow struct {
	InvoiceID     string `db:"invoice_id"`
	ApplicationID string `db:"cash_application_id"`
}

// selectReservations reads which applications that wait for a review use which invoices.
func selectReservations(ctx context.Context, tx *db.Tx) (map[string]string, error) {
	rows, err := db.All[reservationRow](ctx, tx, "SELECT l.invoice_id, l.cash_application_id FROM cash_applications a "+
		"JOIN cash_application_allocations l ON l.organization_id = @org AND l.cash_application_id = a.cash_application_id "+
		"WHERE a.organization_id = @org AND {rare}(a.status = 'pending')")
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.InvoiceID] = r.ApplicationID
	}
	return out, err
}

// selectReturns reads the payments that went back of an application.
func selectReturns(ctx context.Context, tx *db.Tx, applicationID string) ([]Application, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND {rare}(source_application_id = ?) AND status <> 'voided' AND total_amount < ?",
		applicationID, money.Decimal{})
	if err != nil {
		return nil, err
	}
	return applicationsOf(ctx, tx, rows)
}

func insert(ctx context.Context, tx *db.Tx, a Application) error {
	if err := db.Insert(ctx, tx, table, toRow(a)); err != nil {
		return err
	}
	return db.Insert(ctx, tx, allocationTable, toAllocations(a)...)
}

// update stores what can change about an application.
func update(ctx context.Context, tx *db.Tx, a Application) error {
	r := toRow(a)
	_, err := tx.Exec(ctx, `UPDATE cash_applications SET status = ?, total_amount = ?, written_off_amount = ?, unapplied_amount = ?,
		available_amount = ?, returned_amount = ?, journal_entry_id = ?, stripe_status = ?, stripe_marked_paid_at = ?, confirmed_by = ?,
		confirmed_at = ?, void_reason = ?, error_message = ?, revision = ?, updated_at = ?
		WHERE organization_id = @org AND cash_application_id = ?`,
		r.Status, r.Total, r.WrittenOff, r.Unapplied, r.Available, r.Returned, r.EntryID, r.ProcessorStatus, r.MarkedPaidAt, r.ConfirmedBy,
		r.ConfirmedAt, r.VoidReason, r.ErrorMessage, r.Revision, r.UpdatedAt, r.ID)
	return err
}

// updateCredits stores what the allocations of an application credit that was booked after its review.
func updateCredits(ctx context.Context, tx *db.Tx, a Application) error {
	for _, l := range toAllocations(a) {
		if _, err := tx.Exec(ctx, "UPDATE cash_application_allocations SET credits = ? WHERE organization_id = @org AND "+
			"cash_application_id = ? AND position = ?", l.Credits, a.ID, l.Position); err != nil {
			return err
		}
	}
	return nil
}

type limitRow struct {
	WriteOffLimit money.Decimal `db:"write_off_limit"`
	UpdatedAt     time.Time     `db:"updated_at"`
}

// selectLimit reads how much is written off at most.
func selectLimit(ctx context.Context, tx *db.Tx) (money.Decimal, error) {
	rows, err := db.All[money.Decimal](ctx, tx, "SELECT write_off_limit FROM cash_application_settings WHERE organization_id = @org")
	if err != nil || len(rows) == 0 {
		return money.Decimal{}, err
	}
	return rows[0], nil
}

func upsertLimit(ctx context.Context, tx *db.Tx, limit money.Decimal) error {
	return db.Upsert(ctx, tx, settingsTable, []limitRow{{limit, tx.Now()}},
		"ON CONFLICT (organization_id) DO UPDATE SET write_off_limit = excluded.write_off_limit, updated_at = excluded.updated_at")
}

type earlierRow struct {
	CustomerID string `db:"customer_id"`
	Status     string `db:"status"`
}

// earlierMax is from how many of the latest allocations a payer is learned.
const earlierMax = 100

// selectKnownPayers reads which names or addresses of payers have confirmed or voided applications.
func selectKnownPayers(ctx context.Context, tx *db.Tx, column string, values []string) ([]string, error) {
	if len(values) == 0 {
		return nil, nil
	}
	return db.All[string](ctx, tx, "SELECT w.value FROM {texts} WHERE EXISTS (SELECT 1 FROM cash_applications a "+
		"WHERE a.organization_id = @org AND {rare}(a."+column+" = w.value) AND a.status IN ('confirmed', 'voided'))", values)
}

// selectEarlier reads to whose invoices the latest deposits of a payer were applied.
func selectEarlier(ctx context.Context, tx *db.Tx, name, address string) (out []match.Earlier, err error) {
	for _, by := range []struct{ column, value string }{{"payer_name", name}, {"payer_address", address}} {
		if by.value == "" {
			continue
		}
		rows, err := db.All[earlierRow](ctx, tx, "SELECT l.customer_id, a.status FROM cash_applications a "+
			"JOIN cash_application_allocations l ON l.organization_id = @org AND l.cash_application_id = a.cash_application_id "+
			"WHERE a.organization_id = @org AND {rare}(a."+by.column+" = ?) AND a.status IN ('confirmed', 'voided') "+
			"ORDER BY a.cash_application_id DESC, l.position LIMIT ?", by.value, earlierMax)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			e := match.Earlier{CustomerID: r.CustomerID}
			if by.column == "payer_name" {
				e.PayerName = by.value
			} else {
				e.PayerAddress = by.value
			}
			if r.Status == string(Voided) {
				e.Voided = 1
			} else {
				e.Confirmed = 1
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// DepositsUnchecked returns the deposits of applications by their ids, without checking that the actor may see them. It runs in the
// caller's transaction.
func DepositsUnchecked(ctx context.Context, tx *db.Tx, ids []string) (map[string]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.All[row](ctx, tx, selectRows+" AND cash_application_id {any}", ids)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.DepositID
	}
	return out, err
}

// forEach calls do for all applications in the order of ids, reading them in chunks.
func forEach(ctx context.Context, tx *db.Tx, do func([]Application) error) error {
	const chunk = 1000
	for last := ""; ; {
		rows, err := db.All[row](ctx, tx, selectRows+" AND cash_application_id > ? ORDER BY cash_application_id LIMIT ?", last, chunk)
		if err != nil || len(rows) == 0 {
			return err
		}
		found, err := applicationsOf(ctx, tx, rows)
		if err != nil {
			return err
		}
		if err := do(found); err != nil || len(rows) < chunk {
			return err
		}
		last = rows[chunk-1].ID
	}
}
